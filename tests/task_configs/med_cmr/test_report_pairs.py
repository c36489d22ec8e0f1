"""Base and fine-tuned models, by hand."""

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.task_configs.med_cmr.report_paper import compare_tuned_pairs, over_dimensions


@pytest.fixture
def models(write_cmr, read_models):
    """Runs of these models, read as a report does, by name."""
    return lambda **given: read_models(*(write_cmr(name, model=name, **own) for name, own in given.items()))


BASE = {"q1": "A", "q2": "B", "q3": "A", "q4": "D"}
TUNED = {"q1": "A", "q2": "C", "q3": "C", "q4": "D"}


def test_change_and_tests_over_questions(models):
    (pair,), lacking = compare_tuned_pairs([("base", "tuned")], models(base={"mcq": BASE}, tuned={"mcq": TUNED}))
    # Four right against two: -0.5. Two of four worse, none better: the sign test's p is 2 / 2^2.
    assert pair.changes[""]["change"].estimate == -0.5
    assert (pair.questions.n, pair.questions.up, pair.questions.down, pair.questions.sign_p) == (4, 0, 2, 0.5)
    # Two images with one question each that is worse, none better: the sign flip by image is the sign test.
    assert pair.p == pytest.approx(0.5)
    # Dimensions: SOD -0.5, FDD -1, CR 0.
    over = over_dimensions([pair], "mcq")
    assert (over.n, over.down) == (3, 2)
    assert lacking == ("base and tuned: not both were asked the open questions.",)


def test_questions_on_one_image_count_once(models):
    # q1 and q4 are on one image: their two changes are one sign. The sign test of the paper takes them as two.
    tuned = {"q1": "B", "q2": "B", "q3": "A", "q4": "A"}
    (pair,), _ = compare_tuned_pairs([("base", "tuned")], models(base={"mcq": BASE}, tuned={"mcq": tuned}))
    assert (pair.questions.down, pair.questions.sign_p, pair.images, pair.p) == (2, 0.5, 3, 1.0)


def test_questions_without_a_value_in_one_are_left_out(models):
    tuned = {"q1": "failed", "q2": "C", "q3": "A"}
    (pair,), _ = compare_tuned_pairs([("base", "tuned")], models(base={"mcq": BASE}, tuned={"mcq": tuned}))
    assert (pair.questions.n, pair.questions.down) == (2, 1)


def test_open_totals_and_dimensions_of_all_pairs(models):
    low, high = {"q1": "0000", "q4": "0000"}, {"q1": "5555", "q4": "?"}
    found = models(base={"open": low}, one={"open": high}, two={"open": high})
    both, _ = compare_tuned_pairs([("base", "one"), ("base", "two")], found)
    assert [pair.changes[""]["change"].estimate for pair in both] == [100, 100]
    # CR has no pair of values: only SOD of each pair is tested.
    over = over_dimensions(both, "open")
    assert (over.n, over.up) == (2, 2)


def test_name_that_is_none(models):
    found = models(base={"mcq": BASE}, tuned={"mcq": TUNED})
    with pytest.raises(UserError, match="'bse'.*base"):
        compare_tuned_pairs([("bse", "tuned")], found)
    with pytest.raises(UserError, match="the two are the same model"):
        compare_tuned_pairs([("base", "base")], found)
