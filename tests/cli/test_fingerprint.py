"""`lmms-medtasks fingerprint` on copies of the YAMLs."""

import re
import shutil

import pytest
from typer.testing import CliRunner

from lmms_medtasks.cli.app import build
from lmms_medtasks.harness import plugin


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A copy of one benchmark; that those of all are fresh: ``tests/test_fingerprints.py``."""
    shutil.copytree(plugin.task_folder() / "medq_deg", tmp_path / "configs" / "medq_deg")
    monkeypatch.setattr(plugin, "task_folder", lambda: tmp_path / "configs")
    return tmp_path / "configs"


def call(*arguments):
    return CliRunner().invoke(build(), ["fingerprint", *arguments])


def test_stale_then_written_then_fresh(folder):
    path = folder / "medq_deg" / "medq_deg_l2.yaml"
    original = path.read_text("utf-8")
    path.write_text(re.sub(r"code: '\w+'", "code: 'stale'", original))
    done = call()
    assert done.exit_code == 1
    assert "medq_deg_l2.yaml: stale" in done.output
    assert call("--write").exit_code == 0
    assert path.read_text("utf-8") == original
    assert call().output == "All fingerprints are up to date.\n"


def test_a_yaml_without_a_fingerprint_gets_one(folder):
    path = folder / "medq_deg" / "medq_deg_l2.yaml"
    original = path.read_text("utf-8")
    path.write_text(re.sub(r"  fingerprint:\n(    .*\n)+", "", original))
    assert call("--write").exit_code == 0
    assert call().exit_code == 0
