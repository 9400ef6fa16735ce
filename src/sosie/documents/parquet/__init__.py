"""Parquet, and Arrow tables in memory: columns with a schema."""
