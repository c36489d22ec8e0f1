"""Multiple choice: what a record holds, and the metrics worked by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_medtasks.data.rotated_options import rotate_documents, rotate_question_options
from lmms_medtasks.harness.scoring import aggregate
from lmms_medtasks.record import ScoreValue
from lmms_medtasks.samples.table import QuestionTable
from lmms_medtasks.task_configs.med_cmr import measures
from lmms_medtasks.task_configs.med_cmr.measures import SUITE

OPTIONS = ["a cyst", "a stone", "a scar", "a clip", "nothing"]
FAILED = "[LMMS_EVAL_REQUEST_FAILED after 5 retries]"


def document(number=1, dimension="SOD", answer="A", options=OPTIONS, **tags):
    return {
        "id": f"mcq-{number}", "image_id": f"i{number}", "image": None, "images": [], "question": "Which?",
        "options": options, "answer": answer, "data": "mini", "dimension": dimension, "modality": "CT",
        "visual_description": "long", **tags,
    }  # fmt: skip


def metric(scored, name):
    """A metric's number over scored questions, as the harness gets it."""
    return aggregate([row[name] for row in scored])


def test_a_record_holds_tags_and_no_long_texts():
    record = measures.choice_record(document(), ["The answer is (A)."])
    assert (record.id, record.cluster, record.trials, record.expected) == ("mcq-1", "i1", ("A",), "A")
    assert record.measures == {"accuracy": ScoreValue(1.0)}
    assert record.tags == {"data": "mini", "dimension": "SOD", "modality": "CT", "form": "mcq", "option_count": 5}
    assert record.replies == ({"rule": "statement"},) and not record.details and not record.pair


def test_the_harness_gets_a_score_where_the_question_counts():
    scored = measures.process_results(document(), ["The answer is (A)."])
    assert scored["accuracy"] == scored["accuracy_sod"] == {"score": 1.0, "cluster": "i1"}
    assert scored["accuracy_msi"] == {} == scored["reasoning_mean"] == scored["visual_mean"]


@pytest.mark.parametrize(
    ("reply", "trial"),
    [
        ("no idea", "unreadable"),
        ("A or B", "ambiguous"),
        ("I cannot answer that.", "refused"),
        ("<think>A", "cut"),
    ],
)
def test_what_is_no_answer_is_wrong_and_counted(reply, trial):
    scored = [measures.process_results(document(), [reply]), measures.process_results(document(2), ["A"])]
    assert scored[0]["accuracy"]["score"] == 0 and scored[0]["questions"]["trials"] == [trial]
    assert metric(scored, "accuracy") == 0.5 == metric(scored, "parse_rate")
    assert metric(scored, "refused_replies") == (trial == "refused")
    assert metric(scored, "unreadable_replies") == (trial in ("ambiguous", "unreadable"))
    assert metric(scored, "cut_replies") == (trial == "cut")


def test_failed_requests_have_no_score():
    failed = measures.process_results(document(), [FAILED])
    assert failed["accuracy"] == {} == failed["accuracy_sod"]
    right = measures.process_results(document(2), ["A"])
    assert metric([failed, right], "accuracy") == 1.0
    assert metric([failed, right], "failed_requests") == 1
    assert metric([failed], "accuracy_sod") is None is metric([failed], "visual_mean")


def test_a_score_is_over_the_replies_that_came():
    record = measures.choice_record(document(answer="B"), ["B", "A", FAILED])
    assert record.measures["accuracy"].score == 0.5


def test_means_of_a_side_weigh_its_dimensions_alike():
    # SOD: 1 of 1; FDD: 1 of 4; SU: none asked. (1 + 1/4) / 2, where the mean over questions is 2/5.
    rows = [(document(1, "SOD"), "A"), *((document(n, "FDD"), "A" if n == 2 else "B") for n in range(2, 6))]
    rows += [(document(9, "LTG"), "B")]
    scored = [measures.process_results(doc, [reply]) for doc, reply in rows]
    assert metric(scored, "visual_mean") == 0.625
    assert metric(scored, "reasoning_mean") == 0.0
    assert metric(scored, "accuracy") == pytest.approx(2 / 6)


# --- rotations -------------------------------------------------------------------------------------------------------
@given(st.integers(2, 10), st.data())
def test_rotating_moves_options_and_answer_together(count, data):
    options = [f"option {number}" for number in range(count)]
    right, turn = data.draw(st.integers(0, count - 1)), data.draw(st.integers(0, count - 1))
    shown, letter = rotate_question_options(options, chr(ord("A") + right), turn)
    assert shown[ord(letter) - ord("A")] == options[right] and shown[0] == options[turn]
    assert sorted(shown) == sorted(options)


def test_over_all_rotations_every_option_stands_at_every_place_once():
    shown = [rotate_question_options(OPTIONS, "C", turn) for turn in range(5)]
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
    turned = rotate_documents(datasets.Dataset.from_list(bare))
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
            options, answer = rotate_question_options(OPTIONS[:3], "A", rotation)
            doc = document(
                f"{number}/r{rotation}", options=options, answer=answer, question_id=number, rotation=rotation
            )
            scored.append(measures.process_results_circular(doc, [reply]))
    return scored


def test_a_rotation_is_a_form_of_its_question():
    (first, *_) = circular({"q": {1: "C"}})
    record = first["questions"]
    assert (record["id"], record["pair"]) == ("mcq-q/r1", "q")
    assert (record["tags"]["form"], record["tags"]["rotation"]) == ("circular", 1)


def test_circular_accuracy_wants_every_rotation_right():
    # The right option of rotations 0, 1, 2 stands at A, C, B.
    scored = circular({
        "always": {0: "A", 1: "C", 2: "B"},
        "lazy": {0: "A", 1: "A", 2: "A"},
        "failed": {0: "A", 1: FAILED, 2: "B"},
        "cut off by --limit": {0: "A"},
    })  # fmt: skip
    assert metric(scored, "circular_accuracy") == 0.5
    assert metric(scored, "incomplete_questions") == 2
    # 3 + 1 + 2 + 1 right of 3 + 3 + 2 + 1 that got a reply.
    assert metric(scored, "accuracy") == pytest.approx(7 / 9)


def test_position_bias_by_hand():
    scored = circular({"lazy": {0: "A", 1: "A", 2: "A"}})
    # Picks: A 1, B 0, C 0; right: 1/3 each. Excess 2/3, -1/3, -1/3; half the sum of sizes 2/3 = 1 - 1/K.
    assert metric(scored, "position_bias") == pytest.approx(2 / 3)
    assert metric(scored, "excess_a") == pytest.approx(2 / 3)
    assert metric(scored, "excess_b") == pytest.approx(-1 / 3)
    assert metric(scored, "excess_e") == 0
    # Twice A and once C, where each is right once; the unreadable reply is on neither side.
    scored = circular({"x": {0: "A", 1: "C", 2: "A"}, "y": {0: "no idea"}})
    assert metric(scored, "position_bias") == pytest.approx(1 / 3)
    assert metric(circular({"always": {0: "A", 1: "C", 2: "B"}}), "position_bias") == 0


def test_nothing_readable_has_no_bias():
    scored = circular({"x": {0: "no idea", 1: "no idea", 2: "no idea"}})
    assert metric(scored, "position_bias") is None is metric(scored, "excess_a")
    assert metric(scored, "circular_accuracy") == 0


def test_without_a_question_there_is_no_number():
    nothing = QuestionTable.of_records([])
    for name in ("circular_accuracy", "position_bias", "excess_c", "visual_mean", "accuracy"):
        assert SUITE.estimates[name].value(nothing) is None, name
    for name in ("incomplete_questions", "refused_replies", "questions"):
        assert SUITE.estimates[name].value(nothing) == 0, name


def test_the_harness_sees_a_standard_error_only_where_it_is_of_questions():
    circular_values = circular({"always": {0: "A", 1: "C", 2: "B"}})[0]
    assert [name for name, value in circular_values.items() if "score" in value] == ["accuracy"]
