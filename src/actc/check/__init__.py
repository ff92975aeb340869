"""Wrong facts of a graph: found, ranked, asked about, taken out, put back."""
