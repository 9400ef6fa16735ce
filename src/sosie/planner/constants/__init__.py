"""WHAT DOES ONE STEP COST? Nanoseconds and bytes of single steps, by subject; `sosie.planner.machine` has them all."""
