"""Sosie finds every lookalike in a text collection."""

__version__ = "0.1.0"
