"""Contributions of images: means to the last bit as plain sums have them, other numbers by hand and by leaving out."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lmms_medtasks.errors import UserError
from lmms_medtasks.samples.table import QuestionTable
from lmms_medtasks.seeding import seeded_generator
from lmms_medtasks.statistics import reliability
from lmms_medtasks.statistics.intervals import ALIKE, FEW, FEW_IN_GROUP
from lmms_medtasks.statistics.non_inferiority import margin_test
from lmms_medtasks.statistics.sign_flip import sign_flip
from lmms_medtasks.statistics.sums import (
    DifferenceOf,
    SumStatistic,
    make_scored_group,
    make_sum_group,
    mean,
    mean_of_column,
    mean_statistic,
)
from lmms_medtasks.suites.contributions import image_contributions, paired_change
from lmms_medtasks.suites.estimates import Contrast, Custom, Draw, Fraction, Macro, MacroContrast, Mean, Units

IDS = [f"q{number:02d}" for number in range(14)]
IMAGES = {name: f"i{number // 3}" for number, name in enumerate(IDS)}
SHARES = (0.0, 1.0, 0.5, 1 / 3, 2 / 3)


def table(scores, images=IMAGES, **tags):
    """A model's table, made anew each time: question -> score (None: a failure); tags: question -> value."""
    rows = [
        {"id": name, "cluster": images[name], "accuracy.score": score, "accuracy.asked": True,
         "trials": ["failed" if score is None else "A"], **{tag: values[name] for tag, values in tags.items()}}
        for name, score in sorted(scores.items())
    ]  # fmt: skip
    return lambda: QuestionTable.of_rows(rows)


def by_rows(*rows, **measures):
    """Tables of two models, or more: (image, tags, score of each model)."""
    names = [f"r{number}" for number in range(len(rows))]
    images = dict(zip(names, (image for image, _, *_ in rows), strict=True))
    tags = {tag: {name: own[tag] for name, (_, own, *_) in zip(names, rows, strict=True)} for tag in rows[0][1]}
    scores = zip(*(own for _, _, *own in rows), strict=True)
    return [table(dict(zip(names, each, strict=True)), images, **tags) for each in scores]


def models(count, scores):
    """Strategy: what each of some models was asked, and its scores; failures among them."""
    return st.lists(st.dictionaries(st.sampled_from(IDS), st.sampled_from((None, *scores)), min_size=1),
                    min_size=count, max_size=count)  # fmt: skip


def common(*scores):
    return sorted(set.intersection(*({name for name, score in each.items() if score is not None} for each in scores)))


def by_image(names, values):
    codes = np.unique([IMAGES[name] for name in names], return_inverse=True)[1]
    return np.bincount(codes, values), np.bincount(codes)


# --- means: to the last bit what plain sums give ---


@pytest.mark.parametrize(("scores", "bounds"), [(SHARES, (0.0, 1.0)), ((1.0, 2.0, 3.5, 4.0, 5.0), (1.0, 5.0))])
def test_a_change_of_means_is_that_of_plain_sums(scores, bounds):
    @given(models(2, scores))
    @example([dict.fromkeys(IDS, scores[1]), dict.fromkeys(IDS, scores[3])])
    def check(made):
        one, other = made
        found = paired_change(table(one), table(other), Mean(bounds=bounds))
        names = common(one, other)
        if not names:
            assert (found.first, found.second, found.p, found.contributions) == (None, None, None, None)
            return
        sums, counts = by_image(names, [other[name] - one[name] for name in names])
        assert np.array_equal(found.sums, sums) and np.array_equal(found.contributions.sizes, counts)
        assert found.p == sign_flip(sums)
        sides = [{"id": name, "cluster": IMAGES[name], "side": side, "accuracy.score": each[name],
                  "accuracy.asked": True} for side, each in enumerate(made) for name in names]  # fmt: skip
        contrast = Contrast(first={"side": 0}, second={"side": 1}, pair=("id",), bounds=bounds)
        expected = contrast.of(QuestionTable.of_rows(sides))
        assert (found.first, found.second) == (expected["first"].estimate, expected["second"].estimate)
        for each in ("estimate", "low", "high", "standard_error", "reason"):
            assert getattr(found.interval, each) == getattr(expected["change"], each)
        width = bounds[1] - bounds[0]
        tests = [margin_test(-each, weights, 0.02 * width, width)
                 for each, weights in ((sums, counts), (found.sums, found.contributions.sizes))]  # fmt: skip
        assert tests[0] == tests[1]

    check()


@given(models(4, SHARES))
def test_ranks_are_of_rounded_scores_summed_by_image(made):
    found = image_contributions([table(each) for each in made], Mean())
    names = common(*made)
    if not names:
        assert found is None
        return
    sums = [by_image(names, np.round([each[name] for name in names], 9))[0] for each in made]
    assert np.array_equal(found.sums, np.stack(sums, axis=1))
    assert np.array_equal(found.sizes, by_image(names, None)[1])
    assert (found.linear, found.rows) == (True, len(names))
    assert found.clusters.tolist() == sorted({IMAGES[name] for name in names})


# --- linear numbers, by hand ---


def pairs_of_rows(rows):
    """A unit of each two rows: whether both scores are the same."""
    found, images = rows.column("accuracy.score").tolist(), rows.column("cluster").tolist()
    return [(images[row], float(found[row] == found[row + 1])) for row in range(0, len(rows), 2)]


def mean_of_sides(rows):
    """A quarter of the first side's mean and three of the second's."""
    sides = (rows.where({"s": side}) for side in (0, 1))
    groups = {str(side): make_scored_group(tuple(each.column("cluster")), each.column("accuracy.score"))
              for side, each in enumerate(sides)}  # fmt: skip
    # A group that the number is not of differs between models, and does no harm.
    groups["other"] = make_scored_group(
        ("a",), [rows.column("accuracy.score")[0]], cells=rows.column("accuracy.score")[:1], cell_count=2
    )
    return Draw(groups, {"mean": SumStatistic(lambda one, two: 0.25 * mean(one) + 0.75 * mean(two), ("0", "1"))})


def difference_of_columns(rows):
    return Draw(
        {"": make_sum_group(tuple(rows.column("cluster")), rows.column("accuracy.score"), np.ones(len(rows)))},
        {"mean": DifferenceOf(mean_of_column(1), mean_statistic("", (0.0, 1.0)))},
    )


SIDES = tuple(tuple({"g": name, "s": side} for name in "xy") for side in (0, 1))


@pytest.mark.parametrize(
    ("rows", "estimate", "images", "sums", "sizes"),
    [
        # (1/2 + 1) / 2. Three rows: one of x has the weight 3 / 2 / 2, the one of y 3 / 2.
        ([("a", {"g": "x"}, 1.0, 0.0), ("b", {"g": "x"}, 0.0, 1.0), ("b", {"g": "y"}, 1.0, 1.0)],
         Macro(by="g"), "ab", [0.75, 1.5], [0.75, 2.25]),
        # 2/3 - 1/2. Five rows: -5/2 for each before, 5/3 for each after. Their sizes add up to 10, so they are halved.
        ([("a", {"s": 0}, 1.0, 1.0), ("b", {"s": 0}, 0.0, 1.0), ("a", {"s": 1}, 0.0, 1.0), ("b", {"s": 1}, 1.0, 0.0),
          ("c", {"s": 1}, 1.0, 0.0)],
         Contrast(first={"s": 0}, second={"s": 1}), "abc", [-5 / 2, 5 / 3, 5 / 3],
         [(5 / 2 + 5 / 3) / 2, (5 / 2 + 5 / 3) / 2, 5 / 6]),
        # Pairs 1 (image a of the first) and 2: rows count 4 / 2 a side, d has no partner.
        ([("a", {"s": 0, "pair": 1}, 1.0, 1.0), ("b", {"s": 0, "pair": 2}, 0.0, 0.0),
          ("c", {"s": 1, "pair": 1}, 0.0, 1.0), ("b", {"s": 1, "pair": 2}, 1.0, 1.0),
          ("d", {"s": 1, "pair": 3}, 1.0, 1.0)],
         Contrast(first={"s": 0}, second={"s": 1}, pair=("pair",)), "ab", [-2.0, 2.0], [2.0, 2.0]),
        # (1/2 + 3/4) / 2 - (1 + 0) / 2. Five rows: before -5/2 each, after x 5/2, y 5/4 each.
        ([("a", SIDES[0][0], 1.0, 0.0), ("b", SIDES[0][1], 0.0, 1.0), ("a", SIDES[1][0], 0.5, 0.5),
          ("b", SIDES[1][1], 1.0, 0.0), ("c", SIDES[1][1], 0.5, 0.5)],
         MacroContrast(first=SIDES[0], second=SIDES[1]), "abc", [-2.5 + 1.25, 1.25, 0.625], [2.5, 1.875, 0.625]),
        ([("a", {}, 1.0, 1.0), ("a", {}, 1.0, 0.0), ("b", {}, 1.0, 0.0), ("b", {}, 0.0, 0.0)],
         Units(units=pairs_of_rows), "ab", [1.0, 0.0], [1.0, 1.0]),
        # 1/4 of 1 and 3/4 of 1/2. Three rows: 3/4, and 9/8 each.
        ([("a", {"s": 0}, 1.0, 0.0), ("b", {"s": 1}, 1.0, 1.0), ("a", {"s": 1}, 0.0, 1.0)],
         Custom(function=mean_of_sides), "ab", [3 / 4, 9 / 8], [3 / 4 + 9 / 8, 9 / 8]),
        # The share that is not right; each row has both columns' weights, so a size is not 1 a row but their mean.
        ([("a", {}, 1.0), ("a", {}, 0.0), ("b", {}, 0.0)], Custom(function=difference_of_columns), "ab", [1.0, 1.0],
         [2.0, 1.0]),
    ],
    ids=["macro", "contrast", "contrast of pairs", "macro contrast", "units", "custom", "difference of columns"],
)  # fmt: skip
def test_linear_numbers_by_hand(rows, estimate, images, sums, sizes):
    tables = by_rows(*rows)
    found = image_contributions(tables, estimate)
    assert found.linear and found.clusters.tolist() == [*images]
    assert found.sums[:, 0] == pytest.approx(sums) and found.sizes == pytest.approx(sizes)
    values = [estimate.value(make()) for make in tables]
    assert found.sums.sum(axis=0) / found.sizes.sum() == pytest.approx(values)
    assert found.rows == pytest.approx(found.sizes.sum())
    if len(tables) == 2:
        apart = paired_change(*tables, estimate)
        assert apart.interval.estimate == pytest.approx(values[1] - values[0])
        assert apart.sums.sum() / found.rows == pytest.approx(values[1] - values[0])


@given(models(3, SHARES))
def test_linear_contributions_add_up_to_the_values(made):
    side = {name: number % 2 for number, name in enumerate(IDS)}
    names = common(*made)
    kept = [{name: score for name, score in each.items() if name in names} for each in made]
    for estimate in (Macro(by="side"), Contrast(first={"side": 0}, second={"side": 1})):
        found = image_contributions([table(each, side=side) for each in made], estimate)
        values = [estimate.value(table(each, side=side)()) for each in kept]
        if found is None:
            assert None in values
        else:
            assert found.linear and found.sums.sum(axis=0) / found.sizes.sum() == pytest.approx(values, abs=1e-8)


# --- smooth numbers, against leaving images out ---


def said(rows):
    """Predicted positive: a score of 1 of what is so, of 0 of what is not."""
    return rows.column("truth").astype(bool) == (rows.column("accuracy.score") == 1)


F1 = Fraction(
    top=lambda rows: 2.0 * (said(rows) & rows.column("truth").astype(bool)),
    bottom=lambda rows: 1.0 * said(rows) + rows.column("truth").astype(float),
)


def calibration(rows):
    sure = rows.column("sure").astype(float)
    cells = np.minimum((10 * sure).astype(int), 9)
    bins = make_sum_group(
        tuple(rows.column("cluster")), sure, rows.column("accuracy.score"), cells=cells, cell_count=10
    )
    return Draw({"bins": bins}, {"ece": SumStatistic(reliability.ece, ("bins",), (0.0, 1.0), mean=False)})


ECE = Custom(main="ece", function=calibration)


def answers(seed, images=9, count=2):
    """Tables of models on two questions an image."""
    rng = seeded_generator("test", "contributions", seed)
    rows = ((f"i{row // 2}", {"truth": row % 3 == 0, "side": row % 2, "sure": float(rng.random())},
             *map(float, rng.random(count) < 0.6)) for row in range(2 * images))  # fmt: skip
    return by_rows(*rows)


def left_out(make, estimate, images):
    """(k,) values without each image, and the value."""
    rows = make()
    own = rows.column("cluster")
    return np.array([estimate.value(rows.take(own != image)) for image in images]), estimate.value(rows)


@pytest.mark.parametrize("estimate", [F1, ECE], ids=["F1", "ECE"])
def test_pseudo_values_are_those_of_leaving_each_image_out(estimate):
    tables = answers(1)
    found = image_contributions(tables, estimate)
    assert not found.linear and len(found.clusters) == 9
    for model, make in enumerate(tables):
        without, value = left_out(make, estimate, found.clusters)
        pseudo = found.sums[:, model] / found.sizes
        assert pseudo == pytest.approx(value + 8 * (without.mean() - without))
        assert pseudo.mean() == pytest.approx(value)
    change = paired_change(*tables, estimate)
    assert change.p == sign_flip(found.sums[:, 1] - found.sums[:, 0])
    assert change.interval.estimate == pytest.approx(change.second - change.first)


def test_pseudo_values_of_a_ratio_are_to_first_order():
    tables = answers(2)
    found = image_contributions(tables, Contrast(main="ratio", first={"side": 0}, second={"side": 1}, ratio=True))
    for model, make in enumerate(tables):
        (below, b), (above, a) = (left_out(make, Mean({"side": side}), found.clusters) for side in (0, 1))
        # d(a/b) = (da - a/b db) / b
        deviations = (above.mean() - above - a / b * (below.mean() - below)) / b
        assert found.sums[:, model] / found.sizes == pytest.approx(a / b + 8 * deviations)


def items(rows):
    """An image's mean is a unit; without a value where the first of its two rows is wrong."""
    found = dict(zip(rows.column("cluster"), rows.column("accuracy.score"), strict=True))
    first = dict(reversed(list(zip(rows.column("cluster"), rows.column("accuracy.score"), strict=True))))
    return [(image, None if first[image] == 0 else score) for image, score in found.items()]


def test_units_without_a_value_in_one_model_leave_the_others_weight():
    tables = answers(3, images=20)
    found = image_contributions(tables, Units(units=items))
    known = [{image: value for image, value in items(make()) if value is not None} for make in tables]
    assert known[0].keys() != known[1].keys() and not found.linear
    for model, own in enumerate(known):
        values = np.array(list(own.values()))
        without = (values.sum() - values) / (len(values) - 1)
        changed = dict(zip(own, without.mean() - without, strict=True))
        # The jackknife over all images, though this model has a value on some: the others change nothing.
        every = len(found.clusters) - 1
        expected = [values.mean() + every * changed.get(image, 0.0) for image in found.clusters]
        assert found.sums[:, model] / found.sizes == pytest.approx(expected)
    assert found.sums.sum(axis=0) / found.sizes.sum() == pytest.approx([np.mean(list(own.values())) for own in known])


# --- what a statistician expects ---


def test_failed_trials_count_by_those_that_came_and_a_failed_question_in_neither_model():
    # Of q00 one of three trials failed (1 of 2 right), of q03 all: it is left out of both.
    one = {"q00": 0.5, "q03": None, "q06": 1.0, "q09": 0.0}
    other = {"q00": 2 / 3, "q03": 1.0, "q06": 0.0, "q09": 1.0}
    found = paired_change(table(one), table(other), Mean())
    assert (found.first, found.second) == (0.5, pytest.approx(5 / 9)) and found.contributions.rows == 3
    assert found.sums == pytest.approx([1 / 6, -1, 1])
    assert image_contributions([table(one)], Mean()).rows == 3  # alone it is judged by its own questions


def test_a_failed_question_is_left_out_of_numbers_that_name_no_measure():
    scores = dict.fromkeys(IDS, 1.0)
    failed, none = {**scores, "q00": None}, dict.fromkeys(IDS)
    fraction = Fraction(top=lambda rows: np.ones(len(rows)))
    assert image_contributions([table(scores), table(failed)], fraction).rows == len(IDS) - 1
    # A model without any score of a measure says nothing of it: the number is of something else.
    assert image_contributions([table(scores), table(none)], fraction).rows == len(IDS)


def test_a_reply_that_can_not_be_read_counts_in_numbers_that_name_no_measure():
    # A measure that says nothing of it must not take the question, a wrong one, out of another number.
    scores, other = dict.fromkeys(IDS, 1.0), dict.fromkeys(IDS)
    asked = {"false_alarm.asked": {**other, "q00": True, "q01": True}}
    says = [{**asked, "false_alarm.score": {**other, "q01": 0.0, **own}} for own in ({"q00": 0.0}, {})]
    right = Fraction(top=lambda rows: rows.column("accuracy.score"), bottom=lambda rows: np.ones(len(rows)))
    found = paired_change(table(scores, **says[0]), table({**scores, "q00": 0.0}, **says[1]), right)
    assert (found.first, found.second, found.contributions.rows) == (1.0, pytest.approx(13 / 14), 14)


def test_groups_of_one_or_two_images_have_a_test_and_no_interval():
    rows = [(f"i{row}", {"g": "small" if row < 2 else "large"}, 0.0, 1.0) for row in range(8)]
    found = paired_change(*by_rows(*rows), Macro(by="g"))
    # All eight images in one direction: 2 of 2^8 assignments of signs.
    assert (found.interval.estimate, found.interval.low, found.interval.reason) == (1.0, None, FEW_IN_GROUP)
    assert found.p == pytest.approx(2 / 2**8)
    assert found.sums == pytest.approx([8 / 4] * 2 + [8 / 12] * 6)


def test_one_image_shows_nothing():
    linear, smooth = (paired_change(*by_rows(*[("i", {"truth": True}, 0.0, 1.0)] * 3), each) for each in (Mean(), F1))
    assert (linear.p, linear.interval.estimate, linear.interval.reason) == (1.0, 1.0, FEW)
    assert (smooth.p, smooth.first, smooth.second, smooth.contributions.reason) == (None, 0.0, 1.0, FEW)
    assert smooth.contributions.sums.shape == (0, 2)


@pytest.mark.parametrize("estimate", [Mean(), Macro(by="side"), F1, ECE])
def test_models_that_are_equal_are_not_told_apart(estimate):
    tables = [answers(4)[0]] * 2
    found = paired_change(*tables, estimate)
    assert (found.p, found.interval.estimate) == (1.0, 0.0) and not found.sums.any()
    assert found.interval.reason == ALIKE or found.interval.low <= 0 <= found.interval.high


def test_no_common_question_is_no_number():
    found = paired_change(table({"q00": 1.0}), table({"q01": 1.0}), Mean())
    assert (found.first, found.second, found.p, found.interval.estimate, len(found.sums)) == (None,) * 4 + (0,)
    assert image_contributions([table({"q00": 1.0}), table({"q01": 1.0})], Macro(by="g")) is None


def test_the_number_of_a_model_stands_though_the_other_has_none():
    tables = by_rows(*((f"i{row}", {"truth": False}, 1.0, float(row > 0)) for row in range(9)))
    # The first says "no" to all of what is not so: nothing to be found, and nothing said.
    found = paired_change(*tables, F1)
    assert (found.first, found.second, found.contributions, found.p) == (None, 0.0, None, None)


def test_the_range_of_a_change_is_of_both_models():
    tables = by_rows(*((f"i{row}", {}, 1.0, -1.0) for row in range(9)))
    found = paired_change(*tables, Mean()).interval
    assert found.estimate == -2 and -2 <= found.low < found.high < -1


@pytest.mark.parametrize(
    ("function", "made"),
    [
        (lambda sums: mean(sums) ** 2, r"They give \S+, its value is 0\.25\."),
        (lambda sums: 1 - mean(sums), r"its value is 0\.5\."),
        (lambda sums: sums[..., 1].sum(-1) / sums[..., 1].sum(-1), r"They give nan, its value is 1\."),
    ],
)
def test_a_number_that_is_not_linear_though_it_says_so_is_told(function, made):
    def draw(rows):
        return Draw({"": make_scored_group(tuple(rows.column("cluster")), rows.column("accuracy.score"))},
                    {"mean": SumStatistic(function, ("",), mean=True)})  # fmt: skip

    tables = by_rows(*((f"i{row}", {}, row % 2, row % 2) for row in range(4)))
    with pytest.raises(UserError, match="'my_number' says that it is linear .*" + made):
        image_contributions(tables, Custom(function=draw), "my_number")
