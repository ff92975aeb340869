"""Decide which predicted facts may enter a knowledge graph, with the least human work."""

__version__ = "0.1.0"
