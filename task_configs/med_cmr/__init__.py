"""Med-CMR: its tasks, hooks, metrics and published results."""
