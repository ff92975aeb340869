"""The paper's method: select triples, estimate labels, choose thresholds; its classifiers and its baselines."""
