"""Doors to models: each file knows one kind of model and gives the two answers of ``score_triples.Scorer``."""
