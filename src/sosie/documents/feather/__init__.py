"""Arrow's own files, which pandas calls Feather and datasets saves: record batches in a file or a stream."""
