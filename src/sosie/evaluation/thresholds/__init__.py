"""WHICH THRESHOLD? How near the nearest are, where a valley is among them, and how much goes at each threshold."""
