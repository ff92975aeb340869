"""Graphs that live in a store: read whole or not at all, written back in runs that can be withdrawn."""
