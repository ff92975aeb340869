"""Models that score triples: trained here, or read from other libraries."""
