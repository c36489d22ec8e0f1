"""What the YAML of a task may say: defined once, and read without running anything."""
