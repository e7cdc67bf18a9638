"""What is measured of each generalisation's models, and rules that are put on them."""
