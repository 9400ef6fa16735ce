"""WHAT THE MACHINE DOES: how kernels are compiled, single instructions, wide loads and prefetches."""
