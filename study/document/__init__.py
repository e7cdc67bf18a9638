"""docs/results.md and docs/results-beyond.md: the tables and counted sentences, as Markdown.

The sentences and grids are those of the pages (study/page), so that nobody pastes a figure.
"""
