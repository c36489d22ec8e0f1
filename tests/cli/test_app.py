"""`lmms-medtasks --version`."""

import importlib.metadata

from typer.testing import CliRunner

from lmms_medtasks import __version__
from lmms_medtasks.cli.app import build_app


def test_both_versions_are_printed_a_line_each():
    done = CliRunner().invoke(build_app(), ["--version"])
    assert done.exit_code == 0
    assert done.output.splitlines() == [
        f"lmms-medtasks {__version__}",
        f"lmms-eval {importlib.metadata.version('lmms_eval')}",
    ]


def test_without_the_harness_its_line_says_so(monkeypatch):
    installed = importlib.metadata.version

    def not_installed(name):
        if name == "lmms_eval":
            raise importlib.metadata.PackageNotFoundError(name)
        return installed(name)

    monkeypatch.setattr(importlib.metadata, "version", not_installed)
    done = CliRunner().invoke(build_app(), ["--version"])
    assert done.exit_code == 0
    assert done.output.splitlines() == [f"lmms-medtasks {__version__}", "lmms-eval is not installed"]


def test_a_command_that_is_none_is_still_refused():
    assert CliRunner().invoke(build_app(), ["nope"]).exit_code == 2
