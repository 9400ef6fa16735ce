"""What Parquet, Arrow files and tables in memory have in common: rows in Arrow batches, checked, chosen and widened."""
