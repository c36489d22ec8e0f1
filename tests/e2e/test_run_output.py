"""What ``lmms-medtasks run`` prints while it goes on."""

import re

import pytest

BAR = re.compile(r"\d+%\|")


def lines_of(done):
    """What was printed, but for a line that comes before our plugin: in a fork it has been loaded already."""
    return [line for line in done.printed.splitlines() if "Verbosity set to INFO" not in line]


@pytest.mark.parametrize("processes", [1, 2])
def test_a_run_prints_a_line_a_task_and_each_warning_once(harness, processes):
    """In a file: no colour codes, no bars, no module of the harness; of two processes the first one tells."""
    done = harness(
        "--model", "medtasks_random", "--tasks", "med_cmr,medobvious", "--limit", "4", "--processes", str(processes),
        launcher="run", anew=processes > 1, MEDTASKS_JUDGE=None,
    )  # fmt: skip
    lines = done.printed.splitlines() if processes > 1 else lines_of(done)
    assert not [line for line in lines if "\x1b[" in line or BAR.search(line) or "lmms_eval." in line]
    told = [line[9:] for line in lines if re.match(r"\d\d:\d\d:\d\d ", line)]
    assert told[0].startswith("Loading lmms-eval")
    asked = [line for line in told if line.startswith("Asked ") and " of 3): " in line]
    assert len(asked) == 3 and f": {4 // processes} requests in " in asked[0]
    (without_judge,) = [line for line in told if "No judge for " in line]
    assert "No judge for med_cmr_open (the paper's judge is" in without_judge
    assert len(told) == len(set(told))
    assert sum("still to judge" in line for line in told) == processes  # each process counts its own


def test_verbose_prints_what_the_harness_logs_as_well(harness):
    done = harness(
        "--model", "medtasks_random", "--tasks", "medobvious", "--limit", "2", "--verbose", launcher="run"
    )  # fmt: skip
    assert "Selected Tasks: ['medobvious']" in done.printed and "Building contexts for medobvious" in done.printed
    assert not [line for line in lines_of(done) if "\x1b[" in line]
