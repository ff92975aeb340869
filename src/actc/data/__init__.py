"""Triples, answers, tables and files: what everything else works with."""
