"""SIGNATURES ON DISK: batches as sorted runs, each read once from end to end while a new batch is matched."""
