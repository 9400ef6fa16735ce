"""JSON lines: one object per line, with members that may differ from line to line."""
