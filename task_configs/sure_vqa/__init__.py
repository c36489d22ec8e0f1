"""SURE-VQA: its tasks, hooks, metrics and published results."""
