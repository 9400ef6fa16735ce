"""WHICH METHOD, WHICH PARAMETERS? Numbers in, numbers out: what a method costs and finds, before it runs."""
