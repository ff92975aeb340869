"""Decisions: thresholds, constraints, judges, guarantees, estimates and reports."""
