"""The paper's three steps, its baselines, and ``pooled``: from scores and answers to a fit."""
