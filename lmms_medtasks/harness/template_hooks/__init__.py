"""Hooks of tasks on a template: prompt and pictures, scoring, and how they get to know what a task's YAML says."""
