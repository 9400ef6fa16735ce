"""One file per command, thin: parse, call, render."""
