"""What a task's YAML may contain: defined once, and read without executing anything."""
