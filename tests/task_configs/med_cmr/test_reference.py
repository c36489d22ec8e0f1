"""The paper's rows: what adds up in them, and that every number that does not is named."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from lmms_medtasks.report.published import published_discrepancies
from lmms_medtasks.task_configs.med_cmr import report_published as published
from lmms_medtasks.task_configs.med_cmr.measures import DIMENSIONS
from lmms_medtasks.task_configs.med_cmr.source import PAPER, dimension_counts

NAMES = list(DIMENSIONS)
ROWS = {row.texts["model"]: row for row in published.PUBLISHED_ROWS.rows()}
TABLE = np.array([row.values(*NAMES) for row in ROWS.values()])
ALL = np.array([row.values("MCQ All")[0] for row in ROWS.values()])
COUNTS = dict(dimension_counts("mcq"))
HALF_DIGIT = 0.005 + 1e-7


def test_seven_models():
    assert list(ROWS) == [
        "GPT-5", "Gemini-2.5-Pro", "Qwen3-VL-235B-A22B", "InternVL3.5-241B-A28B", "Qwen2.5-VL-72B", "Lingshu-7B",
        "Medgemma-4B",
    ]  # fmt: skip
    assert [row.texts["group"].endswith(", medical") for row in ROWS.values()] == [False] * 5 + [True] * 2
    assert ROWS["Medgemma-4B"].values("Open All") == (32.10,)
    assert dict(zip(NAMES, ROWS["Lingshu-7B"].values(*NAMES), strict=True)) == {
        "SOD": 32.84, "FDD": 47.12, "SU": 31.17, "TP": 38.99, "CR": 31.53, "LTG": 23.86, "MSI": 39.62,
    }  # fmt: skip


def fits(column, count):
    """Whether all printed accuracies of a dimension can be of ``count`` questions."""
    right = np.rint(TABLE[:, column] * count / 100)
    return bool((np.abs(100 * right / count - TABLE[:, column]) <= HALF_DIGIT).all())


def test_the_counts_are_the_only_ones_that_give_all_rows():
    """Each dimension's candidates below 4,200 (multiples of the first, mostly), LTG what is left of 16,655."""
    places = [NAMES.index(name) for name in NAMES if name != "LTG"]
    candidates = [[count for count in range(50, 4200) if fits(place, count)] for place in places]
    found = []
    for counts in itertools.product(*candidates):
        left = PAPER["mcq"] - sum(counts)
        if left < 50:
            continue
        weights = np.insert(np.array(counts, dtype=float), NAMES.index("LTG"), left)
        if (np.abs(TABLE @ weights / PAPER["mcq"] - ALL) <= 0.0101).all() and fits(NAMES.index("LTG"), left):
            found.append(dict(zip(NAMES, map(int, weights), strict=True)))
    assert found == [COUNTS]


def test_overall_accuracy_is_over_questions():
    assert sum(COUNTS.values()) == PAPER["mcq"]
    counts = np.array([COUNTS[name] for name in NAMES])
    right = np.rint(TABLE * counts / 100)
    recomputed = 100 * right.sum(axis=1) / PAPER["mcq"]
    wrong = {
        model: round(float(value), 4)
        for model, value, printed in zip(ROWS, recomputed, ALL, strict=True)
        if abs(value - printed) > HALF_DIGIT
    }
    named = {
        each["row"]: each["recomputed"]
        for each in published_discrepancies(published.FOLDER)
        if each["column"] == "MCQ All"
    }
    assert wrong == named == {"Gemini-2.5-Pro": 49.8769}
    # Not a mean of the seven dimensions: that is far off for every model.
    assert (TABLE.mean(axis=1) - ALL).min() > 1.7


def test_the_releases_counts_are_the_tables_with_su_and_msi_the_other_way_round():
    release = dict(dimension_counts("release"))
    assert sum(release.values()) == PAPER["mcq"] == sum(COUNTS.values())
    swapped = {**release, "SU": release["MSI"], "MSI": release["SU"]}
    assert {name: swapped[name] - COUNTS[name] for name in NAMES if swapped[name] != COUNTS[name]} == {
        "SOD": 1, "LTG": -1,
    }  # fmt: skip
    # No printed column fits the release's number for it, but those two fit each other's.
    for name, other in (("SU", "MSI"), ("MSI", "SU")):
        assert not fits(NAMES.index(name), release[name]) and fits(NAMES.index(name), release[other])


def test_every_overall_accuracy_lies_within_its_dimensions():
    assert ((TABLE.min(axis=1) <= ALL) & (ALL <= TABLE.max(axis=1))).all()


def test_what_the_text_says_of_the_table():
    numbers = {
        model: {name: row.values(name)[0] for name in (*NAMES, "MCQ All", "Open All")} for model, row in ROWS.items()
    }
    open_models = [numbers[model] for model, row in ROWS.items() if row.texts["group"] != "closed"]
    assert (TABLE.argmax(axis=0) == 0).all() and ALL.argmax() == 0
    for column, lead in (("MCQ All", 8.47), ("Open All", 0.82)):
        assert numbers["GPT-5"][column] - max(row[column] for row in open_models) == pytest.approx(lead)
    assert max(row["LTG"] for row in open_models) < 46
    hardest = {model: min(NAMES, key=row.__getitem__) for model, row in numbers.items()}
    named = {each["row"] for each in published_discrepancies(published.FOLDER) if each["column"] == "LTG"}
    assert {model for model, name in hardest.items() if name != "LTG"} == named


def test_findings_that_the_text_gives():
    assert published.paper_text_findings()["medical_fine_tuning"]["mcq"]["p_below"] == 0.001
    assert published.paper_text_findings()["scale"]["mcq_r"] == {"from": 0.77, "to": 0.85, "of": "most dimensions"}
