"""BIT PLANES: signatures turned on their side, compared 512 rows at a time."""
