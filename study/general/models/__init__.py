"""What each generalisation trains: rows, methods, and what the choice of strengths looks at."""
