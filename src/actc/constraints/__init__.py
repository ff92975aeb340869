"""What may not be true together: read from a graph or a file, learnt, and obeyed when candidates are decided."""
