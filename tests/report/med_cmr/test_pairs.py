"""Base and fine-tuned models, by hand."""

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.report.med_cmr.analysis import analyse
from lmms_medtasks.report.med_cmr.pairs import pairs
from lmms_medtasks.report.med_cmr.reading import sources
from lmms_medtasks.samples import runs


@pytest.fixture
def analyses(write_cmr):
    def of(**models):
        folders = [write_cmr(name, model=name, **given) for name, given in models.items()]
        return {source.model: analyse(source, resamples=0) for source in sources(runs.find(folders))}

    return of


BASE = {"q1": "A", "q2": "B", "q3": "A", "q4": "D"}
TUNED = {"q1": "A", "q2": "C", "q3": "C", "q4": "D"}


def test_change_and_tests_over_questions(analyses):
    found = pairs([("base", "tuned")], analyses(base={"mcq": BASE}, tuned={"mcq": TUNED}), resamples=0)
    (pair,) = found.tuned
    # Four right against two: -0.5. Two of four worse, none better: the sign test's p is 2 / 2^2.
    assert pair.changes[""].change.estimate == -0.5
    assert (pair.questions.n, pair.questions.up, pair.questions.down, pair.questions.sign_p) == (4, 0, 2, 0.5)
    # Dimensions: SOD -0.5, FDD -1, CR 0.
    assert (found.dimensions["mcq"].n, found.dimensions["mcq"].down) == (3, 2)
    assert found.lacking == ("base and tuned: not both were asked the open questions.",)


def test_questions_without_a_value_in_one_are_left_out(analyses):
    tuned = {"q1": "failed", "q2": "C", "q3": "A"}
    found = pairs([("base", "tuned")], analyses(base={"mcq": BASE}, tuned={"mcq": tuned}), resamples=0)
    assert (found.tuned[0].questions.n, found.tuned[0].questions.down) == (2, 1)


def test_open_totals_and_dimensions_of_all_pairs(analyses):
    low, high = {"q1": "0000", "q4": "0000"}, {"q1": "5555", "q4": "?"}
    models = analyses(base={"open": low}, one={"open": high}, two={"open": high})
    found = pairs([("base", "one"), ("base", "two")], models, resamples=0)
    assert [pair.changes[""].change.estimate for pair in found.tuned] == [100, 100]
    # CR has no pair of values: only SOD of each pair is tested.
    assert (found.dimensions["open"].n, found.dimensions["open"].up) == (2, 2)


def test_name_that_is_none(analyses):
    models = analyses(base={"mcq": BASE}, tuned={"mcq": TUNED})
    with pytest.raises(UserError, match="'bse'.*base"):
        pairs([("bse", "tuned")], models, resamples=0)
    with pytest.raises(UserError, match="the two are the same model"):
        pairs([("base", "base")], models, resamples=0)
