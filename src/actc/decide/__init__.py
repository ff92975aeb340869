"""Thresholds applied to any number of candidates."""
