"""How good decisions are, what may be promised of them, and how to check it."""
