"""Training: what is trained, from which random numbers, all at once, and what is left of it."""
