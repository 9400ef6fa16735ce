"""TABLES: rows found by a part of their bits or by a key."""
