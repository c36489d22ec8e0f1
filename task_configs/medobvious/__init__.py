"""MedObvious: its tasks, hooks, metrics and published results."""
