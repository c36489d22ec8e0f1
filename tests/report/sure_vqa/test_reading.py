"""From the log to answers: every way in which a log can be wrong, and what is read from one that is right."""

import doctest

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.report.sure_vqa import methods, reading
from lmms_medtasks.report.sure_vqa.reading import Shift, of, shift_of, sources
from lmms_medtasks.samples import result_files as results


@pytest.fixture
def read(write_sure_run):
    """Writes a run and reads its sources."""

    def of_run(**chosen):
        (file,) = results.files(write_sure_run(**chosen))
        return sources(results.read(file))

    return of_run


def test_examples_in_docstrings():
    assert doctest.testmod(reading).failed == doctest.testmod(methods).failed == 0


@pytest.mark.parametrize(
    ("task", "dataset", "name", "strength"),
    [
        ("sure_slake_modality", "slake", "modality", ""),
        ("sure_mimic_age_ood", "mimic", "age", ""),
        ("sure_ovqa_body_part_iid_noimage", "ovqa", "body_part", ""),
        ("sure_ovqa_body_part_noimage_iid", "ovqa", "body_part", ""),
        ("sure_slake_corrupted_low", "slake", "corrupted_low", "low"),
        ("sure_slake_modality_corrupted_high", "slake", "modality_corrupted_high", "high"),
        ("sure_ovqa_multimodal", "ovqa", "multimodal", ""),
    ],
)
def test_the_shift_is_in_the_tasks_name(task, dataset, name, strength):
    found = shift_of(task)
    assert (found, found.strength) == (Shift(dataset, name), strength)


def test_shifts_are_in_the_papers_order():
    names = ["mimic age", "slake corrupted_low", "other x", "slake question_type", "slake zzz", "slake modality",
             "mimic gender", "ovqa body_part"]  # fmt: skip
    found = sorted((Shift(*name.split()) for name in names), key=lambda shift: shift.place)
    assert [f"{shift.dataset} {shift.name}" for shift in found] == [
        "slake modality", "slake question_type", "slake zzz", "slake corrupted_low", "ovqa body_part", "mimic gender",
        "mimic age", "other x",
    ]  # fmt: skip


def test_answers(read):
    labels = {"c1": "1", "c2": "?", "c3": "0.5", "o1": "_", "o2": "!", "c4": "0", "o3": "4"}
    (source,) = read(labels=labels, more={"c1": {"question_id": "q"}})
    answers = {each.id: each for each in source.shifts[Shift("slake", "modality")]}
    assert {name: each.score for name, each in answers.items()} == {
        "c1": 1.0, "c2": None, "c3": 0.5, "o1": 1.0, "o2": None, "c4": 0.0, "o3": 4.0,
    }  # fmt: skip
    assert {name: (each.low, each.high) for name, each in answers.items() if name in ("c2", "o1", "o2")} == {
        "c2": (0.0, 1.0),
        "o1": (1.0, 1.0),
        "o2": (None, None),
    }
    assert [each.status for each in answers.values()] == ["ok", "ok", "ok", "empty", "failed", "ok", "ok"]
    assert answers["c3"].kind == "closed"  # a question with two options stands among the closed
    assert (answers["c1"].question_id, answers["c4"].question_id) == ("q", "c4")
    assert answers["o2"].text == {} and answers["c1"].text["bleu"] == 0.25
    assert [each.id for each in of(answers.values(), "ood", "open")] == ["o3"]


def test_with_and_without_images_are_apart_and_two_tasks_of_a_shift_together(read):
    (source,) = read(tasks=["sure_slake_modality_noimage"])
    assert not source.image_shown and source.label == "no image"
    iid = {"c1": "1", "o1": "5"}
    one, other = read(name="both", labels=iid, tasks=["sure_slake_modality", "sure_slake_modality_noimage"])
    assert (one.image_shown, other.image_shown) == (True, False)
    assert one.tasks == ("sure_slake_modality",)


def test_a_question_in_two_tasks_of_a_shift_is_refused(read):
    with pytest.raises(UserError, match="by another task of this run too"):
        read(tasks=["sure_slake_modality", "sure_slake_modality_iid"])


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"set": "train"}, r"Unknown set 'train' in .*jsonl, line 1\..*iid, ood"),
        ({"answer_type": "yes/no"}, r"Unknown answer_type 'yes/no' in .*line 1"),
        ({"set": None}, r"line 1: the record has no set\. The log is not of a SURE-VQA task"),
        ({"traditional": [{**dict.fromkeys(reading.TRADITIONAL, 1), "bleu": 25}]}, "line 1: bleu is 25, wanted a num"),
        ({"verdicts": [[{"status": "judged", "labels": {"stars": "9"}, "reason": ""}]]}, "line 1: its verdicts can't"),
        ({"judge": {"name": "x"}}, r"line 1: its verdicts can't be read"),
    ],
)  # fmt: skip
def test_a_record_that_does_not_fit_is_named(read, more, message):
    with pytest.raises(UserError, match=message):
        read(labels={"o1": "5"}, more={"o1": more})


def test_our_models_without_weights_are_baselines(read):
    assert read(model="medtasks_most_frequent")[0].baseline
    assert not read(name="other")[0].baseline
    assert not read(name="adapted", model="medtasks_peft", checkpoint="lora_seed1")[0].baseline
