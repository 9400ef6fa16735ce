"""`python -m sosie`: the command line, where the script `sosie` is not on the path."""

from __future__ import annotations

from sosie.cli import main

if __name__ == "__main__":
    main()
