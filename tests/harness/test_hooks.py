"""The functions that YAMLs name, called as the harness calls them."""

import json
import threading

import numpy as np
import pytest
from PIL import Image

from lmms_medtasks import degradations
from lmms_medtasks.errors import UserError
from lmms_medtasks.harness import hooks

OPTIONS = ["left", "right", "both"]


def document(**changes):
    pixels = np.random.default_rng(0).integers(0, 256, (40, 40), dtype=np.uint8)
    base = {
        "id": "q1", "question": "Where?", "options": OPTIONS, "answer": "B", "image_id": "i1", "data": "mini",
        "modality": "X-ray", "degradation": "", "severity": 0, "image": Image.fromarray(pixels),
    }  # fmt: skip
    return {**base, **changes}


def score(*replies, **changes):
    return hooks.process_results_choice(document(**changes), list(replies))


def test_score_is_the_mean_over_trials():
    # B right, C wrong, unreadable wrong: 1/3; two of three were read.
    result = score("B", "The answer is C", "no idea")
    assert result["accuracy"]["score"] == pytest.approx(1 / 3)
    assert result["accuracy"]["trials"] == ["B", "C", "unreadable"]
    assert result["accuracy"]["rules"] == ["single_letter", "first_capital", ""]
    assert result["parse_rate"] == {"parsed": 2, "replies": 3}
    assert result["failed_requests"] == {"failed": 0, "trials": 3}


def test_failed_requests_are_no_wrong_answers():
    result = score("B", "[LMMS_EVAL_REQUEST_FAILED after 5 retries] Error B", "B")
    assert result["accuracy"]["score"] == 1.0
    assert result["parse_rate"] == {"parsed": 2, "replies": 2}
    assert result["failed_requests"] == {"failed": 1, "trials": 3}


def test_all_failed_is_no_score():
    result = score("[LMMS_EVAL_BUDGET_EXCEEDED]", "[LMMS_EVAL_REQUEST_FAILED after 1 retries] x")
    assert "score" not in result["accuracy"]
    assert result["identical_trials"] == {"identical": None}


def test_identical_trials_need_two_replies():
    assert score("B", "B", "B")["identical_trials"]["identical"] is True
    assert score("B", "b", "B")["identical_trials"]["identical"] is False
    assert score("B")["identical_trials"]["identical"] is None


def test_record_carries_ids_and_tags_but_no_question():
    record = score("A")["accuracy"]
    assert {"id", "image_id", "data", "modality", "degradation", "severity", "answer"} <= set(record)
    assert record["option_count"] == 3
    assert not {"question", "options", "image", "images"} & set(record)


def test_keys_are_the_same_for_every_outcome():
    """The harness gathers metrics between ranks by key: a key that is missing somewhere would shift the others."""
    outcomes = [score("B"), score(""), score("[LMMS_EVAL_BUDGET_EXCEEDED]")]
    assert len({tuple(outcome) for outcome in outcomes}) == 1


def test_scoring_in_threads_gives_the_same():
    expected, results = score("B", "C", "B"), []
    workers = [threading.Thread(target=lambda: results.append(score("B", "C", "B"))) for _ in range(16)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert results == [expected] * 16


def test_prompt_takes_braces_and_placeholders_in_a_question_as_text():
    prompt = hooks.doc_to_text(
        document(question="Is {options} {x} in {question}?", options=["{question}", "no"]),
        {"prompt": "medq_deg/prompt.txt"},
    )
    assert "\nIs {options} {x} in {question}?\nA. {question}\nB. no\n" in prompt


@pytest.mark.parametrize("settings", [None, {}, {"prompt": "medq_deg/none.txt"}, {"prompt": "/none.txt"}])
def test_missing_prompt_is_named(settings):
    with pytest.raises(UserError, match="prompt"):
        hooks.doc_to_text(document(), settings)


def test_prompt_by_absolute_path(tmp_path):
    (tmp_path / "p.txt").write_text("{question}|{options}\n")
    assert hooks.doc_to_text(document(), {"prompt": str(tmp_path / "p.txt")}) == "Where?|A. left\nB. right\nC. both"


def test_clean_picture_is_untouched():
    doc = document()
    shown = hooks.doc_to_visual(doc)
    assert len(shown) == 1
    assert shown[0].mode == "RGB"
    assert (np.asarray(shown[0])[..., 0] == np.asarray(doc["image"])).all()


def pixels(doc, settings=None):
    return np.asarray(hooks.doc_to_visual(doc, settings)[0])


def test_degraded_by_the_documents_columns():
    doc = document(degradation="gaussian_noise", severity=2, question_id="q1")
    expected = degradations.apply(doc["image"], "gaussian_noise", severity=2, seed="q1/0/0", modality="X-ray")
    assert (pixels(doc)[..., 0] == np.asarray(expected)).all()
    assert (pixels(doc) == pixels(doc)).all()


def test_degraded_by_the_tasks_settings():
    settings = {"degradation": "gaussian_blur", "severity": 1}
    expected = degradations.apply(document()["image"], "gaussian_blur", severity=1, modality="X-ray")
    assert (pixels(document(), settings)[..., 0] == np.asarray(expected)).all()


def test_applied_parameters_travel_with_the_record():
    hooks.RENDERED.reset(["q1"])
    doc = document(degradation="object_rotation", severity=1)
    assert hooks.process_results_choice(doc, ["B"])["accuracy"]["degradation_parameters"] == []
    shown = pixels(doc)
    [parameters] = hooks.process_results_choice(doc, ["B"])["accuracy"]["degradation_parameters"]
    kept = json.loads(json.dumps(parameters))
    record = degradations.parameters_from_json("object_rotation", kept, modality="X-ray")
    again = degradations.apply_parameters(doc["image"], "object_rotation", record, modality="X-ray")
    assert (np.asarray(again) == shown[..., 0]).all()


def test_rendered_pictures_are_not_degraded_again():
    doc = document(degradation="gaussian_noise", severity=2)
    assert (pixels(doc, {"rendered": True})[..., 0] == np.asarray(doc["image"])).all()


def test_task_seed_and_question_move_the_draw():
    doc = document(degradation="gaussian_noise", severity=1)
    assert (pixels(doc) != pixels(doc, {"seed": 1})).any()
    assert (pixels(doc) != pixels({**doc, "id": "q2"})).any()


def test_several_pictures():
    doc = document()
    shown = hooks.doc_to_visual({**doc, "image": None, "images": [doc["image"], doc["image"]]})
    assert [image.mode for image in shown] == ["RGB", "RGB"]


def test_a_document_without_our_image_columns_is_refused_not_shown_without_pictures():
    doc = {key: value for key, value in document().items() if key != "image"}
    with pytest.raises(UserError, match=r"'q1' has no column image or images.*columns: .*picture"):
        hooks.doc_to_visual({**doc, "picture": document()["image"]})
    assert hooks.doc_to_visual({**doc, "picture": None}, {"no_image": True}) == []
    assert hooks.doc_to_visual({**doc, "image": None, "images": []}) == []  # a question without pictures


def test_trials_are_seeded_only_when_asked():
    import torch

    hooks.TRIALS.reset(["q1"])
    torch.manual_seed(5)
    untouched = torch.rand(2)
    torch.manual_seed(5)
    hooks.doc_to_visual(document())
    assert torch.equal(torch.rand(2), untouched)
    hooks.doc_to_visual(document(), {"seed_trials": True})
    first = torch.rand(2)
    hooks.doc_to_visual(document(), {"seed_trials": True})
    assert not torch.equal(torch.rand(2), first)


def rows(identical, count):
    return [{"identical": identical} for _ in range(count)]


def test_suspicious_trials_are_said(capture_log):
    assert hooks.identical_trials(rows(True, 40)) == 1.0
    assert "All trials gave the same reply on 100% of 40 questions" in capture_log()


@pytest.mark.parametrize("records", [rows(True, 10), rows(True, 30) + rows(False, 10), rows(None, 40)])
def test_few_or_varied_trials_are_not(capture_log, records):
    hooks.identical_trials(records)
    assert capture_log() == ""


def test_failed_requests_are_said(capture_log):
    assert hooks.failed_requests([{"failed": 1, "trials": 3}, {"failed": 0, "trials": 3}]) == 1
    assert "1 of 6 requests failed" in capture_log()


@pytest.fixture
def capture_log():
    from loguru import logger

    lines = []
    number = logger.add(lambda message: lines.append(str(message)), level="WARNING")
    yield lambda: "".join(lines)
    logger.remove(number)
