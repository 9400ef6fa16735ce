"""HOW GOOD ARE SIGNATURES AND KEYS? Every measure of the papers, on a sample with its exact cosines."""
