"""WHAT IS GIVEN FROM PYTHON: paths or texts, records, columns, frames and streams, told apart and made one table."""
