"""Models without weights, with which other models are compared."""
