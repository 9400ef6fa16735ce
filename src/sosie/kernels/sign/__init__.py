"""FEATURES TO BITS: one signature method per file."""
