"""From a graph to a better graph."""
