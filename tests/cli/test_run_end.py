"""What `lmms-medtasks run` prints at its end, of runs that were written beforehand."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
import typer

from lmms_medtasks.cli.run_end import end_run
from tests import medq_deg_runs

QUOTED = "May these numbers be quoted?"


@pytest.fixture
def written(tmp_path: Path) -> Path:
    (tmp_path / "out" / "other").mkdir(parents=True)
    medq_deg_runs.write(tmp_path / "out")
    return tmp_path / "out" / "20260101_000000_results.json"


@pytest.mark.parametrize(
    ("arguments", "asked"),
    [
        ([], "a minute's work"),
        (["--model", "srt_api"], "the whole task"),
        (["--model=async_openai"], "a minute's work"),
        (["--model=async_openai", "--model_args", "mcp_server_path=x"], "the whole task"),
    ],
)
def test_what_an_interrupted_run_had_written_is_reported_before_the_way_on(written, capsys, arguments, asked):
    """As of the first of several models."""
    with pytest.raises(typer.Exit) as ended:
        end_run(-2, [written], written.parent, [], arguments, allow_failures=False)
    out, err = capsys.readouterr()
    assert ended.value.exit_code == 130 and QUOTED in out
    assert err.startswith(f"Results: {written}\n") and "lmms-medtasks: Interrupted. Give the same command" in err
    assert f"only what was being asked ({asked}" in err


def test_of_a_folder_with_other_runs_the_report_is_of_this_one(written, capsys):
    medq_deg_runs.write(written.parent / "other", model="other_model")
    end_run(0, [written], written.parent, [], [], allow_failures=False)
    out = capsys.readouterr().out
    assert "other_model" not in out and f"lmms-medtasks report {shlex.quote(str(written))}\n" in out
