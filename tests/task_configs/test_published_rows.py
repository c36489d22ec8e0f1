"""The published rows of the suites: no number moved, and each is shown."""

import hashlib

import pytest

from lmms_medtasks import folders
from lmms_medtasks.report.published import published_scores, published_span, read_rows
from lmms_medtasks.report.reported_suites import printed_tables
from lmms_medtasks.suites import registry

SUITES = ("bones_joints", "med_cmr", "medobvious", "medq_deg", "sure_vqa")


def digest(lines):
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()[:16]


@pytest.mark.parametrize(
    ("suite", "count", "frozen"),
    [
        ("bones_joints", 11, "86c6c13874b86c92"),
        ("med_cmr", 63, "cef658a4898f2c14"),
        ("medobvious", 390, "8c241a7d14d42657"),
        ("medq_deg", 1344, "1b0c4273fc68e9f4"),
        ("sure_vqa", 764, "77fd0efdc3feffd0"),
    ],
)
def test_the_papers_tables_have_the_numbers_that_were_checked_against_the_papers(suite, count, frozen):
    """By table, model and column. Where a number is corrected on purpose, the digest is renewed and the paper named."""
    lines = [
        f"{table.key}|{row.cells[0].value}|{column.name}|{cell.value}|{cell.sd}"
        for table in printed_tables(suite)
        for row in table.rows
        for cell, column in zip(row.cells, table.columns, strict=True)
        if isinstance(cell.value, int | float)
    ]
    assert (len(lines), digest(lines)) == (count, frozen)


def test_the_tasks_have_the_numbers_that_were_checked_against_the_papers():
    lines = [
        f"{task}|{each.model}|{metric}|{cell.value}|{cell.sd}|{cell.mark}"
        for suite in SUITES
        for task in (file.stem for file in (folders.suites_root() / suite).glob("*.yaml"))
        if task != suite or suite in ("medobvious", "medq_deg")
        for each in published_scores(registry.get(suite), task)
        for metric, cell in each.cells.items()
        if cell.value is not None and metric != "paper_average"
    ]
    assert (len(lines), digest(lines)) == (1126, "608f21598bab20e1")


@pytest.mark.parametrize("suite", SUITES)
def test_every_column_is_shown_or_ranked_and_every_metric_of_scores_is_the_suites(suite):
    folder = folders.suites_root() / suite
    said = folders.read_yaml(folder / "reference" / "published.yml")
    rows = read_rows(folder)
    sources, columns = {row.texts["source"] for row in rows}, set(rows[0].numbers)
    assert set(said.get("notes", {})) <= sources and set(said.get("marks", {})) <= columns
    for each in said["scores"]:
        assert set(each["columns"]) <= set(registry.get(suite).estimates)
        for column in each["columns"].values():
            assert set(column if isinstance(column, dict) else [column]) <= columns
        for task in each.get("tasks", ()):
            assert (folder / f"{task}.yaml").is_file() and list(published_scores(registry.get(suite), task))


def test_spans_leave_people_and_marked_numbers_out():
    assert published_span(registry.get("medq_deg"), "medq_deg_l0", "accuracy") == (43.15, 74.04)
    assert published_span(registry.get("medobvious"), "medobvious", "paper_average") == (28.0, 63.2)  # people: 88.4
    assert (
        published_span(registry.get("med_cmr"), "med_cmr_mcq", "accuracy_su") is None
    )  # looks swapped with another column
    assert published_span(registry.get("bones_joints"), "bones_joints_t4_diagnosis", "accuracy") is None  # read reports
    assert published_span(registry.get("bones_joints"), "bones_joints_t2_note", "accuracy") == (95.0, 96.0)
    assert published_span(registry.get("medq_deg"), "medq_deg_l0_noimage", "accuracy") is None
