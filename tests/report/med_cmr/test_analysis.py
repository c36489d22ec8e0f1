"""The numbers of a run small enough to work out by hand (conftest.py has its questions)."""

import pytest

from lmms_medtasks.report.med_cmr.analysis import analyse
from lmms_medtasks.report.med_cmr.reading import sources
from lmms_medtasks.samples import runs

# q1 and q3 right, q2 wrong, q4 unreadable.
REPLIES = {"q1": "A", "q2": "A", "q3": "A", "q4": "unreadable"}


@pytest.fixture
def analysed(write_cmr):
    def of(**given):
        (source,) = sources(runs.find([write_cmr(**given)]))
        return analyse(source, resamples=20)

    return of


def test_accuracy_overall_by_dimension_and_by_side(analysed):
    found = analysed(mcq=REPLIES).choice[True]
    # All: 2 of 4. SOD 1 of 2, FDD 1 of 1, CR 0 of 1. Visual: (0.5 + 1) / 2, reasoning: 0, the rest has no question.
    assert found.overall.mean.estimate == 0.5
    assert {name: group.mean.estimate for name, group in found.dimensions.items()} == {"SOD": 0.5, "FDD": 1, "CR": 0}
    assert (found.sides["visual"].mean.estimate, found.sides["reasoning"].mean.estimate) == (0.75, 0)
    assert found.sides["visual"].missing == ("SU",)
    assert (found.questions, found.images) == (4, 3)
    assert (found.replies.unreadable, found.replies.parse_rate) == (1, 0.75)
    assert found.tags["organ_system"]["Chest"].mean.n == 4


def test_failed_request_counts_as_nothing(analysed):
    found = analysed(mcq={"q1": "A", "q2": "failed"}).choice[True]
    assert (found.overall.mean.estimate, found.overall.mean.n, found.overall.unscored) == (1, 1, 1)
    assert (found.replies.failed, found.replies.requests, found.replies.unscored) == (1, 2, 1)


def test_letters(analysed):
    found = analysed(mcq=REPLIES).choice[True].letters
    # Right: A, B, A, D. Chosen: A three times. Accuracy where A is right 1, where B or D is 0, C is never.
    assert {name: (each.right, each.chosen) for name, each in found.each.items()} == {
        "A": (2, 3),
        "B": (1, 0),
        "C": (0, 0),
        "D": (1, 0),
    }
    assert found.unreadable == 1
    # Readable: q1 to q3, right A, B, A; chosen A, A, A: |1 - 2/3| / 2 + |0 - 1/3| / 2.
    assert found.distance == pytest.approx(1 / 3)
    assert found.spread is None


def test_circular(analysed):
    # Right letters: q1 A D C B, q2 B A D C, q4 D C B A. q1 is right everywhere, q2 twice, q4 once; q3 lacks a reply.
    found = analysed(circular={"q1": "ADCB", "q2": "BAAA", "q3": "AD-B", "q4": "AAAA"}).circular[True]
    assert (found.questions, found.complete) == (4, 3)
    assert found.circular.mean.estimate == pytest.approx(1 / 3)
    # Not rotated: q1 A and q2 B right, q4 A for D wrong. All copies: (4 + 2 + 1) / 12.
    assert found.plain.mean.estimate == pytest.approx(2 / 3)
    assert found.every.mean.estimate == pytest.approx(7 / 12)
    assert {name: group.mean.estimate for name, group in found.dimensions.items()} == {"SOD": 0.5, "CR": 0}


def test_open_scores_and_totals(analysed):
    # Totals: 5555 is 100; 5500 is 100 (5 + 5) / 50 = 20; a missing one lies between 0 and 100.
    found = analysed(open={"q1": "5555", "q2": "5500", "q3": "?", "q4": ""}).open[True]
    total = found.overall["total"]
    assert (total.mean.estimate, total.judged, total.wanted) == (60, 2, 3)
    assert (total.worst, total.best) == (40, pytest.approx(220 / 3))
    assert found.overall["consistency"].mean.estimate == 5
    assert found.overall["visual_accuracy"].mean.estimate == 2.5
    assert found.dimensions["SOD"]["total"].mean.estimate == 60
    assert found.dimensions["FDD"]["total"].mean.estimate is None
    assert (found.dimensions["FDD"]["total"].worst, found.dimensions["FDD"]["total"].best) == (0, 100)
    assert found.sides["visual"].mean.estimate == 60
    assert (found.replies.failed, found.replies.requests) == (1, 4)
    assert found.judging.coverage == pytest.approx(2 / 3)
    assert found.exact == 0.25


def test_empty_answer_is_worst_by_a_rule(analysed):
    found = analysed(open={"q1": "empty", "q2": "5555"}).open[True]
    assert found.overall["total"].mean.estimate == 50
    assert found.judging.statuses == {"exact": 1, "judged": 1}
    assert found.parts == {"empty": 1, "both": 1}


def test_without_the_image(analysed):
    # On q1 to q3, which both have a value for: 2/3 with, 1/3 without the image.
    found = analysed(mcq=REPLIES, mcq_noimage={"q1": "A", "q2": "A", "q3": "B", "q4": "failed"}).without_image["mcq"]
    change = found.changes[""]
    assert (change.after.estimate, change.before.estimate) == (pytest.approx(2 / 3), pytest.approx(1 / 3))
    assert (change.change.estimate, change.after.n) == (pytest.approx(1 / 3), 3)
    assert found.changes["SOD"].change.estimate == 0
    assert found.changes["FDD"].change.estimate == 1


def test_open_without_the_image(analysed):
    found = analysed(open={"q1": "5555", "q2": "?"}, open_noimage={"q1": "5500", "q2": "5555"}).without_image["open"]
    assert (found.changes[""].change.estimate, found.changes[""].after.n) == (80, 1)
