"""Means, ranks and their intervals: hand-worked, against the bootstrap itself, and how often they hold."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from lmms_medtasks.board.collect import collect_entries
from lmms_medtasks.board.columns import dictionary_encode
from lmms_medtasks.board.entries import all_ids
from lmms_medtasks.board.site.board_tables import BoardStandings, PageLinks, ranking_table
from lmms_medtasks.board.site.ranking import rank_models
from lmms_medtasks.statistics.intervals import estimate_mean
from tests.board.made_up_entries import board_of, of_every_kind

TASK = "medq_deg_l1"


@pytest.fixture
def entries(tmp_path, runs):
    """Entries of a task from letters by model (right is A), and the images that questions are spread over."""

    def make(images=None, **letters):
        for model, said in letters.items():
            rows = runs.choice_rows({f"q{n:03}": each for n, each in enumerate(said)}, images=images)
            runs.write(tmp_path / model, {TASK: rows}, model=model)
        return collect_entries([tmp_path]).of(task=TASK)

    return make


def found(entries, resamples=400):
    places = rank_models(entries, "accuracy", resamples=resamples).standings
    return {entry.model.name: each for entry, each in zip(entries, places, strict=True)}


def test_ranks_are_of_the_means_and_tied_models_share_one(entries):
    # 20 of 40, 20 of 40 (others), 10 of 40, 0 of 40
    ranked = found(entries(a="AB" * 20, b="BA" * 20, c="ABBB" * 10, d="B" * 40))
    assert {name: each.rank for name, each in ranked.items()} == {"a": 1, "b": 1, "c": 3, "d": 4}
    assert [ranked[name].mean.estimate for name in "abcd"] == [0.5, 0.5, 0.25, 0.0]
    assert all(each.low <= each.rank <= each.high for each in ranked.values())


def test_noise_of_sums_decides_nothing(entries):
    """5e-12 on every question: a constant difference has no variance, and would be beyond all chance."""
    one, other = entries(a="AB" * 20, b="AB" * 20)
    place = other.answers.column_names.index("accuracy.score")
    noisy = pa.array(other.samples.column("accuracy.score") + 5e-12)
    other = replace(other, answers=other.answers.set_column(place, "accuracy.score", dictionary_encode(noisy)))
    ranked = found([one, other])
    assert [(each.rank, each.low, each.high) for each in ranked.values()] == [(1, 1, 2), (1, 1, 2)]


def test_what_is_beyond_chance_has_ranks_of_its_own_and_what_is_not_shares_them(entries):
    # a and b differ on 2 of 60 questions, one each way; c is wrong on 50 more than either.
    ranked = found(entries(a="A" * 59 + "B", b="B" + "A" * 59, c="A" * 9 + "B" * 51))
    assert [(each.rank, each.low, each.high) for each in ranked.values()] == [(1, 1, 2), (1, 1, 2), (3, 3, 3)]


def test_pairs_have_the_difference_of_the_means_and_who_is_better(tmp_path, entries):
    """Images of unequal size: 60 questions about 40 images. a is right on all, c on 9."""
    entries(images=40, a="A" * 60, b="A" * 59 + "B", c="A" * 9 + "B" * 51)
    keys, found = BoardStandings(collect_entries([tmp_path]), 100).ranking(TASK, "accuracy")
    place = {key.partition("|")[0]: number for number, key in enumerate(keys)}
    a, b, c = (place[name] for name in "abc")
    assert found.pairs.difference[[a, a], [b, c]] == pytest.approx([1 / 60, 51 / 60])
    assert found.pairs.better[[a, a, b, c], [b, c, c, a]].tolist() == [False, True, True, False]
    assert found.pairs.difference_low[a, b] < 0 < found.pairs.difference_low[a, c] < 51 / 60


@pytest.mark.parametrize("images", [1, 4, 9])
def test_with_fewer_than_ten_images_there_is_no_rank_and_the_table_says_why(tmp_path, entries, images):
    few = found(entries(images=images, a="A" * 40, b="B" * 40))
    assert {(each.rank, each.low, each.high) for each in few.values()} == {(None, None, None)}
    assert {each.common for each in few.values()} == {40}
    table = ranking_table(TASK, BoardStandings(collect_entries([tmp_path]), 100), PageLinks(str, str))
    assert any(note.startswith(f"No ranks by accuracy: only {images} image") for note in table.notes)
    place = [column.name for column in table.columns].index("rank, accuracy")
    assert [row.cells[place].value for row in table.rows if row.kind == "run"] == [None, None]


def test_a_difference_that_is_the_same_on_every_of_ten_images_counts(entries):
    many = found(entries(images=10, a="A" * 40, b="B" * 40))
    assert (many["a"].low, many["a"].high, many["b"].low) == (1, 1, 2)


def test_without_resamples_ranks_have_no_interval(entries):
    bare = found(entries(a="A" * 40, b="B" * 40), resamples=0)
    assert [(each.rank, each.low, each.high) for each in bare.values()] == [(1, None, None), (2, None, None)]


def test_intervals_are_over_images(entries):
    (entry,) = entries(images=7, a="ABBAAAB" * 5)
    clusters, values = entry.samples.column("cluster").tolist(), entry.scores("accuracy")
    assert entry.interval("accuracy") == estimate_mean(clusters, values)
    assert found([entry])["a"].low is None


def test_intervals_of_bones_and_joints_are_those_of_its_report(tmp_path, runs):
    task, letters = "bones_joints_t3_image", "AAAAAAAABA"
    runs.write(tmp_path, {task: runs.choice_rows({f"q{n}": each for n, each in enumerate(letters)})}, model="m")
    (entry,) = collect_entries([tmp_path]).of(task=task)
    expected = estimate_mean([f"q{n}" for n in range(10)], [1] * 9 + [0])
    assert expected.low == pytest.approx(0.5967, abs=1e-4)  # of Beta(9 1/3, 1 2/3)
    found = entry.interval("accuracy")
    assert (found.low, found.high, found.n) == pytest.approx((expected.low, expected.high, 10))


def test_ranks_are_on_the_questions_that_all_have_a_score_for(entries):
    # b's requests for the first 10 failed; on the other 30 it has 20, a has 10 (its other 10 are among the first).
    ranked = found(entries(a="A" * 20 + "B" * 20, b="!" * 10 + "A" * 20 + "B" * 10))
    assert (ranked["a"].rank, ranked["b"].rank, ranked["a"].common, ranked["a"].mean.n) == (2, 1, 30, 40)


def test_without_a_common_question_there_is_no_rank(entries):
    ranked = found(entries(a="A" * 5 + "!" * 5, b="!" * 5 + "A" * 5))
    assert [(each.rank, each.low, each.common) for each in ranked.values()] == [(None, None, 0)] * 2


def test_ranks_do_not_depend_on_the_order_of_models(entries):
    models = entries(a="AABB" * 10, b="ABBB" * 10, c="AAAB" * 10)
    assert found(models) == found(models[::-1])


def test_all_intervals_of_a_column_hold_together_about_as_often_as_said(entries):
    """Four models that are equally good: all four intervals should be [1, 4] in about 95 % of samples."""
    (entry,) = entries(a="A" * 50)
    from dataclasses import replace

    rng = np.random.default_rng(5)
    held = 0
    for _ in range(60):
        skill = rng.normal(size=50)
        drawn = [
            replace(
                entry,
                answers=entry.answers.set_column(
                    entry.answers.column_names.index("accuracy.score"),
                    "accuracy.score",
                    pa.array((skill + rng.normal(size=50) > 0).astype(float)),
                ),
            )  # fmt: skip
            for _ in range(4)
        ]
        places = rank_models(drawn, "accuracy", resamples=200).standings
        held += all((each.low, each.high) == (1, 4) for each in places)
    # 95 % of 60 is 57; fewer than 51 would be a chance of 1 in 100 at that level.
    assert held >= 51


def test_the_ids_of_entries_that_share_questions_are_put_together_once(entries):
    own = entries(a="AB" * 400, b="BA" * 400)
    several = own * 25
    size = own[0].questions.ids.nbytes
    tracemalloc.start()
    ids = all_ids(several)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert ids.tolist() == own[0].questions.ids.tolist()
    assert peak < 10 * size


def test_all_ids_are_of_every_set_of_questions(entries):
    (short,), (long,) = entries(a="AB"), [each for each in entries(b="ABA") if each.model.name == "b"]
    assert all_ids([short, long]).tolist() == all_ids([long, short]).tolist() == ["q000", "q001", "q002"]


def test_a_number_that_is_no_mean_is_ranked_in_its_direction_by_what_images_add():
    """Easy questions all right; hard ones right in 12, 6 and 0 of 12: drops of 0, 1/2 and 1, ratios 1, 1/2 and 0."""
    letters = {"a": "1" * 12, "b": "10" * 6, "c": "0" * 12}
    three = [of_every_kind(name, "1" * 12, hard) for name, hard in letters.items()]
    for metric, values in (("drop", (0, 0.5, 1)), ("robust", (1, 0.5, 0)), ("balanced", (1, 0.75, 0.5))):
        ranked = rank_models(three, metric).standings
        assert [each.mean.estimate for each in ranked] == pytest.approx(values)
        assert [each.rank for each in ranked] == [1, 2, 3] and {each.reason for each in ranked} == {""}
        # The two of which no image is alike are told apart, each of them and the middle one are not.
        assert [(each.low, each.high) for each in ranked] == [(1, 2), (1, 3), (2, 3)]
    # All a fraction, .75 and 1/2 less 1/2: of ECE fewer is better.
    assert [each.rank for each in rank_models(three, "ece").standings] == [3, 2, 1]
    table = ranking_table("made_up_task", BoardStandings(board_of(*three), 100), PageLinks(str, str))
    assert table is not None and [each.name for each in table.columns if each.fewer] == ["drop", "ece"]


def test_why_there_is_no_rank_is_told():
    """A model without a hard question; four images, too few for a jackknife; nine images."""
    whole, none, four, nine = (
        of_every_kind(name, easy, hard)
        for name, easy, hard in (
            ("a", "1" * 12, "10" * 6), ("b", "1" * 12, "-" * 12), ("c", "1110", "1010"), ("d", "1" * 9, "10" * 4 + "1")
        )
    )  # fmt: skip
    cases = (
        ([whole, none], "drop", "a model has no value on the questions of all"),
        ([whole, four], "robust", "fewer than 5 images"),
        ([whole, nine], "balanced", "only 9 images with a score of every model, 10 are needed"),
        ([whole, nine], "accuracy", "only 9 images with a score of every model, 10 are needed"),
    )
    for entries, metric, reason in cases:
        assert {(each.rank, each.reason) for each in rank_models(entries, metric).standings} == {(None, reason)}
        table = ranking_table("made_up_task", BoardStandings(board_of(*entries), 100), PageLinks(str, str))
        assert f"No ranks by {metric}: {reason}." in table.notes
