"""The gate of main metrics of every kind: by image, smooth ones never "not worse", none lost without a word."""

from dataclasses import replace

import pytest

from lmms_medtasks.board.comparison.compared_entries import PairedScores
from lmms_medtasks.board.comparison.gate import GateVerdict, _decide_verdicts, _with_test_numbers, read_rules, run_gate
from lmms_medtasks.samples.table import QuestionTable
from lmms_medtasks.suites.contributions import paired_change
from lmms_medtasks.suites.estimates import Units
from lmms_medtasks.suites.suite import Measure
from tests.board.comparison.test_gate import gate_lines, markdown
from tests.board.made_up_entries import of_every_kind, sides


def test_a_main_metric_that_is_no_mean_is_tested_by_image_and_a_smooth_one_is_never_shown_to_be_not_worse():
    """60 images; B loses one hard question, and its easy ones are as before."""
    one, other = of_every_kind("a", "1" * 60, "10" * 30), of_every_kind("b", "1" * 60, "10" * 29 + "00")
    found = run_gate(*sides(one, other), replace(read_rules(margin=0.2), correction="none"))
    by_name = {each.measure: each for each in found.verdicts}
    drop, robust = by_name["drop"], by_name["robust"]
    # A change is from -1 to 1: a fifth of its scale is 0.4. Fewer is better: the loss of one of 60 raises it.
    assert (drop.margin, by_name["accuracy"].margin, robust.margin) == (0.4, 0.2, 0.2)
    assert (drop.outcome, drop.test.drop, drop.test.clusters) == ("not worse", pytest.approx(1 / 60), 60)
    assert 1 / 60 < drop.most < 0.4
    told = {name for name, each in by_name.items() if each.outcome == "can't tell"}
    assert told == {"robust", "ece", "precision"}
    # What no test can show warns, and keeps no gate undecided.
    assert {by_name[name].effect for name in told} == {"warn"} and found.decision == "passed"
    assert (robust.test.not_worse_p, robust.most, robust.test.worse_p) == (None, None, pytest.approx(1.0))
    assert robust.detail.startswith("No test shows “not worse” of a number that is no sum over images")
    assert {each.outcome for name, each in by_name.items() if name not in told} == {"not worse"}
    rows = {
        line.split(" | ")[1].rpartition(" ")[2].replace("\\", ""): line.split(" | ")
        for line in markdown(found).splitlines()
        if "| made" in line
    }
    assert [rows["accuracy"][place] for place in (3, 4)] == ["60", "120"]
    assert [rows["drop"][place] for place in (3, 4, 5, 9)] == ["60", "–", "50.0", "40.0 points"]
    assert [rows["robust"][place] for place in (3, 4, 8, 13)] == ["60", "–", "–", "–"]
    screen = list(gate_lines(found))
    for text in (" ".join(screen), markdown(found)):
        assert "twice as wide as that of a share" in " ".join(text.split())
    assert max(map(len, screen)) <= 100


def test_a_main_metric_that_the_baseline_has_no_number_of_is_not_tested_and_said():
    one, other = (of_every_kind(name, "1" * 8, "10" * 4) for name in "ab")
    without = replace(one, metrics=tuple(name for name in one.metrics if name != "balanced"))
    found = run_gate(*sides(without, other), read_rules())
    (balanced,) = [each for each in found.verdicts if each.measure == "balanced"]
    assert (balanced.outcome, balanced.effect, balanced.detail) == ("not tested", "warn", "The baseline has no score.")


def test_a_number_without_a_test_says_why():
    """Four images: a ratio has no jackknife of them; its numbers stand there all the same."""
    both = (of_every_kind("a", "1111", "1010"), of_every_kind("b", "1110", "1000"))
    found = run_gate(*sides(*both), read_rules())
    (robust,) = [each for each in found.verdicts if each.measure == "robust"]
    assert (robust.outcome, robust.test, robust.detail) == ("can't tell", None, "No test: fewer than 5 images.")
    assert (robust.baseline, robust.candidate) == pytest.approx((0.5, 1 / 3))


def test_a_unit_that_loses_its_value_keeps_a_gate_undecided():
    """Else a candidate could leave one reply unreadable, and be warned of in place of tested."""
    agree = Units(units=lambda rows: list(zip(rows.column("cluster"), rows.column("agrees"), strict=True)))

    def table(*agrees):
        return lambda: QuestionTable.of_rows(
            {"id": f"q{row:02}", "cluster": f"i{row:02}", "agrees": each} for row, each in enumerate(agrees)
        )

    rule = replace(read_rules().of("task", "agree"), min_images=5, on_cannot_tell="fail")
    base = GateVerdict(task="task", measure="agree", model="model", scale=Measure("agree"), rule=rule)
    change = paired_change(table(*[1.0] * 12), table(None, *[1.0] * 9, 0.0, 0.0), agree)
    images, (before, after) = change.contributions.clusters, change.contributions.sums.T
    (found,) = _decide_verdicts(
        [_with_test_numbers(base, PairedScores(False, images, images, before, after, change))], "none"
    )
    assert (found.outcome, found.effect, found.test.not_worse_p) == ("can't tell", "undecided", None)
    assert found.detail.startswith("No test shows “not worse” where the two have not the same units")
    contributions = replace(change.contributions, other_rows=False)
    of_all = replace(found.pairs, change=replace(change, contributions=contributions))
    smooth = replace(found, pairs=of_all, effect="ignore", detail="")
    (warned,) = _decide_verdicts([smooth], "none")
    assert warned.effect == "warn" and "no sum over images" in warned.detail
