"""The exact prompt of every task for a frozen question, read through the real YAML."""

import json
import os
from pathlib import Path

import pytest
from lmms_eval.utils import load_yaml_config

from lmms_medtasks.harness.plugin import task_folder
from lmms_medtasks.suites import templates

SNAPSHOTS = Path(__file__).resolve().parents[1] / "snapshots" / "prompts.json"
DOCUMENT = {
    "id": "frozen",
    "question": "Which side of the image shows the nodule?",
    "options": ["left", "right", "both", "neither"],
    "answer": "B",
}
TASKS = sorted(
    path
    for path in task_folder().rglob("*.yaml")
    if {"task", "group"} & set(load_yaml_config(str(path), mode="simple"))
)


def prompts() -> dict[str, str]:
    found = {}
    for path in TASKS:
        config = load_yaml_config(str(path))
        if (
            "doc_to_text" in config and templates.template_of(config) is None
        ):  # contributed ones have their own snapshots
            settings = config["lmms_eval_specific_kwargs"]["default"]
            found[config["task"]] = config["doc_to_text"](DOCUMENT, settings)
    return found


def test_prompts_are_as_recorded():
    """After a wanted change: UPDATE_SNAPSHOTS=1 pytest, bump metadata.version, and say so in the CHANGELOG."""
    if os.environ.get("UPDATE_SNAPSHOTS"):
        SNAPSHOTS.write_text(json.dumps(prompts(), indent=1, ensure_ascii=False) + "\n", "utf-8")
    assert prompts() == json.loads(SNAPSHOTS.read_text("utf-8"))


@pytest.mark.parametrize("path", TASKS, ids=lambda path: path.stem)
def test_file_is_named_after_its_task(path):
    config = load_yaml_config(str(path), mode="simple")
    assert path.stem == (config["task"] if isinstance(config["task"], str) else config["group"])
    assert config["metadata"]["version"]
