"""What the graph says of a candidate, and what that is worth."""
