"""From a graph to a better graph: facts that are missing, facts that are wrong."""
