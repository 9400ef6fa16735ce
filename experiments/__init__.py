"""Experiments of the papers, done again: ours beside theirs."""
