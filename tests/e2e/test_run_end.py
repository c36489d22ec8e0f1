"""What `lmms-medtasks run` prints before the first request and after the last, by real runs of the harness."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace

import pytest

from lmms_medtasks.harness import ending
from tests.foreign_tasks import write
from tests.stub_server import Server, Stub

RANDOM = ("--model", "medtasks_random", "--limit", "4", "--tasks")
HEAD = "gen_kwargs: ("
QUOTED = "May these numbers be quoted?"


def rows(done):
    """The harness's rows: task and metric."""
    cells = [line.split("|") for line in done.printed.splitlines() if line.startswith("|")]
    return [(cell[1].strip(" -").partition(" ")[0], cell[4].strip()) for cell in cells[2:] if cell[4].strip("- :")]


@pytest.fixture
def foreign(tmp_path):
    return ("--include_path", str(write(tmp_path / "tasks")))


def test_of_our_tasks_the_screen_stands_for_the_table(harness):
    done = harness(*RANDOM, "med_cmr,medobvious", launcher="run")
    assert not rows(done) and HEAD not in done.printed, done.printed[-3000:]
    assert done.printed.count(QUOTED) == 1 and f"Again, and more: lmms-medtasks report {done.folder}\n" in done.printed
    assert "lmms-medtasks: 12 requests for 12 questions of 3 tasks, with " in done.printed


def test_all_metrics_are_printed_where_they_are_asked_for(harness):
    done = harness(*RANDOM, "med_cmr_mcq", "--all-metrics", launcher="run")
    assert ("med_cmr_mcq", "parse_rate") in rows(done) and HEAD in done.printed and QUOTED in done.printed


def test_lmms_eval_prints_its_table_as_ever_and_names_the_report(harness):
    done = harness(*RANDOM, "med_cmr_mcq")
    assert len(rows(done)) > 10 and HEAD in done.printed and QUOTED not in done.printed
    assert done.printed.count("lmms-medtasks report ") == 1
    assert done.printed.rstrip().endswith(f"on one screen: lmms-medtasks report {done.run.path}")
    assert " requests for " not in done.printed


@pytest.mark.parametrize(
    ("options", "lacks"),
    [
        ({}, "--log_samples --output_path FOLDER"),
        ({"output_path": "out"}, "--log_samples"),
        ({"log_samples": True}, ""),
    ],
)
@pytest.mark.parametrize("are_ours", [True, False])
def test_lmms_eval_says_what_a_report_needs(monkeypatch, capsys, options, lacks, are_ours):
    monkeypatch.setattr(ending, "is_command_line", lambda: True)
    monkeypatch.delenv(ending.TABLES, raising=False)
    ending.prepare_tables(SimpleNamespace(**options), are_ours=are_ours)
    needed = lacks or "--output_path FOLDER"
    assert capsys.readouterr().err.count(f"will have no report. For one, add {needed}.\n") == are_ours


def test_tasks_of_others_stand_in_the_table_and_degraded_copies_of_ours_with_a_number(harness, foreign):
    tasks = "medobvious,medobvious@gaussian_noise.2,forms_column"
    done = harness(*RANDOM, tasks, *foreign, launcher="run")
    assert rows(done) == [("forms_column", "exact_match"), ("medobvious@gaussian_noise.2", "accuracy")]
    assert HEAD not in done.printed and done.printed.count(QUOTED) == 1
    assert f"report {done.folder} --include_path {foreign[1]}\n" in done.printed


def test_a_run_of_others_tasks_alone_has_no_report(harness, foreign):
    done = harness(*RANDOM, "forms_column", *foreign, launcher="run")
    assert rows(done) and HEAD in done.printed, done.printed[-3000:]
    assert "lmms-medtasks report" not in done.printed and "no report" not in done.printed
    done = harness(*RANDOM, "forms_column", *foreign)
    assert rows(done) and "lmms_medtasks." not in done.printed, done.printed[-3000:]


def test_an_estimate_prints_no_table_and_no_report(harness, foreign):
    done = harness(*RANDOM[:2], "--tasks", "med_cmr_mcq,forms_column", *foreign, "--estimate", launcher="run")
    assert "From the first 20 questions" in done.printed, done.printed[-3000:]
    assert not rows(done) and HEAD not in done.printed and QUOTED not in done.printed
    assert " requests for " not in done.printed


def test_a_task_without_a_result_is_told_after_the_screen_of_the_others(harness, foreign):
    done = harness(*RANDOM, "med_cmr_mcq,forms_black@gaussian_noise.2", *foreign, launcher="run", status=1)
    assert QUOTED in done.printed, done.printed[-3000:]
    assert "lmms-medtasks: No result of forms_black@gaussian_noise.2" in done.printed.partition(QUOTED)[2]


def test_of_two_processes_one_prints_for_both(harness):
    """The second has one question less of each task, and asks a copy in its place that counts for nothing."""
    done = harness(*RANDOM, "med_cmr_open,medobvious", "--limit", "3", "--processes", "2", launcher="run")
    assert not rows(done), done.printed[-3000:]
    assert done.printed.count(QUOTED) == done.printed.count(" requests for ") == 1
    assert "lmms-medtasks: 6 requests for 6 questions of 2 tasks, with " in done.printed


def test_a_report_that_cannot_be_made_is_told_and_fails_nothing(harness, tmp_path):
    """A folder of --include_path that the harness takes, and a report does not: it has no task."""
    (tmp_path / "empty").mkdir()
    done = harness(*RANDOM, "med_cmr_mcq", "--include_path", str(tmp_path / "empty"), launcher="run")
    assert "lmms-medtasks: no report: " in done.printed, done.printed[-3000:]


def test_images_are_counted_as_they_are_shown(harness, tmp_path):
    """No image is read for the number; those of call_times.py are rendered."""
    times = tmp_path / "times.json"
    tasks = "bones_joints,med_cmr_mcq,medobvious,sure_slake_modality,med_cmr_mcq@gaussian_noise.2"
    variables = {"MEDTASKS_TABLES": "folded", "MEDTASKS_CALL_TIMES": str(times)}
    done = harness("--model", "medtasks_random", "--limit", "20", "--tasks", tasks, **variables)
    seen = json.loads(times.read_text("utf-8")).values()
    shown = sum(each["pictures"] * each["requests"] / each["seen"] for each in seen)
    asked = int(sum(each["requests"] for each in seen))
    assert f"lmms-medtasks: {asked} requests for " in done.printed and f", with {shown:.0f} images;" in done.printed
    assert asked != shown  # several images a question, and none


@pytest.mark.parametrize(
    ("price", "cost"),
    [("", "; MEDTASKS_"), ("2,10", r", for about 0\.01 USD if each of the model's replies is as long as it may be\.")],
)
def test_what_is_not_known_before_is_not_said_but_how_to_know_it(harness, judge_server, price, cost):
    served = Server(Stub())
    judge = {"MEDTASKS_JUDGE": "openai:stub", "OPENAI_API_URL": judge_server.url, "OPENAI_API_KEY": "k"}
    judge["MEDTASKS_JUDGE_PRICE"] = price
    model = f"model=tiny,base_url={served.stub.url},retries=0"
    asked = ("--model", "medtasks_server", "--model_args", model, "--limit", "2", "--tasks", "med_cmr_open")
    done = harness(*asked, launcher="run", **judge)
    served.end()
    lines = [line for line in done.printed.splitlines() if line.startswith("lmms-medtasks: ")]
    first = next(number for number, line in enumerate(lines) if " requests for " in line)
    assert "--estimate asks 20 questions of each task" in lines[first + 1], done.printed[-3000:]
    said = r"The judge openai:stub gives at most 2 judgements \(more requests where a reply must be repeated\)"
    assert re.search(said + cost, lines[first + 1])
