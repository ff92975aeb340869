"""Methods measured on cells of scored, labelled triples, as rows."""
