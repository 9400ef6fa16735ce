"""JSON: one object per line or an array of objects, with members that may differ from one to the other."""
