"""What aligning words takes beside starting a process for it."""

from __future__ import annotations

LITTLE = 2_000_000  # links, a second's worth: less is aligned before another process has started
