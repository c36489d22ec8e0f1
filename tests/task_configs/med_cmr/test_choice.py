"""Multiple choice: what a record holds, and the metrics worked by hand."""

from __future__ import annotations

import functools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_medtasks import choices
from lmms_medtasks.statistics.accuracy import accuracy, parse_rate
from lmms_medtasks.task_configs.med_cmr import choice

OPTIONS = ["a cyst", "a stone", "a scar", "a clip", "nothing"]


def document(number=1, dimension="SOD", answer="A", options=OPTIONS, **tags):
    return {
        "id": f"mcq-{number}", "image_id": f"i{number}", "image": None, "images": [], "question": "Which?",
        "options": options, "answer": answer, "data": "mini", "dimension": dimension, "modality": "CT",
        "visual_description": "long", **tags,
    }  # fmt: skip


def values(scored, metric):
    return [row[metric] for row in scored]


def test_a_record():
    scored = choice.process_results(document(), ["The answer is (A)."])
    assert scored["accuracy"] == {
        "id": "mcq-1", "image_id": "i1", "answer": "A", "data": "mini", "dimension": "SOD", "modality": "CT",
        "option_count": 5, "trials": ["A"], "rules": ["statement"], "score": 1.0,
    }  # fmt: skip
    assert scored["accuracy_sod"] == {"id": "mcq-1", "image_id": "i1", "score": 1.0}
    assert scored["accuracy_msi"] == {} == scored["reasoning_mean"]
    assert scored["visual_mean"] == {"dimension": "SOD", "correct": 1.0}


@pytest.mark.parametrize(
    ("reply", "trial"),
    [
        ("no idea", "unreadable"),
        ("A or B", "ambiguous"),
        ("I cannot answer that.", "refused"),
        ("<think>A", "truncated"),
    ],
)
def test_what_is_no_answer_is_wrong_and_counted(reply, trial):
    scored = [choice.process_results(document(), [reply]), choice.process_results(document(2), ["A"])]
    assert scored[0]["accuracy"]["trials"] == [trial] and scored[0]["accuracy"]["score"] == 0
    assert accuracy(values(scored, "accuracy")) == 0.5 == parse_rate(values(scored, "parse_rate"))
    assert choices.count(values(scored, "refused")) == (trial == "refused")
    assert choices.count(values(scored, "ambiguous")) == (trial == "ambiguous")


def test_failed_requests_have_no_score():
    failed = choice.process_results(document(), ["[LMMS_EVAL_REQUEST_FAILED after 5 retries]"])
    assert "score" not in failed["accuracy"] and failed["accuracy_sod"] == {} == failed["visual_mean"]
    assert failed["failed_requests"] == {"failed": 1, "trials": 1}
    right = choice.process_results(document(2), ["A"])
    assert accuracy(values([failed, right], "accuracy")) == 1.0
    assert accuracy(values([failed], "accuracy_sod")) is None is choice.dimension_mean([failed["visual_mean"]])


def test_means_of_a_side_weigh_its_dimensions_alike():
    # SOD: 1 of 1; FDD: 1 of 4; SU: none asked. (1 + 1/4) / 2, where the mean over questions is 2/5.
    rows = [(document(1, "SOD"), "A"), *((document(n, "FDD"), "A" if n == 2 else "B") for n in range(2, 6))]
    rows += [(document(9, "LTG"), "B")]
    scored = [choice.process_results(doc, [reply]) for doc, reply in rows]
    assert choice.dimension_mean(values(scored, "visual_mean")) == 0.625
    assert choice.dimension_mean(values(scored, "reasoning_mean")) == 0.0
    assert accuracy(values(scored, "accuracy")) == pytest.approx(2 / 6)


# --- rotations -------------------------------------------------------------------------------------------------------
@given(st.integers(2, 10), st.data())
def test_rotating_moves_options_and_answer_together(count, data):
    options = [f"option {number}" for number in range(count)]
    right, turn = data.draw(st.integers(0, count - 1)), data.draw(st.integers(0, count - 1))
    shown, letter = choice.rotated(options, chr(ord("A") + right), turn)
    assert shown[ord(letter) - ord("A")] == options[right] and shown[0] == options[turn]
    assert sorted(shown) == sorted(options)


def test_over_all_rotations_every_option_stands_at_every_place_once():
    shown = [choice.rotated(OPTIONS, "C", turn) for turn in range(5)]
    assert sorted(letter for _, letter in shown) == list("ABCDE")
    assert {tuple(sorted(column)) for column in zip(*(options for options, _ in shown), strict=True)} == {
        tuple(sorted(OPTIONS))
    }


def test_a_question_is_asked_once_for_each_rotation():
    datasets = pytest.importorskip("datasets")
    docs = [document(1, options=OPTIONS, answer="B"), document(2, options=OPTIONS[:3], answer="A")]
    bare = [
        {key: value for key, value in doc.items() if not key.startswith("image") or key == "image_id"} for doc in docs
    ]
    turned = choice.rotations(datasets.Dataset.from_list(bare))
    assert turned["id"][:] == [f"mcq-1/r{n}" for n in range(5)] + [f"mcq-2/r{n}" for n in range(3)]
    assert turned["question_id"][:] == ["mcq-1"] * 5 + ["mcq-2"] * 3
    assert turned["answer"][:] == ["B", "A", "E", "D", "C", "A", "C", "B"]
    for row in turned:
        right = row["options"][ord(row["answer"]) - ord("A")]
        assert right == ("a stone" if row["question_id"] == "mcq-1" else "a cyst")
        assert len(row["options"]) == (5 if row["question_id"] == "mcq-1" else 3)
    assert turned["image_id"][:] == ["i1"] * 5 + ["i2"] * 3


def circular(answers_of):
    """Score each rotation of questions with three options; ``answers_of`` a question: the replies by rotation."""
    scored = []
    for number, replies in answers_of.items():
        for rotation, reply in replies.items():
            options, answer = choice.rotated(OPTIONS[:3], "A", rotation)
            doc = document(
                f"{number}/r{rotation}", options=options, answer=answer, question_id=number, rotation=rotation
            )
            scored.append(choice.process_results_circular(doc, [reply]))
    return scored


def test_circular_accuracy_wants_every_rotation_right():
    # The right option of rotations 0, 1, 2 stands at A, C, B.
    failed = "[LMMS_EVAL_REQUEST_FAILED"
    scored = circular({
        "always": {0: "A", 1: "C", 2: "B"},
        "lazy": {0: "A", 1: "A", 2: "A"},
        "failed": {0: "A", 1: failed, 2: "B"},
        "cut off by --limit": {0: "A"},
    })  # fmt: skip
    assert choice.circular_accuracy(values(scored, "circular_accuracy")) == 0.5
    assert choice.incomplete_questions(values(scored, "incomplete_questions")) == 2
    # 3 + 1 + 2 + 1 right of 3 + 3 + 2 + 1 that got a reply.
    assert accuracy(values(scored, "accuracy")) == pytest.approx(7 / 9)


def test_position_bias_by_hand():
    scored = circular({"lazy": {0: "A", 1: "A", 2: "A"}})
    # Picks: A 1, B 0, C 0; right: 1/3 each. Excess 2/3, -1/3, -1/3; half the sum of sizes 2/3 = 1 - 1/K.
    assert choice.position_bias(values(scored, "position_bias")) == pytest.approx(2 / 3)
    assert choice.excess_a(values(scored, "excess_a")) == pytest.approx(2 / 3)
    assert choice.excess_b(values(scored, "excess_b")) == pytest.approx(-1 / 3)
    assert choice.excess_e(values(scored, "excess_e")) == 0
    # Twice A and once C, where each is right once; the unreadable reply is on neither side.
    scored = circular({"x": {0: "A", 1: "C", 2: "A"}, "y": {0: "no idea"}})
    assert choice.position_bias(values(scored, "position_bias")) == pytest.approx(1 / 3)
    always = circular({"always": {0: "A", 1: "C", 2: "B"}})
    assert choice.position_bias(values(always, "position_bias")) == 0


def test_nothing_readable_has_no_bias():
    scored = circular({"x": {0: "no idea", 1: "no idea", 2: "no idea"}})
    assert choice.position_bias(values(scored, "position_bias")) is None is choice.excess_a(values(scored, "excess_a"))
    assert choice.circular_accuracy(values(scored, "circular_accuracy")) == 0
    for aggregation in (choice.circular_accuracy, choice.position_bias, choice.excess_c, choice.dimension_mean):
        assert aggregation([]) is None
    assert choice.incomplete_questions([]) == 0 == choices.count([])


def test_the_harness_sees_a_standard_error_only_where_it_is_of_questions():
    circular_values = circular({"always": {0: "A", 1: "C", 2: "B"}})[0]
    assert "score" in circular_values["accuracy"]
    assert not [name for name, value in circular_values.items() if name != "accuracy" and "score" in value]
    assert isinstance(choice.excess_a, functools.partial)
