"""Contributing a task: making its folder, checking it, trying it. Nothing here is needed to run one."""
