"""WHAT DO THE MACHINE AND THE DOCUMENTS SAY? Measured and counted here, so that the planner has numbers."""
