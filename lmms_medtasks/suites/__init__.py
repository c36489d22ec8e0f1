"""What a benchmark declares: measures, estimates and the metrics of its tasks; how a task's benchmark is found."""
