"""BYTES TO WORDS: UTF-8, folding, words, shingles and their hashes."""
