"""A graph in whichever format, one format per file."""
