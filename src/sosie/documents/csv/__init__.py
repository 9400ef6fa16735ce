"""CSV and TSV: a header, then one record after another; quotes may hold line ends."""
