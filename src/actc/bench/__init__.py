"""Experiments, the paper's tables, the packaged sample and the demo."""
