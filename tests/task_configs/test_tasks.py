"""Task YAMLs as the harness reads them."""

import pytest
from lmms_eval.utils import load_yaml_config

from lmms_medtasks import folders

TASKS = sorted(
    path
    for path in folders.suites_root().rglob("*.yaml")
    if {"task", "group"} & set(load_yaml_config(str(path), mode="simple"))
)


@pytest.mark.parametrize("path", TASKS, ids=lambda path: path.stem)
def test_file_is_named_after_its_task(path):
    config = load_yaml_config(str(path), mode="simple")
    assert path.stem == (config["task"] if isinstance(config["task"], str) else config["group"])
    assert config["metadata"]["version"]
