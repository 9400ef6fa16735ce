"""WHAT DOES IT COST? One method per file: its settings worth trying, and what each finds, takes and holds."""
