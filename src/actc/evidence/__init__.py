"""What the graph shows of a candidate, and what that is worth."""
