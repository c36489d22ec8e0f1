"""The table of questions: rows that a restriction names, the rule of missing judgements, pairs."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_medtasks.record import QuestionJudgement, QuestionRecord, ScoreValue
from lmms_medtasks.samples.table import QuestionTable, record_to_row


def record(name, score=1.0, *, cluster="i", status="", **tags):
    judgement = None
    value = ScoreValue(score)
    if status:
        judgement = QuestionJudgement(
            {"name": "judge", "protocol": "p"}, ({},), (({"status": status, "reason": "why"},),)
        )
        missing = status == "missing"
        value = ScoreValue(None if missing else score, 0.0 if missing else score, 1.0 if missing else score,
                             int(not missing), 1)  # fmt: skip
    return QuestionRecord(name, cluster, ("A",), "A", {"accuracy": value}, tags, judgement=judgement)


def ids(rows):
    return list(rows.column("id"))


def test_restrictions_name_rows():
    rows = QuestionTable.of_records([record("a", level=0), record("b", level=1, kind="x"), record("c", level=2)])
    assert ids(rows.where({})) == ["a", "b", "c"]
    assert ids(rows.where({"level": (1, 2)})) == ["b", "c"]
    assert ids(rows.where({"level": 1, "kind": "x"})) == ["b"]
    assert ids(rows.where({"kind": None})) == ["a", "c"]
    assert ids(rows.where({"nowhere": "x"})) == []


def test_a_tag_of_several_types_is_texts_and_no_error():
    rows = QuestionTable.of_records([record("a", tag=1), record("b", tag="x")])
    assert list(rows.column("tag")) == ["1", "x"]


def test_columns_that_nobody_has_are_empty():
    rows = QuestionTable.of_records([record("a")])
    assert list(rows.column("nothing")) == [None]
    assert np.isnan(rows.column("nothing.score")).all()
    assert len(rows.of_measure("nothing")) == 0


def test_the_rows_are_in_the_order_of_their_ids():
    rows = QuestionTable.of_records([record("b"), record("a"), record("c")])
    assert ids(rows) == ["a", "b", "c"]


def test_groups_are_sorted_with_no_value_last():
    rows = QuestionTable.of_records([record("a", kind="y"), record("b"), record("c", kind="x"), record("d", kind="y")])
    assert {key: ids(group) for key, group in rows.by(["kind"]).items()} == {
        ("x",): ["c"], ("y",): ["a", "d"], (None,): ["b"],
    }  # fmt: skip
    assert list(rows.by(["kind"])) == [("x",), ("y",), (None,)]


def test_a_question_without_a_score_is_of_the_measure_and_not_scored():
    rows = QuestionTable.of_records([record("a"), record("b", None), QuestionRecord("c", "i", ("A",), "A", {})])
    assert (ids(rows.of_measure("accuracy")), ids(rows.scored("accuracy"))) == (["a", "b"], ["a"])


@pytest.mark.parametrize(
    ("statuses", "scored"),
    [
        (["exact", "missing"], []),  # a rule settled what there is: an extreme, and no mean of the model
        (["exact", "exact"], ["q0", "q1"]),  # nothing is missing
        (["judged", "missing", "exact"], ["q0", "q2"]),
        (["missing"], []),
        (["judged"], ["q0"]),
    ],
)
def test_no_mean_where_judgements_are_missing_and_no_judge_gave_any(statuses, scored):
    rows = QuestionTable.of_records([record(f"q{n}", status=status) for n, status in enumerate(statuses)])
    assert ids(rows.scored("accuracy")) == scored


def test_the_rule_is_kept_in_every_group_by_itself():
    rows = QuestionTable.of_records([
        record("a", status="judged", kind="x"), record("b", status="exact", kind="y"),
        record("c", status="missing", kind="y"),
    ])  # fmt: skip
    assert ids(rows.scored("accuracy")) == ["a", "b"]
    assert ids(rows.where({"kind": "y"}).scored("accuracy")) == []


def test_pairs_by_hand():
    clean = [record(f"c{n}", float(n % 2), cluster=f"i{n}", level=0) for n in range(3)]
    degraded = [
        QuestionRecord("d0", "x", ("A",), "A", {"accuracy": ScoreValue(0.0)}, {"level": 1, "kind": "noise"}, pair="c1"),
        QuestionRecord("d1", "x", ("A",), "A", {"accuracy": ScoreValue(1.0)}, {"level": 1, "kind": "blur"}, pair="c1"),
        QuestionRecord("d2", "x", ("A",), "A", {"accuracy": ScoreValue(1.0)}, {"level": 1}, pair="c0"),
        QuestionRecord("d3", "x", ("A",), "A", {"accuracy": ScoreValue(None)}, {"level": 1}, pair="c2"),  # failed
        QuestionRecord("d4", "x", ("A",), "A", {"accuracy": ScoreValue(1.0)}, {"level": 1}, pair="nowhere"),
    ]
    rows = QuestionTable.of_records([*clean, *degraded])
    changes = rows.where({"level": 0}).changes(rows.where({"level": 1}), "accuracy", ["pair"])
    assert ids(changes) == ["d0", "d1", "d2"]
    # c1 is right (1), c0 wrong (0): 0 - 1, 1 - 1, 1 - 0. Clusters are the clean questions'.
    assert list(changes.column("change.score")) == [-1, 0, 1]
    assert list(changes.column("cluster")) == ["i1", "i1", "i0"]
    assert list(changes.column("kind")) == ["noise", "blur", None]
    assert ids(changes.where({"kind": "blur"}).scored("change")) == ["d1"]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2) | st.none()), max_size=12), st.integers(0, 3))
def test_restricting_twice_is_restricting_by_both(rows, wanted):
    found = QuestionTable.of_rows(
        record_to_row(record(str(n), level=level, kind=kind)) for n, (level, kind) in enumerate(rows)
    )
    both = {"level": wanted, "kind": 1}
    assert ids(found.where({"level": wanted}).where({"kind": 1})) == ids(found.where(both))
    assert sorted(ids(found)) == sorted(sum((ids(each) for each in found.by(["level", "kind"]).values()), []))


def test_texts_of_lists_stand_with_their_rows():
    rows = QuestionTable.of_rows([{"trials": each} for each in (["A", "B"], [], None, ["", "A"])])
    places, texts = rows.texts("trials")
    assert (places.tolist(), texts.to_pylist()) == ([0, 0, 3, 3], ["A", "B", "", "A"])
    places, texts = rows.take([3, 0, 1]).texts("trials")
    assert (places.tolist(), texts.to_pylist()) == ([0, 0, 1, 1], ["", "A", "A", "B"])


def test_tables_of_the_same_questions_share_their_columns():
    asked = QuestionTable.of_rows([{"tag": "x", "expected": "A"}, {"tag": "y", "expected": "B"}])
    own = [QuestionTable(pa.table({"tag": ["x", "y"], "accuracy.score": [1.0, 0.0]}), shared=asked) for _ in range(2)]
    assert own[0]._whole_column("tag") is own[1].where({"tag": "x"})._whole_column("tag") is asked._whole_column("tag")
    assert own[0].column("accuracy.score").tolist() == [1.0, 0.0]


@pytest.mark.parametrize("count", [255, 256, 257])
def test_codes_of_a_byte_hold_as_many_texts_as_they_can_and_none(count):
    texts = pa.array([f"text {number}" for number in range(count)])
    codes = pa.array([*range(count), None], pa.uint8() if count <= 256 else pa.uint16())
    column = QuestionTable(pa.table({"form": pa.DictionaryArray.from_arrays(codes, texts)})).column("form")
    assert column.tolist() == [*texts.to_pylist(), None]
