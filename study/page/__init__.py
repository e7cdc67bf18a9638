"""The pages reports/index.html (the paper) and reports/beyond.html: what they say, and how.

Sentences with figures in them are written once, in sentences.jinja, and tables once, as `Grid`; the
pages and the documents in docs/ (study/document) show both.
"""
