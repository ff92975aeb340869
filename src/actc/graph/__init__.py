"""Graphs in and out: files of every format, and SPARQL stores."""
