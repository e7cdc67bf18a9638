"""The study: what this reproduction says with the library."""
