"""Handing work out, and showing how far it is. Nothing here changes a result."""
