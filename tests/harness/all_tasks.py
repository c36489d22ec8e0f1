"""Prints where the harness's task manager has each task from: the name and its file, ours and the harness's own."""

import json

import lmms_eval.models  # noqa: F401 (brings our tasks into the task manager)
from lmms_eval.tasks import TaskManager

if __name__ == "__main__":
    print(json.dumps({name: str(entry["yaml_path"]) for name, entry in TaskManager().task_index.items()}))
