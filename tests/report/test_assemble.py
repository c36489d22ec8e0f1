"""One document from runs of any suites."""

import html
import io
from dataclasses import replace

import pytest
from rich.console import Console

from lmms_medtasks.errors import UserError
from lmms_medtasks.report import ReportOptions, build_report, reported_suites
from lmms_medtasks.report.markdown import render_markdown
from lmms_medtasks.report.report_page import render_html
from lmms_medtasks.report.run_report import RunReport
from lmms_medtasks.report.terminal import print_report


def test_run_of_other_tasks(tmp_path):
    (tmp_path / "x_results.json").write_text('{"results": {"mmlu": {}}, "configs": {"mmlu": {}}}')
    with pytest.raises(UserError, match="has no task of .*MedQ-Deg.*'mmlu'"):
        build_report([tmp_path])


def test_a_misspelt_folder_is_answered_with_the_one_beside_it(write_run):
    run = write_run("medtasks_random")
    with pytest.raises(UserError, match=f"is not there. Did you mean '{run}'"):
        build_report([run.with_name("medtask_random")])


def test_every_suite_offers_what_the_registry_says():
    for suite in reported_suites.reported_suites().values():
        assert suite.title
        assert reported_suites.report_of(suite).uses <= {"pairs", "parameters"}


def test_option_that_no_suite_here_uses_is_refused(write_run):
    with pytest.raises(UserError, match="--pair has no effect here: nothing in the report of MedQ-Deg"):
        build_report([write_run()], ReportOptions(pairs=(("a", "b"),), resamples=0))


def test_a_log_that_is_cut_off_leaves_out_its_task_and_is_named_first(write_run):
    run = write_run()
    (log,) = run.glob("*_l1.jsonl")
    log.write_text(log.read_text()[:-40])
    document = build_report([run], ReportOptions(resamples=0, drawn=False))
    (said,) = document.unread
    assert f"{log}, line 2: broken or cut off" in said
    assert [bar.title for bar in document.first.models[0].findings[0].bars] == [
        "clean images (L0)", "severe degradation (L2)",
    ]  # fmt: skip
    check = next(each for each in document.first.checks if each.title == "complete")
    assert (check.state, check.reason.startswith("left out: 1 log")) == ("partly", True)
    console = Console(width=240, file=io.StringIO())
    print_report(document, console)
    assert console.file.getvalue().startswith("! Left out:")
    assert max(map(len, console.file.getvalue().splitlines())) <= 100
    assert RunReport(document).warnings[0] == said
    for text in (render_markdown(document), html.unescape(render_html(document))):
        assert said[-40:] in text.replace("\\", "") and text.index("Left out:") < text.index("Accuracy by level")


def test_parts_of_several_suites_are_called_by_their_suite(write_run, monkeypatch):
    found = [reported_suites.reported_suites()["medq_deg"], reported_suites.reported_suites()["medq_deg"]]
    alone = [part.title for part in build_report([write_run()], ReportOptions(resamples=0, drawn=False)).parts]
    monkeypatch.setattr(
        reported_suites, "runs_holding", lambda runs: {f"s{n}": (each, runs) for n, each in enumerate(found)}
    )
    parts = build_report([write_run("other")], ReportOptions(resamples=0, drawn=False)).parts
    assert [part.title for part in parts] == [f"MedQ-Deg: {each}" for each in alone] * 2


def test_one_benchmark_in_a_terminal_is_its_first_part_in_the_width_that_there_is(write_run):
    """Cells were cut to "med… MIM… [21…"; a table that is too wide stands as several, each with its rows' names."""
    document = build_report([write_run("a"), write_run("b", model="other")], ReportOptions(resamples=0, drawn=False))
    alone = replace(document, first=None)
    texts = {}
    for everything in (False, True):
        console = Console(width=70, file=io.StringIO())
        print_report(alone, console, everything=everything)
        texts[everything] = console.file.getvalue()
        assert max(map(len, texts[everything].splitlines())) <= 70
    assert document.parts[1].title in texts[False].partition("More: ")[2] and "More: " not in texts[True]
    assert texts[True].count("Accuracy by level and calibration") > 1  # the comparison's, in pieces
    (levels,) = [each for each in document.parts[0].sections[0].tables if each.key == "models"]
    heads = [column.head for column in levels.columns]
    assert all(head.split()[0] in texts[False] for head in heads)
