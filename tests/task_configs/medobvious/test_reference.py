"""The paper's tables: what is a mean of what, and which cells do not add up."""

from typing import NamedTuple

import pytest

from lmms_medtasks import folders
from lmms_medtasks.report.published import published_discrepancies
from lmms_medtasks.task_configs.medobvious import measures, report_published

# Questions in the release (Table 1 and section 2).
TIER_SIZES = {f"T{tier}": size for tier, size in enumerate((440, 480, 360, 320, 280), start=1)}
FORMAT_SIZES = dict(zip(measures.FORMATS, (470, 470, 235, 235, 470), strict=True))
SIGN_SIZES = {"positive": 1175, "negative": 705}


class Printed(NamedTuple):
    """A published row: its columns, and the paper's average of them."""

    model: str
    group: str
    columns: dict[str, float]
    average: float


def printed(table, names, average):
    return [
        Printed(row.texts["model"], row.texts["group"], dict(zip(names, row.values(*names), strict=True)),
                *row.values(average))
        for row in table.published.rows()
    ]  # fmt: skip


FORMATS = printed(report_published.FORMATS_TABLE, tuple(measures.TABLE_2), "average")
TIERS = printed(report_published.TIERS_TABLE, tuple(f"T{tier}" for tier in measures.TIERS), "all")
DISCREPANCIES = published_discrepancies(report_published.FOLDER)

# Half a unit of the last digit of the mean, and as much of the numbers that it is the mean of.
ROUNDING = 0.1 + 1e-9

NO_ALL = {each["row"] for each in DISCREPANCIES if each["column"] == "all"}


def overall(row, sizes):
    return sum(row.columns[name] * size for name, size in sizes.items()) / sum(sizes.values())


def test_seventeen_models_in_three_groups_and_a_human():
    groups = [row.group for row in FORMATS]
    names = ("general open-source", "medical open-source", "proprietary", "human")
    assert [groups.count(name) for name in names] == [7, 4, 6, 1]
    models = [(row.model, row.group) for row in FORMATS if row.group != "human"]
    assert models == [(row.model, row.group) for row in TIERS]


@pytest.mark.parametrize("row", FORMATS, ids=lambda row: row.model)
def test_average_is_the_plain_mean_of_seven_columns(row):
    assert tuple(row.columns) == (*measures.FORMATS, "positive", "negative")
    assert abs(sum(row.columns.values()) / 7 - row.average) <= ROUNDING


def test_the_best_mean_is_the_one_in_the_abstract():
    best = max((row for row in FORMATS if row.group != "human"), key=lambda row: row.average)
    assert (best.model, best.average) == ("Qwen2.5-VL-7B", 63.2)


@pytest.mark.parametrize("row", TIERS, ids=lambda row: row.model)
def test_all_is_the_plain_mean_of_the_tiers_not_the_weighted_one(row):
    close = abs(sum(row.columns.values()) / 5 - row.average) <= ROUNDING
    assert close == (row.model not in NO_ALL)


def test_weights_of_tiers_would_not_give_all():
    off = [abs(overall(row, TIER_SIZES) - row.average) > ROUNDING for row in TIERS]
    assert sum(off) >= 14


@pytest.mark.parametrize("row", FORMATS, ids=lambda row: row.model)
def test_sizes_of_formats_and_signs_give_one_overall_accuracy(row):
    """So Tasks A, B and E are over both signs, C and D over positives, and models answered all questions."""
    by_format, by_sign = overall(row, FORMAT_SIZES), overall(row, SIGN_SIZES)
    assert (abs(by_format - by_sign) < 0.25) == (row.group != "human")


def test_overall_by_tier_agrees_but_for_the_two_misprints():
    signs = {row.model: overall(row, SIGN_SIZES) for row in FORMATS}
    off = {row.model for row in TIERS if abs(overall(row, TIER_SIZES) - signs[row.model]) > 0.3}
    assert off == NO_ALL


def test_discrepancies_are_as_they_say():
    for each in DISCREPANCIES:
        row = next(row for row in (TIERS if each["table"] == 3 else FORMATS) if row.model == each["row"])
        if each["column"] == "overall by sign":
            assert overall(row, FORMAT_SIZES) == pytest.approx(each["printed"], abs=0.01)
            assert overall(row, SIGN_SIZES) == pytest.approx(each["recomputed"], abs=0.01)
        else:
            assert row.average == each["printed"]
            assert sum(row.columns.values()) / 5 == pytest.approx(each["recomputed"], abs=0.01)


def test_one_digit_would_mend_gpt_41_nano():
    row = next(row for row in TIERS if row.model == "GPT-4.1-nano")
    columns = {**row.columns, "T4": 31.8}
    assert sum(columns.values()) / 5 == pytest.approx(30.1, abs=0.05)


def test_the_accuracy_on_boards_is_over_the_questions_of_all_formats():
    (said,) = folders.read_yaml(report_published.FOLDER / "reference" / "published.yml")["scores"]
    assert said["columns"]["accuracy"] == FORMAT_SIZES
