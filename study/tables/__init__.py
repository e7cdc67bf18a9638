"""The tables, as HTML, LaTeX and Markdown."""
