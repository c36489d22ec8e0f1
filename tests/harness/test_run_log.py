"""Which lines of the log a run prints that ``lmms-medtasks run`` started."""

import datasets
import pytest
from loguru import logger

from lmms_medtasks.harness import run_log
from lmms_medtasks.progress import RUN_LOG


@pytest.fixture
def log(monkeypatch, tmp_path):
    """Call as log(name, level, text, VARIABLE=...): what a process prints of a line of the module ``name``."""
    monkeypatch.setenv(RUN_LOG, str(tmp_path))
    bars = datasets.are_progress_bars_disabled()
    printed = []
    monkeypatch.setattr(run_log, "print_message", printed.append)

    def print_line(name, level, text, **variables):
        with monkeypatch.context() as patched:
            for variable, value in variables.items():
                patched.setenv(variable, value)
            run_log.take_log_over()
            printed.clear()
            logger.patch(lambda record: record.update(name=name)).log(level, text)
        return [line[9:] for line in printed]  # without the time

    yield print_line
    logger.remove()
    logger.enable("lmms_eval")
    (datasets.disable_progress_bars if bars else datasets.enable_progress_bars)()


OURS, THEIRS = "lmms_medtasks.harness.calls", "lmms_eval.evaluator"


@pytest.mark.parametrize(
    ("name", "level", "text", "variables", "printed"),
    [
        (OURS, "INFO", "Asked a", {}, ["Asked a"]),
        (OURS, "DEBUG", "Judging p", {}, []),
        (THEIRS, "INFO", "Building contexts", {}, []),
        (THEIRS, "WARNING", "num_fewshot is set", {}, ["warning: num_fewshot is set"]),
        (THEIRS, "ERROR", "Error during evaluation", {}, ["error: Error during evaluation"]),
        (THEIRS, "WARNING", " --limit SHOULD ONLY BE USED FOR TESTING.REAL METRICS", {}, []),
        (THEIRS, "WARNING", "num_fewshot is set", {"VERBOSITY": "ERROR"}, []),
        (OURS, "INFO", "Asked a", {"RANK": "1"}, []),
        (OURS, "WARNING", "2 failed", {"RANK": "1"}, ["warning: 2 failed"]),
        (THEIRS, "INFO", "Building contexts", {run_log.VERBOSE: "1"}, ["Building contexts"]),
        (OURS, "DEBUG", "Judging p", {run_log.VERBOSE: "1"}, ["Judging p"]),
    ],
)
def test_what_is_printed(log, name, level, text, variables, printed):
    assert log(name, level, text, **variables) == printed


def test_a_warning_is_printed_once_by_all_processes_and_an_error_each_time(log):
    assert log(OURS, "WARNING", "The runner re-encodes", RANK="0") == ["warning: The runner re-encodes"]
    assert log(OURS, "WARNING", "The runner re-encodes", RANK="1") == []
    assert log(OURS, "WARNING", "Another", RANK="1") == ["warning: Another"]
    assert len(log(OURS, "ERROR", "It failed")) == len(log(OURS, "ERROR", "It failed")) == 1


def test_where_no_file_can_be_made_a_warning_is_printed_all_the_same(log):
    lost = {RUN_LOG: "/nowhere/at/all"}
    assert log(OURS, "WARNING", "Again", **lost) == log(OURS, "WARNING", "Again", **lost) == ["warning: Again"]
