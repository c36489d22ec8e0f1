"""Equation 6 by hand, its correlations against scipy, and what models that are all alike show."""

import itertools

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from lmms_medtasks.errors import UserError
from lmms_medtasks.seeding import generator
from lmms_medtasks.statistics.inter_model import equation_6, inter_model_dkes
from lmms_medtasks.statistics.votes import votes


def test_equation_6_by_hand():
    # Pairs with different accuracy: x-y, x-z, x-w, y-w, z-w (y and z are equal). The worse has the higher shift in
    # x-y (0.3 > 0.2), x-w (0.4 > 0.2), y-w (0.4 > 0.3), z-w (0.4 > 0.2), not in x-z (0.2 is not higher than 0.2).
    accuracy = {"x": 0.7, "y": 0.5, "z": 0.5, "w": 0.3, "only accuracy": 0.9, "no value": None}
    shift = {"x": 0.2, "y": 0.3, "z": 0.2, "w": 0.4, "only shift": 0.1, "no value": 0.5}
    found = equation_6(accuracy, shift)
    assert (found.pairs, found.fulfilled, found.share) == (5, 4, 0.8)
    # Ranks 4, 2.5, 2.5, 1 and 1.5, 3, 1.5, 4: deviations 1.5, 0, 0, -1.5 and -1, 0.5, -1, 1.5:
    # (-1.5 - 2.25) / sqrt(4.5 * 4.5).
    assert found.spearman == pytest.approx(-3.75 / 4.5)
    assert found.models == ("w", "x", "y", "z")


# Few distinct figures, so that there are ties.
FIGURES = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=9)


@settings(max_examples=100, deadline=None)
@given(FIGURES)
def test_correlations_are_scipys_and_pairs_the_written_out_ones(rows):
    one, other = np.array(rows).T
    found = equation_6(*({f"m{number}": value / 7 for number, value in enumerate(each)} for each in (one, other)))
    if len(set(one)) > 1 and len(set(other)) > 1:
        assert found.spearman == pytest.approx(scipy.stats.spearmanr(one, other).statistic)
    else:
        assert found.spearman is None
    unequal = [sorted(pair) for pair in itertools.combinations(rows, 2) if pair[0][0] != pair[1][0]]
    assert found.pairs == len(unequal)
    assert found.fulfilled == sum(worse[1] > better[1] for worse, better in unequal)


@pytest.mark.parametrize("figures", [{}, {"x": 0.5}, {"x": 0.5, "y": None}, {"x": 0.5, "y": 0.5}])
def test_no_pairs_is_none(figures):
    found = equation_6(figures, figures)
    assert (found.pairs, found.share, found.spearman) == (0, None, None)


def test_models_of_the_same_confidence_fulfil_it_by_arithmetic():
    accuracy = {"x": 0.1, "y": 0.2, "z": 0.3 + 1e-16}
    found = equation_6(accuracy, {name: 0.8 - value for name, value in accuracy.items()})
    assert (found.share, found.spearman) == (1, pytest.approx(-1))


@pytest.fixture
def models(question):
    """Tables of models whose replies are drawn with the chances that ``chances(number, rng)`` gives: (n, options)."""

    def build(count, chances, *, questions=60, on_image=1, trials=10, seed="models"):
        rng = generator("test", seed)
        tables = {}
        for number in range(count):
            rows = chances(number, rng)
            records = [
                question("".join(rng.choice(list("ABCD"), trials, p=row)), id=f"{place:03d}",
                         image_id=f"image {place // on_image}")
                for place, row in enumerate(rows)
            ]  # fmt: skip
            tables[f"m{number:02d}"] = votes(records[:questions])
        return tables

    return build


def alike(questions):
    own = generator("test", "questions").dirichlet([0.5] * 4, questions)
    return lambda number, rng: own


def equally_sure(questions, accuracies):
    """Each question one option of chance .85; the right one in a share of the questions that is the model's."""

    def chances(number, rng):
        rows = np.full((questions, 4), 0.05)
        top = np.where(rng.random(questions) < accuracies[number], 0, rng.integers(1, 4, questions))
        rows[np.arange(questions), top] = 0.85
        return rows

    return chances


def inter_model_dke(tables, kind="entropy", **given):
    return inter_model_dkes([(tables, kind)], **given)[0]


def test_the_null_values_of_models_that_are_all_alike(models):
    # The paper's figures look like an effect; what alike models show is beside them.
    found = inter_model_dke(models(12, alike(90), questions=90, on_image=3))
    assert found.paper.share > 0.6 and found.paper.spearman < -0.2
    assert found.alike_share == pytest.approx(0.7, abs=0.08)
    assert found.alike_spearman == pytest.approx(-0.55, abs=0.2)
    assert found.images == 30


def test_models_of_equal_confidence_and_unequal_accuracy_are_found(models):
    found = inter_model_dke(models(8, equally_sure(120, np.linspace(0.2, 0.9, 8)), questions=120))
    assert found.paper.share > 0.95
    assert found.paper.spearman < found.alike_spearman


def test_all_answers_equal(question):
    table = votes([question("AAA", id=str(number), image_id=str(number)) for number in range(20)])
    found = inter_model_dke({f"m{number}": table for number in range(6)})
    assert (found.paper.pairs, found.paper.share, found.alike_share, found.alike_spearman) == (0, None, None, None)


def test_one_trial_is_no_confidence(question):
    tables = {
        f"m{number}": votes([question("AB"[row < number], id=str(row), image_id=str(row)) for row in range(20)])
        for number in range(6)
    }
    found = inter_model_dke(tables)
    assert (found.paper.models, found.paper.share, found.alike_share) == ((), None, None)
    assert "T = 1" in found.untested


def test_runs_of_different_t_are_refused(question):
    tables = {"x": votes([question("AAA")]), "y": votes([question("AAAAAAAAAA")])}
    with pytest.raises(UserError, match="x T = 3, y T = 10"):
        inter_model_dke(tables)


def test_runs_on_different_questions_are_refused(question):
    tables = {"x": votes([question("AA", id="a"), question("AA", id="b")]), "y": votes([question("AA", id="a")])}
    with pytest.raises(UserError, match="'b'"):
        inter_model_dke(tables)


def test_a_model_without_replies_is_left_out(models, question):
    tables = models(6, alike(20), questions=20)
    empty = votes([question("!" * 10, id=f"{row:03d}", image_id=f"image {row}") for row in range(20)])
    found = inter_model_dke({**tables, "silent": empty})
    assert "silent" not in found.paper.models
    assert len(found.paper.models) == 6 and found.alike_share == inter_model_dke(tables).alike_share


def test_the_order_of_models_and_records_does_not_matter(models):
    tables = models(6, alike(20), questions=20)
    turned = {name: tables[name].take(np.arange(20)[::-1]) for name in reversed(tables)}
    assert inter_model_dke(turned) == inter_model_dke(tables)


def test_exchanged_sums_are_those_of_numpys_own_selection_by_model():
    from lmms_medtasks.statistics import inter_model

    rng = np.random.default_rng(3)
    every = [rng.random(shape) + 1 for shape in ((5, 7, 3), (4, 6, 3), (5, 7, 3), (1, 7, 3), (0, 0, 3))]
    found = inter_model._alike(every, 4, "seed")
    for sums, pair in zip(every[:3], found, strict=False):
        models, images, _ = sums.shape
        draws, numbers = generator("exchanged models", "seed"), []
        for _ in range(4):
            order = draws.random((images, models)).argsort(axis=1)
            totals = np.take_along_axis(sums.swapaxes(0, 1), order[:, :, None], axis=1).sum(axis=0)
            accuracy, confidence = (totals[:, 1:] / totals[:, :1]).T
            names = [dict(enumerate(each.tolist())) for each in (accuracy, confidence - accuracy)]
            drawn = equation_6(*names)
            numbers.append((drawn.share, drawn.spearman))
        assert pair == pytest.approx(tuple(np.mean(numbers, axis=0)))
    assert found[3:] == [(None, None)] * 2


def test_several_cases_have_together_what_each_has_alone(models, question):
    """Of as many models and images, of fewer images, and without a confidence."""
    whole = models(6, alike(24), questions=24)
    single = {f"m{number}": votes([question("A", id="q")]) for number in range(6)}
    fewer = {name: table.take(np.arange(12)) for name, table in whole.items()}
    cases = [(whole, "entropy"), (fewer, "entropy"), (whole, "agreement"), (single, "entropy")]
    found = inter_model_dkes(cases, exchanges=5)
    assert found == [inter_model_dke(each, kind=kind, exchanges=5) for each, kind in cases]
    assert found[0] != found[1] != found[2]
