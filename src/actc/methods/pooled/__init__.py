"""Our own method: one model over all relations."""
