"""Bones and Joints: its tasks, hooks, metrics and published results."""
