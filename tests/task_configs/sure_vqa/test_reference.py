"""The paper's Tables 14 to 20 and 22: what can be computed from other printed numbers is, every difference is listed.

Ratios are fractions of the printed decimals, so that a tie is a tie.
"""

import csv
from collections import Counter
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest

from lmms_medtasks.report.published import PUBLISHED, PublishedRowsSpec, published_discrepancies
from lmms_medtasks.task_configs.sure_vqa.report_paper import f_test
from lmms_medtasks.task_configs.sure_vqa.report_published import DATASETS, FOLDER, SHIFTS

HALF = Fraction(1, 200)  # half a unit of the last digit of an RR
FINE_TUNED = ("Full fine-tuning", "Prompt tuning", "LoRA", "IA3")
"""The methods whose robustness the paper compares; the other two are baselines."""
BASES = ("LLaVA-Med 1.5", "LLaVA 1.6")
TABLES = {14: "slake", 15: "slake", 16: "ovqa", 17: "ovqa", 18: "mimic", 19: "mimic"}


class Printed(NamedTuple):
    mean: float
    sd: float | None


class Row(NamedTuple):
    """Three neighbouring cells of a table; ``ood`` and ``rr`` are None for the most frequent answers."""

    table: int
    model: str
    method: str
    base_model: str
    shift: str
    answer_type: str
    iid: Printed
    ood: Printed | None
    rr: Printed | None


def rows_of(number):
    """The rows of a table. ``shift``: of its task, in Table 22 of the test."""
    for row in PublishedRowsSpec(FOLDER, {"source": f"Table {number}"}).rows():
        texts = row.texts
        shift = texts["test"] or texts["task"].removeprefix(f"sure_{TABLES[number]}_").removesuffix("_noimage")
        for kind in ("closed", "open"):
            cells = [row.cell(f"{kind}_{name}") for name in ("iid", "ood", "rr")]
            numbers = [None if cell.value is None else Printed(cell.value, cell.sd) for cell in cells]
            yield Row(number, texts["model"], texts["method"], texts["base_model"], shift, kind, *numbers)


def results():
    return [row for number in TABLES for row in rows_of(number)]


def exact(number):
    return Fraction(str(number))


def half_unit(number):
    """Half a unit of the last digit: two decimals, three where three are printed ("0.6" is 0.60)."""
    decimals = len(str(number).partition(".")[2])
    return Fraction(1, 2 * 10 ** max(2, decimals))


def all_cells():
    for row in results():
        yield row.table, row.model, row.shift, row
    for row in rows_of(22):
        split = "modality" if "modality" in row.shift else "question_type"
        yield 22, "realistic" if row.shift.endswith(" shift") else row.shift.partition(" (")[0], split, row


def differences(cells):
    """(table, row, shift, type, printed RR, recomputed, whether rounding may explain it) where they differ."""
    for table, name, shift, row in cells:
        if row.rr is None:
            continue
        iid, ood, printed = exact(row.iid.mean), exact(row.ood.mean), exact(row.rr.mean)
        if abs(ood / iid - printed) > HALF:
            lowest = (ood - half_unit(row.ood.mean)) / (iid + half_unit(row.iid.mean)) - HALF
            highest = (ood + half_unit(row.ood.mean)) / (iid - half_unit(row.iid.mean)) + HALF
            recomputed = round(float(ood / iid), 4)
            yield table, name, shift, row.answer_type, float(printed), recomputed, lowest <= printed <= highest


def test_every_ratio_that_differs_is_listed_and_no_other():
    # 5 methods (4 without images, as there is no full fine-tuning) x 2 base models x 2 or 3 shifts x 2 kinds of
    # questions, and 4 x 2 x 2 in Table 22; the most frequent baseline has no RR.
    cells = [cell for cell in all_cells() if cell[-1].rr is not None]
    assert len(cells) == (40 + 32) + (40 + 32) + (60 + 48) + 16
    found = sorted(differences(cells))
    names = ("table", "row", "shift", "answer_type", "printed", "recomputed", "within_rounding")
    listed = published_discrepancies(FOLDER)
    assert found == sorted(tuple(each[name] for name in names) for each in listed)
    assert all(set(each) == set(names) for each in listed)
    assert (len(found), sum(not each[-1] for each in found)) == (80, 2)


def test_a_wrong_digit_would_be_found():
    row = results()[0]
    assert (row.iid.mean, row.ood.mean, row.rr.mean) == (0.6, 0.31, 0.51)
    # 0.41 / 0.6 = 0.6833
    wrong = row._replace(ood=Printed(0.41, None))
    assert list(differences([(22, "x", "s", wrong)])) == [(22, "x", "s", "closed", 0.51, 0.6833, False)]


def test_every_method_has_every_shift():
    counted = Counter((row.table, row.model) for row in results())
    for table, dataset in TABLES.items():
        methods = {"No fine-tuning", *FINE_TUNED} - ({"Full fine-tuning"} if table % 2 else set())
        expected = {(table, f"{base}: {method}") for base in BASES for method in methods}
        # No model's: both halves of the paper's tables have them, they stand here once.
        expected |= {(table, "Most frequent")} if table in (14, 16) else set()
        assert {key for key in counted if key[0] == table} == expected
        assert {counted[key] for key in expected} == {2 * len(SHIFTS[dataset])}


def test_only_methods_with_seeds_have_a_deviation():
    for row in results():
        seeds = row.method in FINE_TUNED[1:]
        assert all((cell.sd is not None) is seeds for cell in (row.iid, row.ood, row.rr) if cell)
        assert (row.rr is None) is (row.ood is None) is (row.method == "Most frequent")


def test_scores_are_in_range():
    for row in results():
        low, high = (0, 1) if row.answer_type == "closed" else (1, 5)
        assert all(low <= cell.mean <= high for cell in (row.iid, row.ood) if cell)


def test_cells_read_by_eye():
    """Ten cells, copied from the paper by hand."""

    def cell(table, model, shift, kind):
        (row,) = (
            row
            for row in results()
            if (row.table, row.model, row.shift, row.answer_type) == (table, model, shift, kind)
        )
        return row

    lora = cell(14, "LLaVA-Med 1.5: LoRA", "modality", "closed")
    assert (lora.iid, lora.ood, lora.rr) == (Printed(0.88, 0.0), Printed(0.45, 0.04), Printed(0.51, 0.04))
    assert cell(14, "LLaVA 1.6: No fine-tuning", "modality", "closed").rr == Printed(1.34, None)
    assert cell(14, "Most frequent", "question_type", "closed").iid == Printed(0.696, None)
    assert cell(14, "Most frequent", "question_type", "closed").ood is None
    assert cell(15, "LLaVA-Med 1.5: IA3", "question_type", "open").ood == Printed(2.64, 0.53)
    assert cell(16, "LLaVA-Med 1.5: Full fine-tuning", "question_type", "closed").rr == Printed(0.1, None)
    assert cell(17, "LLaVA 1.6: No fine-tuning", "question_type", "closed").rr == Printed(1.83, None)
    assert cell(18, "LLaVA-Med 1.5: Full fine-tuning", "gender", "closed").rr == Printed(1.0, None)
    assert cell(18, "LLaVA 1.6: Prompt tuning", "age", "closed").ood == Printed(0.51, 0.15)
    assert cell(19, "LLaVA 1.6: Prompt tuning", "age", "closed").rr == Printed(1.03, 0.44)


def test_table_22_repeats_the_row_of_table_14():
    for row in rows_of(22):
        split = "modality" if "modality" in row.shift else "question_type"
        (same,) = (
            other
            for other in rows_of(14)
            if (other.model, other.shift, other.answer_type) == (row.model, split, row.answer_type)
        )
        assert row.iid == same.iid
        if row.shift.endswith(" shift"):
            assert (row.ood, row.rr) == (same.ood, same.rr)


def table(dataset, methods):
    """(shifts times closed or open, methods): printed RR of the medical base model, with images."""
    found = {}
    number = next(number for number, name in TABLES.items() if name == dataset)
    for row in rows_of(number):
        if row.base_model == BASES[0] and row.method in methods:
            found.setdefault((row.shift, row.answer_type), {})[row.method] = row.rr.mean
    return np.array([[own[name] for name in methods] for own in found.values()])


def raw(number):
    """The texts of a table's rows, as they stand in the file."""
    with (FOLDER / PUBLISHED).open(newline="") as file:
        return [row for row in csv.DictReader(file) if row["source"] == f"Table {number}"]


def anova_results():
    """Dataset, methods, and the texts of F and p in Table 20."""
    keys = {name: key for key, name in DATASETS.items()}
    names = {"all fine-tuning methods": "all", "without full fine-tuning": "without_full"}
    return [(keys[row["dataset"]], names[row["model"]], row["f"], row["p"]) for row in raw(20)]


def methods_of(name):
    return FINE_TUNED if name == "all" else FINE_TUNED[1:]


def digits(number, printed):
    """The number rounded to as many significant digits as are printed."""
    return float(f"{number:.{len(printed.partition('e')[0].replace('.', '').lstrip('0')) - 1}e}")


def test_anova_of_tables_14_16_and_18_is_table_20():
    """The groups are shift x closed/open, the values in a group the printed RR of the methods."""
    different = {}
    for dataset, methods, f, p in anova_results():
        found = f_test(table(dataset, methods_of(methods)))
        for name, value, text in zip("fp", found, (f, p), strict=True):
            if digits(value, text) != float(text):
                different[dataset, methods, name] = value
    # Eleven of the twelve agree in all printed digits; the paper's 7.17e-5 comes from RR before rounding.
    assert different == {("slake", "all", "p"): pytest.approx(7.18e-5, abs=5e-8)}
    assert len(anova_results()) == 6


LABELS = {
    "No fine-tuning": "No Finetuning", "Full fine-tuning": "Full Finetuning", "Prompt tuning": "Prompt Tuning",
    "Most frequent": "Most Frequent",
}  # fmt: skip


def as_printed(number, sign):
    """Base model (or "") and line: each row of a table, written out as the paper's text has it."""
    lines = {}
    for cells in raw(number):
        base, name = cells["base_model"], LABELS.get(cells["method"], cells["method"])
        if number == 22:
            strength = cells["test"].partition(" (")[0].partition(" ")[2].title()
            base, name = "", "Realistic Shift" if cells["test"].endswith(" shift") else f"{strength} Corruption"
        numbers = [
            f"{cells[key]} {sign} {cells[f'{key}_sd']}" if cells[f"{key}_sd"] else cells[key] or "-"
            for kind in ("closed", "open")
            for key in (f"{kind}_iid", f"{kind}_ood", f"{kind}_rr")
        ]
        lines.setdefault((base, name), []).extend(numbers)
    return [(base, " ".join([name, *numbers])) for (base, name), numbers in lines.items()]


def test_every_row_stands_in_the_paper(beside):
    """Each row of Tables 14 to 19 and 22 stands in its table of the paper's text, under its base model."""
    text = " ".join(beside("seeds/003_*.txt").read_text("utf-8").split())
    for number in (*TABLES, 22):
        after = "Refer to caption Figure" if number in (19, 22) else f"Table {number + 1}: "
        own = text.partition(f"Table {number}: ")[2].partition(after)[0]
        medical, _, non_medical = own.partition("(b) Results for the non-medical base model.")
        parts = {"": own if number == 22 else medical, BASES[0]: medical, BASES[1]: non_medical}
        sign = "\u00b1plus-or-minus\\pm\u00b1" if number == 22 else "+/-"
        lines = as_printed(number, sign)
        assert lines
        for base, line in lines:
            assert parts[base].count(line) == 1, (number, base, line)
