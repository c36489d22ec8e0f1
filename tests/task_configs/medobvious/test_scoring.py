"""What a reply is worth, what the harness's table is made of, and what random guessing gets through all of it."""

import json
import math
import pickle

import pyarrow.parquet as pq
import pytest
from lmms_eval.utils import handle_non_serializable, load_yaml_config

from lmms_medtasks.baselines import random_choice
from lmms_medtasks.data import mini
from lmms_medtasks.harness.plugin import task_folder
from lmms_medtasks.seeding import generator
from lmms_medtasks.statistics import triage
from lmms_medtasks.task_configs.medobvious import hooks, scoring


@pytest.fixture(scope="module")
def documents():
    rows = pq.read_table(mini.path("medobvious", "test")).to_pylist()
    return [{key: value for key, value in row.items() if key not in ("image", "images")} for row in rows]


def one(documents, task_type, negative=0, grid="2x2"):
    wanted = (task_type, negative, grid)
    return next(row for row in documents if (row["task_type"], row["negative"], row["grid"]) == wanted)


def right_reply(doc):
    return doc["answer"]


def test_right_and_wrong_replies_in_every_format(documents):
    for doc in documents:
        assert scoring.process_results(doc, [right_reply(doc)])["accuracy"]["score"] == 1
        wrong = {"yes": "no", "no": "yes"}.get(doc["answer"], "image 99")
        assert scoring.process_results(doc, [wrong])["accuracy"]["score"] == 0


def test_multiple_choice_takes_letter_and_text(documents):
    doc = one(documents, "detection_mcq")
    place = doc["answer_position"]
    for reply in (f"{doc['answer']}) {place}", f"It is the {place} image.", f"The answer is ({doc['answer']})."):
        record = scoring.process_results(doc, [reply])["accuracy"]
        assert (record["trials"], record["score"]) == ([place], 1)


def test_an_unreadable_reply_is_wrong_and_counted(documents):
    values = scoring.process_results(one(documents, "detection_open"), ["There are four scans."])
    assert values["accuracy"]["score"] == 0
    assert values["accuracy"]["trials"] == ["unreadable"]
    assert values["parse_rate"] == {"parsed": 0, "replies": 1}
    assert values["abstention_rate"]["score"] == 1


def test_a_failed_request_has_no_score_anywhere(documents):
    for negative in (0, 1):
        values = scoring.process_results(one(documents, "detection_open", negative), ["[LMMS_EVAL_REQUEST_FAILED] 500"])
        assert "score" not in values["accuracy"]
        assert values["failed_requests"] == {"failed": 1, "trials": 1}
        assert values["parse_rate"] == {"parsed": 0, "replies": 0}
        empty = ("accuracy_positive", "accuracy_negative", "false_alarm_rate", "abstention_rate", "accuracy_t1")
        assert all(values[name] == {} for name in empty)


def test_the_word_none_is_an_answer(documents):
    """Some runners write "None" where a server sent nothing; here it is what the question asks for."""
    assert scoring.process_results(one(documents, "detection_open", 1), ["None"])["accuracy"]["score"] == 1
    assert scoring.process_results(one(documents, "detection_mcq", 1), ["None"])["accuracy"]["score"] == 1


TASKS = sorted(path for path in (task_folder() / "medobvious").glob("*.yaml"))


@pytest.mark.parametrize("path", TASKS, ids=lambda path: path.stem)
def test_every_metric_of_the_yaml_has_its_value_in_every_row(path, documents):
    config = load_yaml_config(str(path))
    names = {metric["metric"] for metric in config["metric_list"]}
    for task_type in triage.FORMATS:
        assert set(config["process_results"](one(documents, task_type), ["top-left"])) == names
    # Empty, or with failed requests only: no number, never 0.
    for metric in config["metric_list"]:
        assert metric["aggregation"]([]) in (None, 0)
        assert (metric["aggregation"]([]) is None) == (metric["metric"] != "failed_requests")


def test_the_log_has_a_record_once_and_ranks_can_exchange_it(documents):
    values = scoring.process_results(one(documents, "detection_mcq"), ["A"])
    logged = json.loads(json.dumps(values, default=handle_non_serializable))
    assert json.dumps(logged).count('"trials": ["') == 1
    assert logged["consistency"] == logged["paper_average"] == "see accuracy"
    assert pickle.loads(pickle.dumps(values))["consistency"].record == values["accuracy"]
    assert values["accuracy_t1"] == {"score": values["accuracy"]["score"], "item": values["accuracy"]["item"]}


def test_metrics_over_all_formats(documents):
    values = [scoring.process_results(doc, [right_reply(doc)]) for doc in documents]

    def metric(name):
        return getattr(scoring, name)([value[name] for value in values])

    assert metric("paper_average") == metric("consistency") == 1
    assert metric("format_gap_detection") == metric("format_gap_referring") == 0
    # Always "none": every negative right, every positive wrong, of one mind throughout.
    silent = ["no" if doc["task_type"] == "visual_referring" else "none" for doc in documents]
    values = [scoring.process_results(doc, [reply]) for doc, reply in zip(documents, silent, strict=True)]
    assert metric("consistency") == 1
    # Table 2's columns: detection and visual 1/2 each, referring 0, positive 0, negative 1.
    assert metric("paper_average") == pytest.approx((3 / 2 + 1) / 7)


DRAWS = 60


def test_random_gets_what_theory_says(documents):
    """Every draw is an independent Bernoulli trial with the question's chance: the mean of N of them lies within four
    standard errors, sqrt(sum of p (1 - p)) / N, of the expected value."""
    expected = triage.expected_accuracy(documents)
    scores = {0: [], 1: []}
    for doc in documents:
        prompt = hooks.doc_to_text(doc)
        for number in range(DRAWS):
            reply = random_choice.answer(prompt, generator("random medobvious", doc["id"], number))
            values = scoring.process_results_format(doc, [reply])
            assert values["parse_rate"]["parsed"] == 1
            scores[doc["negative"]].append((values["accuracy"]["score"], triage.chance(doc)))
    parts = {"positive": scores[0], "negative": scores[1], "overall": scores[0] + scores[1]}
    for name, part in parts.items():
        error = math.sqrt(sum(p * (1 - p) for _, p in part)) / len(part)
        assert abs(sum(score for score, _ in part) / len(part) - getattr(expected, name)) < 4 * error
    assert expected.positive == pytest.approx(sum(p for _, p in scores[0]) / len(scores[0]))
