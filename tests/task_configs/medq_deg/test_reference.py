"""The paper's Tables 2, 3 and 6: what can be computed from other printed numbers is, and every difference is listed.

All arithmetic is with fractions of the printed decimals, so that a tie is a tie.
"""

import math
from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

import pytest

from lmms_medtasks import degradations
from lmms_medtasks.report.published import PublishedRowsSpec, published_discrepancies
from lmms_medtasks.task_configs.medq_deg import source as taxonomy
from lmms_medtasks.task_configs.medq_deg.report_published import FOLDER


class Score(NamedTuple):
    accuracy: float
    drop: float


@dataclass(frozen=True)
class ColumnsRow:
    """A row of Table 2 or 3: a model, or the paper's own average of a group."""

    model: str
    group: str
    average: Score
    columns: dict


@dataclass(frozen=True)
class LevelsRow:
    """A row of Table 6."""

    model: str
    group: str
    l0: float
    l1: float
    l2: float
    l1_minus_l0: float
    l2_minus_l0: float


def columns_rows(source, kind):
    """The rows of Table 2 or 3."""
    for row in PublishedRowsSpec(FOLDER, {"source": source, "kind": kind}).rows():
        names = [name for name, cell in row.numbers.items() if cell.value is not None and not name.endswith(" drop")]
        shown = {name: Score(*row.values(name, f"{name} drop")) for name in names}
        yield ColumnsRow(row.texts["model"], row.texts["group"], shown.pop("average"), shown)


CAPABILITY_RESULTS, CAPABILITY_AVERAGES, DEGRADATION_RESULTS, DEGRADATION_AVERAGES = (
    list(columns_rows(source, kind)) for source in ("Table 2", "Table 3") for kind in ("", "average")
)
LEVEL_RESULTS = [
    LevelsRow(row.texts["model"], row.texts["group"], *row.values("L0", "L1", "L2", "L1-L0", "L2-L0"))
    for row in PublishedRowsSpec(FOLDER, {"source": "Table 6"}).rows()
]
GROUPS = ["commercial", "open-source general", "medical-specialized"]
TENTH, HUNDREDTH = Fraction(1, 10), Fraction(1, 100)  # one unit of the last printed digit


def exact(number):
    return Fraction(str(number))


def mean(numbers):
    numbers = [exact(number) for number in numbers]
    return sum(numbers) / len(numbers)


def of_columns(table, rows, averages):
    """(table, row, column, printed, recomputed, unit, what the rounding of the inputs may move) of Table 2 or 3."""
    slack = TENTH / 2  # of a mean of numbers that are each off by at most half a unit
    for row in [*rows, *averages]:
        for part, name in enumerate(["average", "average drop"]):
            recomputed = mean(cell[part] for cell in row.columns.values())
            yield table, row.model, name, row.average[part], recomputed, TENTH, slack
    for row in averages:
        members = [other for other in rows if row.group in ("all groups", other.group)]
        for column in ["average", *row.columns]:
            for part, suffix in enumerate(["", " drop"]):
                recomputed = mean(cell(other, column)[part] for other in members)
                yield table, row.model, column + suffix, cell(row, column)[part], recomputed, TENTH, slack


def cell(row, column):
    return row.average if column == "average" else row.columns[column]


def of_levels(rows):
    for row in rows:
        for name, level, printed in [("L1-L0", row.l1, row.l1_minus_l0), ("L2-L0", row.l2, row.l2_minus_l0)]:
            yield 6, row.model, name, printed, exact(level) - exact(row.l0), HUNDREDTH, HUNDREDTH


def of_counts():
    printed, total = taxonomy.read_file("taxonomy.yml"), 20_588
    mids = [mid["fines"] for high in printed["capabilities"]["high"] for mid in high["mids"]]
    categories, types = printed["degradations"]["categories"], printed["degradations"]["types"]
    yield 4, "all thirty", "sum of counts", total, Fraction(sum(fine["count"] for own in mids for fine in own)), 1, 0
    for own in mids:
        in_mid = sum(fine["count"] for fine in own)
        for fine in own:
            yield of_ratio(4, fine["name"], fine, "ratio_in_mid", in_mid)
            yield of_ratio(4, fine["name"], fine, "ratio_in_total", total)
    yield 5, "all eighteen", "sum of counts", total, Fraction(sum(row["count"] for row in types.values())), 1, 0
    for key, category in categories.items():
        own = {name: row for name, row in types.items() if degradations.category(name) == key}
        yield 5, key, "sum of counts", category["count"], Fraction(sum(row["count"] for row in own.values())), 1, 0
        yield of_ratio(5, key, category, "ratio_in_total", total)
        for name, row in own.items():
            yield of_ratio(5, name, row, "ratio_in_parent", category["count"])
            yield of_ratio(5, name, row, "ratio_in_total", total)


def of_ratio(table, name, row, column, whole):
    return table, name, column, row[column], percent(row["count"], whole), HUNDREDTH, 0


def percent(part, whole):
    return Fraction(100 * part, whole)


def differences(cells):
    """The cells whose printed number is not the recomputed one rounded (either way, if half a unit from both)."""
    for table, row, column, printed, recomputed, unit, slack in cells:
        off = abs(recomputed - exact(printed))
        if off > Fraction(unit) / 2:
            within = off <= Fraction(unit) / 2 + slack
            yield table, row, column, printed, round(float(recomputed), 4), within


def all_cells():
    yield from of_columns(2, CAPABILITY_RESULTS, CAPABILITY_AVERAGES)
    yield from of_columns(3, DEGRADATION_RESULTS, DEGRADATION_AVERAGES)
    yield from of_counts()
    yield from of_levels(LEVEL_RESULTS)


def test_every_difference_in_the_paper_is_listed_and_no_other():
    # 2 x 44 averages of columns and 4 x 7 x 2 averages of models in Table 2; 2 x 44 and 4 x 6 x 2 in Table 3;
    # 1 + 30 x 2 in Table 4; 1 + 5 x 2 + 18 x 2 in Table 5; 40 x 2 in Table 6.
    cells = list(all_cells())
    assert len(cells) == (88 + 56) + (88 + 48) + 61 + 47 + 80
    found = sorted(differences(cells))
    assert found == sorted(tuple(listed.values()) for listed in published_discrepancies(FOLDER))
    assert len(found) == 13


def test_a_wrong_digit_would_be_found():
    first, *others = CAPABILITY_RESULTS
    wrong = replace(first, columns={**first.columns, "Imaging Perception": Score(46.5, 0.9)})
    found = list(differences(of_columns(2, [wrong, *others], [])))
    # (67.2 + 46.5 + 67.4 + 75.0 + 62.1 + 78.8) / 6 = 397.0 / 6 = 66.1667, and the paper prints 64.5.
    assert found == [(2, "GPT-5", "average", 64.5, 66.1667, False)]


def test_a_tie_may_be_rounded_either_way():
    row = LevelsRow("x", "medical", l0=50.0, l1=40.005, l2=40.005, l1_minus_l0=-9.99, l2_minus_l0=-10.0)
    assert list(differences(of_levels([row]))) == []
    assert len(list(differences(of_levels([replace(row, l1_minus_l0=-9.98)])))) == 1


@pytest.mark.parametrize("rows", [CAPABILITY_RESULTS, DEGRADATION_RESULTS, LEVEL_RESULTS])
def test_forty_models_in_three_groups_spelt_alike(rows):
    assert {row.model: row.group for row in rows} == {row.model: row.group for row in LEVEL_RESULTS}
    assert len(rows) == 40
    # "9 Commercial MLLMs", "21 Open-source general models", "10 Medical-specialized models" (section 4.1)
    assert Counter(row.group for row in rows) == dict(zip(GROUPS, (9, 21, 10), strict=True))


@pytest.mark.parametrize("averages", [CAPABILITY_AVERAGES, DEGRADATION_AVERAGES])
def test_one_average_row_a_group_and_one_over_all(averages):
    assert [row.group for row in averages] == [*GROUPS, "all groups"]


def test_columns_are_those_of_the_taxonomy():
    for row in [*CAPABILITY_RESULTS, *CAPABILITY_AVERAGES]:
        assert list(row.columns) == list(taxonomy.mid_capability_names())
    for row in [*DEGRADATION_RESULTS, *DEGRADATION_AVERAGES]:
        assert sorted(row.columns) == sorted(taxonomy.category_keys())


def test_cells_read_by_eye():
    """Ten cells, copied from the paper by hand."""
    table2 = {row.model: row for row in [*CAPABILITY_RESULTS, *CAPABILITY_AVERAGES]}
    table3 = {row.model: row for row in [*DEGRADATION_RESULTS, *DEGRADATION_AVERAGES]}
    table6 = {row.model: row for row in LEVEL_RESULTS}
    assert table2["Gemini-2.5-Pro"].columns["Treatment Reasoning"] == (59.6, -2.6)  # 59.6(up 2.6)
    assert table2["Qwen2-VL-Instruct(72B)"].columns["Treatment Reasoning"] == (3.9, 11.5)
    assert table2["Janus-Pro(7B)"].columns["Treatment Reasoning"] == (0.0, 0.0)
    assert table2["Lingshu(32B)"].columns["Imaging Perception"] == (27.5, -0.5)
    assert table2["Avg. Performance (All Models)"].average == (36.6, 3.0)
    assert table3["GPT-4.1-mini"].columns["noise"] == (63.3, -0.8)
    assert table3["Lingshu(7B)"].columns["motion"] == (65.6, 10.1)
    assert table3["DeepSeek-VL2"].columns["resolution_blur"] == (43.0, 1.9)
    assert (table6["GPT-4.1"].l0, table6["GPT-4.1"].l1, table6["GPT-4.1"].l1_minus_l0) == (66.0, 66.5, 0.5)
    assert (table6["ShowO2(1.5B)"].l2, table6["ShowO2(1.5B)"].l2_minus_l0) == (39.35, -3.8)


def test_table_3_weighted_with_table_5_is_table_6():
    printed = taxonomy.read_file("taxonomy.yml")["degradations"]["categories"]
    weights = {key: Fraction(row["count"], 20_588) for key, row in printed.items()}
    by_level = {row.model: row for row in LEVEL_RESULTS}
    for row in DEGRADATION_RESULTS:
        weighted = sum(weights[key] * exact(score.accuracy) for key, score in row.columns.items())
        level = by_level[row.model]
        assert abs(weighted - mean([level.l1, level.l2])) < TENTH, row.model


def is_multiple(number, parts, tolerance):
    """Whether a multiple of 1/``parts`` lies within ``tolerance`` of ``number``, both in percent."""
    low, high = (exact(number) - tolerance) * parts / 100, (exact(number) + tolerance) * parts / 100
    return math.ceil(low) <= math.floor(high)


@pytest.mark.parametrize(
    ("column", "parts", "tolerance"),
    [
        ("Imaging Perception", 200, TENTH / 2),
        ("Basic Science Reasoning", 56, TENTH / 2),
        ("Diagnosis Reasoning", 198, TENTH),  # means of two levels, both rounded before
        ("Treatment Reasoning", 52, TENTH),
    ],
)
def test_how_many_answers_table_2_rests_on(column, parts, tolerance):
    numbers = [row.columns[column].accuracy for row in CAPABILITY_RESULTS]
    fitting = [n for n in range(2, parts + 1) if all(is_multiple(number, n, tolerance) for number in numbers)]
    assert fitting == [parts]  # and no smaller number of answers


@pytest.mark.parametrize(("level", "parts"), [("l0", 2153), ("l1", 5098), ("l2", 5098), ("l1", 4902), ("l2", 4902)])
def test_how_many_answers_table_6_rests_on(level, parts):
    numbers = [getattr(row, level) for row in LEVEL_RESULTS]
    assert all(is_multiple(number, parts, HUNDREDTH / 2) for number in numbers)
    assert not all(is_multiple(number, parts + 1, HUNDREDTH / 2) for number in numbers)


def arrow(score):
    return f"{score.accuracy:.1f}(\\{'up' if score.drop < 0 else 'down'}arrow{abs(score.drop):.1f})"


def test_every_row_stands_in_the_paper(beside):
    """Each row, written out again as the paper's text has it, is found there exactly once."""
    lines = Counter(" ".join(line.split()) for line in beside("seeds/000_*.txt").read_text("utf-8").splitlines())
    for rows, averages in [
        (CAPABILITY_RESULTS, CAPABILITY_AVERAGES),
        (DEGRADATION_RESULTS, DEGRADATION_AVERAGES),
    ]:
        for row in [*rows, *averages]:
            assert lines[" ".join([row.model, arrow(row.average), *map(arrow, row.columns.values())])] == 1, row.model
    for level in LEVEL_RESULTS:
        numbers = [level.l0, level.l1, level.l2, level.l1_minus_l0, level.l2_minus_l0]
        assert lines[" ".join([level.model, *(f"{number:.2f}" for number in numbers)])] == 1, level.model
