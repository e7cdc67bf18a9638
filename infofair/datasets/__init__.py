"""The datasets, one file each: see infofair/data/dataset.py."""
