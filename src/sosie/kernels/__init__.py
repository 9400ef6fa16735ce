"""ARRAYS IN, ARRAYS OUT: one operation per file, each with an obviously right oracle in the tests."""
