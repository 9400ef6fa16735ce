"""Text and HTML files: one document per file, many small ones read as one input."""
