"""WHAT IF ONE MACHINE TAKES TOO LONG, AND THERE IS NO ENGINE? The stages of a de-duplication over files, in shards."""
