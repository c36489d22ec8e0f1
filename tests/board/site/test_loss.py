"""What is lost from one task to another: against hand-worked means, and narrower where the images are the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_medtasks.board.site.finding_words import estimate_loss
from tests.board.made_up_entries import ERRORS, MadeUpEntry, made_up_entry, of_every_kind, right_and_wrong


def asked(letters: str, *, images: int | None = None, begin: str = "image") -> MadeUpEntry:
    scores = right_and_wrong(letters)
    clusters = {id: f"{begin} {number % (images or len(letters))}" for number, id in enumerate(scores)}
    return made_up_entry("m", scores, clusters=clusters)


def test_the_loss_is_the_first_mean_less_the_second() -> None:
    # 8 of 10 less 3 of 6 is 0.3.
    found = estimate_loss(asked("1" * 8 + "00"), "accuracy", asked("111000"), "accuracy")
    assert found.estimate == pytest.approx(0.3) and found.n == 16
    assert found.low is not None and found.high is not None and found.low < 0.3 < found.high


def test_questions_without_a_score_do_not_count() -> None:
    found = estimate_loss(asked("1111--0---"), "accuracy", asked("1-0-0-0-1-0-"), "accuracy")
    # 4 of 5 less 2 of 6.
    assert found.estimate == pytest.approx(0.8 - 1 / 3) and found.n == 11


def test_the_same_images_make_the_interval_narrower() -> None:
    good, bad = "1" * 30 + "0" * 10, "1" * 20 + "0" * 20
    same = estimate_loss(asked(good), "accuracy", asked(bad), "accuracy")
    other = estimate_loss(asked(good), "accuracy", asked(bad, begin="another image"), "accuracy")
    assert same.estimate == other.estimate == pytest.approx(0.25)
    assert None not in (same.low, same.high, other.low, other.high)
    assert same.high - same.low < other.high - other.low  # type: ignore[operator]
    assert (same.clusters, other.clusters) == (40, 80)


def test_errors_that_grow_are_a_loss_below_zero() -> None:
    """The number is as the measure counts, whichever direction is better."""
    few, many = (made_up_entry("m", {ERRORS: {f"q{n}": float(n < count) for n in range(10)}}) for count in (2, 7))
    assert estimate_loss(few, "errors", many, "errors").estimate == pytest.approx(-0.5)


@pytest.mark.parametrize("images", [1, 4])
def test_fewer_than_five_images_have_a_loss_and_no_interval(images: int) -> None:
    found = estimate_loss(asked("1111" * 5, images=images), "accuracy", asked("1100" * 5, images=images), "accuracy")
    assert (found.estimate, found.low, found.high) == (0.5, None, None)


def test_without_a_score_there_is_no_loss() -> None:
    found = estimate_loss(asked("11"), "accuracy", asked("--"), "accuracy")
    assert (found.estimate, found.low, found.high) == (None, None, None)


@given(*(st.text("01", min_size=6, max_size=20) for _ in range(2)))
def test_the_loss_the_other_way_round_is_the_same_with_the_other_sign(one: str, other: str) -> None:
    first, second = asked(one), asked(other)
    there, back = (
        estimate_loss(first, "accuracy", second, "accuracy"),
        estimate_loss(second, "accuracy", first, "accuracy"),
    )
    assert there.estimate == pytest.approx(one.count("1") / len(one) - other.count("1") / len(other))
    assert back.estimate == pytest.approx(-there.estimate)
    if there.low is not None and there.high is not None:
        assert (back.low, back.high) == (pytest.approx(-there.high), pytest.approx(-there.low))
        assert -1 <= there.low <= there.estimate <= there.high <= 1


def test_a_loss_of_any_two_numbers_is_their_difference() -> None:
    """Drops of 1/2 and 1; a ratio of 1/2 less a drop of 1."""
    half, whole = (of_every_kind("m", "1" * 8, hard) for hard in ("10" * 4, "0" * 8))
    found = estimate_loss(half, "drop", whole, "drop")
    assert found.estimate == pytest.approx(-0.5) and found.low is not None and found.low < -0.5
    assert estimate_loss(half, "robust", whole, "drop").estimate == pytest.approx(-0.5)
    assert estimate_loss(half, "drop", of_every_kind("m", "1", "-"), "drop").estimate is None
