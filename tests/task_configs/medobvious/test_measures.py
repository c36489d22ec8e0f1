"""What a reply is worth, what the harness's table is made of, and what random guessing gets through all of it."""

import json
import math
import pickle

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lmms_eval.utils import handle_non_serializable

from lmms_medtasks.baselines.read_prompts import answer_at_random
from lmms_medtasks.data import mini
from lmms_medtasks.harness.scoring import aggregate
from lmms_medtasks.record import KEY
from lmms_medtasks.samples.table import QuestionTable
from lmms_medtasks.seeding import seeded_generator
from lmms_medtasks.suites.common_metrics import READ_NAMES
from lmms_medtasks.task_configs.medobvious import hooks, measures

ESTIMATES = measures.SUITE.estimates
REQUEST_FAILED = "[LMMS_EVAL_REQUEST_FAILED] 500"


@pytest.fixture(scope="module")
def documents():
    rows = pq.read_table(mini.mini_file("medobvious", "test")).to_pylist()
    return [{key: value for key, value in row.items() if key not in ("image", "images")} for row in rows]


def one(documents, task_type, negative=0, grid="2x2"):
    wanted = (task_type, negative, grid)
    return next(row for row in documents if (row["task_type"], row["negative"], row["grid"]) == wanted)


def value(name, records):
    return ESTIMATES[name].value(QuestionTable.of_records(records))


# --- A question -------------------------------------------------------------------------------------------------------


def test_right_and_wrong_replies_in_every_format(documents):
    for doc in documents:
        assert measures.grid_question_record(doc, [doc["answer"]]).measures["accuracy"].score == 1
        wrong = {"yes": "no", "no": "yes"}.get(doc["answer"], "image 99")
        assert measures.grid_question_record(doc, [wrong]).measures["accuracy"].score == 0


def test_multiple_choice_takes_letter_and_text(documents):
    doc = one(documents, "detection_mcq")
    place = doc["answer_position"]
    for reply in (f"{doc['answer']}) {place}", f"It is the {place} image.", f"The answer is ({doc['answer']})."):
        record = measures.grid_question_record(doc, [reply])
        assert (record.trials, record.measures["accuracy"].score) == ((place,), 1)


def test_an_unreadable_reply_is_wrong_and_counted(documents):
    record = measures.grid_question_record(one(documents, "detection_open"), ["There are four scans."])
    assert record.trials == ("unreadable",)
    assert (record.measures["accuracy"].score, record.measures["abstention"].score) == (0, 1)
    assert value("parse_rate", [record]) == 0


def test_an_empty_reply_is_wrong_as_an_unreadable_one_is_and_counted_apart(documents):
    for doc in documents:
        empty, unreadable = (measures.grid_question_record(doc, [reply]) for reply in (" ", "There are four scans."))
        assert (empty.trials, unreadable.trials) == (("empty",), ("unreadable",))
        # The authors' scripts read a letter out of "There".
        ours = set(empty.measures) - {measures.PAPER_RULE, measures.PAPER_RULE_HOSTED}
        assert all(empty.measures[name] == unreadable.measures[name] for name in ours)
        for name, count in (
            ("parse_rate", 0),
            ("empty_replies", 1),
            ("consistency", value("consistency", [unreadable])),
        ):
            assert value(name, [empty]) == count


def test_a_failed_request_has_no_score_anywhere(documents):
    for negative in (0, 1):
        values = measures.process_results(one(documents, "detection_open", negative), [REQUEST_FAILED])
        assert not any("score" in shown for name, shown in values.items() if name != KEY)
        record = values[KEY].record
        assert (value("failed_requests", [record]), value("parse_rate", [record])) == (1, None)
        assert value("accuracy", [record]) is value("false_alarm_rate", [record]) is None


def test_the_word_none_is_an_answer(documents):
    for task_type in ("detection_open", "detection_mcq"):
        assert measures.grid_question_record(one(documents, task_type, 1), ["None"]).measures["accuracy"].score == 1


# --- What the harness gets --------------------------------------------------------------------------------------------


def test_nothing_but_failed_requests_gives_no_number_and_never_0(documents):
    values = [measures.process_results(one(documents, name), [REQUEST_FAILED]) for name in measures.FORMATS]
    numbers = {name: aggregate([each[name] for each in values]) for name in values[0]}
    assert {name for name, number in numbers.items() if number is not None} == {
        KEY, *READ_NAMES[1:],
    }  # fmt: skip
    assert [numbers[name] for name in (KEY, "failed_requests", "empty_replies")] == [5, 5, 0]


def test_the_log_has_a_record_once_and_ranks_can_exchange_it(documents):
    values = measures.process_results(one(documents, "detection_mcq"), ["A"])
    logged = json.loads(json.dumps(values, default=handle_non_serializable))
    assert json.dumps(logged).count('"trials": ["') == 1
    assert logged["consistency"] == logged["paper_average"] == {}
    assert pickle.loads(pickle.dumps(values))["consistency"].record == values[KEY].record
    score = values[KEY].record.measures["accuracy"].score
    assert logged["accuracy_t1"] == {"score": score, "cluster": values[KEY].record.cluster}


def test_metrics_over_all_formats(documents):
    right = [measures.grid_question_record(doc, [doc["answer"]]) for doc in documents]
    assert value("paper_average", right) == value("consistency", right) == 1
    assert value("format_gap_detection", right) == value("format_gap_referring", right) == 0
    # Always "none": every negative right, every positive wrong, of one mind throughout.
    said = ["no" if doc["task_type"] == "visual_referring" else "none" for doc in documents]
    silent = [measures.grid_question_record(doc, [reply]) for doc, reply in zip(documents, said, strict=True)]
    assert value("consistency", silent) == 1
    # Table 2's columns: detection and visual 1/2 each, referring 0, positive 0, negative 1.
    assert value("paper_average", silent) == pytest.approx((3 / 2 + 1) / 7)


# --- Metrics, worked by hand ------------------------------------------------------------------------------------------


def test_paper_average_by_hand(one_side):
    # Positives all right but visual (4 of 5), negatives all wrong but visual (1 of 3). Columns: det_mcq 1/2, det_open
    # 1/2, referring 1 and 1, visual (0 + 1) / 2, positive 4/5, negative 1/3: sum 0.5 + 0.5 + 1 + 1 + 0.5 + 0.8 + 1/3.
    records = one_side("top-left", "top-left", "top-left", "top-left", "no")
    records += one_side("top-left", "top-left", "no", negative=1)
    assert value("paper_average", records) == pytest.approx((4.3 + 1 / 3) / 7)
    assert value("balanced_accuracy", records) == pytest.approx((4 / 5 + 1 / 3) / 2)
    assert value("balanced_accuracy", one_side("top-left", "top-left", "top-left", "top-left", "yes")) is None
    # The overall accuracy is another number: 5 of 8.
    assert value("accuracy", records) == 5 / 8


def test_paper_average_needs_all_columns(one_side):
    assert value("paper_average", one_side("top-left", "top-left", "top-left", "top-left", "yes")) is None


def test_format_gap_is_over_pairs(one_record):
    # Item 1: MCQ right, open wrong (gap 1); item 2: both right (0); item 3's open request failed: no pair.
    said = {"i1": ("top-left", "none"), "i2": ("top-left", "top-left"), "i3": ("top-left", "failed")}
    records = [
        one_record(name, trial, item=item)
        for item, trials in said.items()
        for name, trial in zip(("detection_mcq", "detection_open"), trials, strict=True)
    ]
    assert value("format_gap_detection", records) == 0.5
    assert value("format_gap_referring", records) is None


AGREEING = [
    ("top-left", "top-left", "top-left", "top-left", "yes"),  # right
    # wrong, but of one mind: it is not the top-left
    ("bottom-left", "bottom-left", "bottom-left", "bottom-left", "no"),
    ("none", "none", "none", "none", "no"),  # sees nothing, anywhere
]
DISAGREEING = [
    ("top-left", "top-left", "top-left", "top-left", "no"),
    ("bottom-left", "bottom-left", "bottom-left", "bottom-left", "yes"),
    ("top-left", "none", "top-left", "top-left", "yes"),
    ("top-left", "top-left", "top-left", "ambiguous", "yes"),
    ("none", "none", "none", "none", "yes"),
]


@pytest.mark.parametrize("trials", AGREEING)
def test_answers_that_agree_on_a_positive(one_side, trials):
    assert value("consistency_positive", one_side(*trials)) == 1


@pytest.mark.parametrize("trials", DISAGREEING)
def test_answers_that_disagree_on_a_positive(one_side, trials):
    assert value("consistency_positive", one_side(*trials)) == 0


@pytest.mark.parametrize(
    ("trials", "agrees"),
    [
        (("none", "none", "no"), True),
        (("top-left", "top-left", "yes"), True),  # false alarms of one mind
        (("top-left", "top-left", "no"), False),
        (("none", "none", "yes"), False),
        (("top-left", "top-right", "yes"), False),
        (("none", "unreadable", "no"), False),
        (("none", "empty", "no"), False),
    ],
)
def test_negatives(one_side, trials, agrees):
    assert value("consistency_negative", one_side(*trials, negative=1)) == agrees


def test_an_item_is_consistent_if_both_its_sides_are(one_side):
    good, bad = ("none", "none", "no"), ("none", "none", "yes")
    records = one_side(*AGREEING[0]) + one_side(*good, negative=1)
    records += one_side(*AGREEING[0], item="i2") + one_side(*bad, negative=1, item="i2")
    assert value("consistency", records) == 0.5
    assert (value("consistency_positive", records), value("consistency_negative", records)) == (1, 0.5)


def test_what_cannot_be_said_is_left_out(one_side, one_record):
    failed = one_side("top-left", "failed", "top-left", "top-left", "yes")
    assert value("consistency", failed) is None
    assert value("consistency", [one_record("detection_mcq", "top-left")]) is None
    assert value("consistency", one_side(*AGREEING[0], place="")) is None  # the box is nobody knows where


@given(st.data())
def test_order_does_not_matter(one_side, data):
    records = data.draw(st.permutations(one_side(*AGREEING[1]) + one_side("none", "none", "no", negative=1)))
    assert value("consistency", records) == 1
    assert value("format_gap_detection", records) == 0


# --- What guessing gets -----------------------------------------------------------------------------------------------


def chance_of(records, **where):
    numbers = QuestionTable.of_records(records).where(where).column("chance.score")
    return math.fsum(numbers) / len(numbers)


@pytest.mark.parametrize(
    ("grid", "positive", "negative", "overall"),
    [
        # 2x2: four questions of five answers each and one of two; 3x3: of ten.
        ("2x2", (4 / 5 + 1 / 2) / 5, (2 / 5 + 1 / 2) / 3, (6 / 5 + 2 / 2) / 8),
        ("3x3", (4 / 10 + 1 / 2) / 5, (2 / 10 + 1 / 2) / 3, (6 / 10 + 2 / 2) / 8),
    ],
)
def test_chance_of_one_item(one_side, grid, positive, negative, overall):
    records = one_side(*AGREEING[0], grid=grid) + one_side("none", "none", "no", negative=1, grid=grid)
    found = (chance_of(records, negative=0), chance_of(records, negative=1), chance_of(records))
    assert found == pytest.approx((positive, negative, overall))


def test_chance_of_the_benchmark(one_side):
    # 190 items of 2x2 (T1, T2, T4, T5: 55 + 60 + 40 + 35) and 45 of 3x3.
    items = [("2x2", number) for number in range(190)] + [("3x3", number) for number in range(45)]
    records = []
    for grid, number in items:
        records += one_side(*AGREEING[0], grid=grid, item=f"{grid}-{number}")
        records += one_side("none", "none", "no", negative=1, grid=grid, item=f"{grid}-{number}")
    assert len(records) == 1880
    positive, negative = chance_of(records, negative=0), chance_of(records, negative=1)
    assert positive == pytest.approx((190 * 0.26 + 45 * 0.18) / 235)
    assert negative == pytest.approx((190 * 0.3 + 45 * 0.7 / 3) / 235)
    assert chance_of(records) == pytest.approx((1175 * positive + 705 * negative) / 1880)


def test_chance_is_that_of_all_guesses(one_record):
    """Enumerated: of all equally likely answers to each question of an item, the share that is right."""
    places = ("top-left", "top-right", "bottom-left", "bottom-right", "none")
    negatives = ("detection_mcq", "detection_open", "visual_referring")
    shares, records = [], []
    for name, sign in [*((name, 0) for name in measures.FORMATS), *((name, 1) for name in negatives)]:
        answers = ("yes", "no") if name == measures.VISUAL else places
        right = [one_record(name, answer, negative=sign).measures["accuracy"].score for answer in answers]
        assert sum(right) == 1
        shares.append(math.fsum(right) / len(right))
        records.append(one_record(name, "none", negative=sign))
    assert chance_of(records) == pytest.approx(math.fsum(shares) / 8)


DRAWS = 60


def test_random_gets_what_theory_says(documents):
    """Every draw is an independent Bernoulli trial with the question's chance: the mean of N of them lies within four
    standard errors, sqrt(sum of p (1 - p)) / N, of the expected value."""
    scores = {0: [], 1: []}
    for doc in documents:
        prompt = hooks.doc_to_text(doc)
        for number in range(DRAWS):
            reply = answer_at_random(prompt, seeded_generator("random medobvious", doc["id"], number))
            found = measures.grid_question_record(doc, [reply]).measures
            scores[doc["negative"]].append((found["accuracy"].score, found["chance"].score))
    for part in (scores[0], scores[1], scores[0] + scores[1]):
        error = math.sqrt(sum(p * (1 - p) for _, p in part)) / len(part)
        expected = sum(p for _, p in part) / len(part)
        assert abs(sum(score for score, _ in part) / len(part) - expected) < 4 * error
