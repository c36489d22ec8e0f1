"""From runs to sources: every way in which a log can be wrong, and what is read from one that is right."""

import doctest

import numpy as np
import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.task_configs.sure_vqa import report_published
from lmms_medtasks.task_configs.sure_vqa.measures import TEXT
from lmms_medtasks.task_configs.sure_vqa.report_published import PublishedShift, baseline_of

MODALITY = PublishedShift("slake", "modality")


@pytest.fixture
def read(write_sure_run, sources_of):
    """Writes a run and reads its sources."""
    return lambda **chosen: sources_of(write_sure_run(**chosen))


def test_examples_in_docstrings():
    assert doctest.testmod(report_published).failed == 0


@pytest.mark.parametrize(
    ("tag", "dataset", "name", "strength"),
    [
        ("slake_modality", "slake", "modality", ""),
        ("ovqa_body_part", "ovqa", "body_part", ""),
        ("slake_corrupted_low", "slake", "corrupted_low", "low"),
        ("slake_modality_corrupted_high", "slake", "modality_corrupted_high", "high"),
    ],
)
def test_the_shift_of_a_question(tag, dataset, name, strength):
    found = PublishedShift.of(tag)
    assert (found, found.strength) == (PublishedShift(dataset, name), strength)
    assert found.where()["shift"] == tag


def test_shifts_are_in_the_papers_order():
    names = ["mimic age", "slake corrupted_low", "other x", "slake question_type", "slake zzz", "slake modality",
             "mimic gender", "ovqa body_part"]  # fmt: skip
    found = sorted((PublishedShift(*name.split()) for name in names), key=lambda shift: shift.place)
    assert [f"{shift.dataset} {shift.name}" for shift in found] == [
        "slake modality", "slake question_type", "slake zzz", "slake corrupted_low", "ovqa body_part", "mimic gender",
        "mimic age", "other x",
    ]  # fmt: skip


def test_answers(read):
    labels = {"c1": "1", "c2": "?", "c3": "0.5", "o1": "_", "o2": "!", "c4": "0", "o3": "4"}
    (source,) = read(labels=labels, more={"c1": {"pair": "q"}})
    asked = {kind: source.rows.where(MODALITY.where(kind)) for kind in ("closed", "open")}
    found = {name: score for kind, rows in asked.items()
             for name, score in zip(rows.scored(kind).column("id"), rows.scored(kind).column(f"{kind}.score"),
                                    strict=True)}  # fmt: skip
    assert found == {"c1": 1.0, "c3": 0.5, "c4": 0.0, "o1": 1.0, "o3": 4.0}
    bounds = {name: (low, high) for kind, rows in asked.items() for name, low, high in
              zip(rows.column("id"), rows.column(f"{kind}.low"), rows.column(f"{kind}.high"), strict=True)}  # fmt: skip
    assert (bounds["c2"], bounds["o1"]) == ((0.0, 1.0), (1.0, 1.0))
    assert np.isnan(bounds["o2"]).all()  # a failed request has no bounds
    assert [trials[0] for trials in source.rows.column("trials")] == ["ok", "ok", "ok", "empty", "failed", "ok", "ok"]
    assert "c3" in asked["closed"].column("id")  # a question with two options stands among the closed
    pairs = dict(zip(source.rows.column("id"), source.rows.column("pair"), strict=True))
    assert (pairs["c1"], pairs["c4"]) == ("q", "c4")
    bleu = dict(zip(source.rows.column("id"), source.rows.column("bleu.score"), strict=True))
    assert bleu["c1"] == 0.25 and np.isnan(bleu["o2"])
    assert source.rows.where(MODALITY.where("open", "ood")).column("id").tolist() == ["o3"]


def test_with_and_without_images_are_apart_and_two_tasks_of_a_shift_together(read):
    (source,) = read(tasks=["sure_slake_modality_noimage"])
    assert source.condition == "no image"
    iid = {"c1": "1", "o1": "5"}
    one, other = read(name="both", labels=iid, tasks=["sure_slake_modality_noimage", "sure_slake_modality"])
    assert (one.condition, other.condition) == ("", "no image")
    assert one.tasks == ("sure_slake_modality",)


def test_a_question_in_two_tasks_of_a_shift_is_refused(read):
    with pytest.raises(UserError, match=r"jsonl, line 1: question 'c1' of SLAKE, modality was asked by another task"):
        read(tasks=["sure_slake_modality", "sure_slake_modality_iid"])


IID, OOD = {"c1": "1", "o1": "5"}, {"c4": "1", "o3": "3"}


def test_the_tests_of_a_shift_in_two_runs_of_a_model_are_one_source(write_sure_run, sources_of):
    """RR needs both tests: here one run asked the i.i.d. one, another the OoD one."""
    runs = [
        write_sure_run("one", labels=IID, tasks=["sure_slake_modality_iid"]),
        write_sure_run("two", labels=OOD, tasks=["sure_slake_modality_ood"], date="20260102_000000"),
    ]
    (source,) = sources_of(*runs)
    assert source.tasks == ("sure_slake_modality_iid", "sure_slake_modality_ood")
    assert report_published.shift_estimate(source, MODALITY, "open", "rr").estimate == pytest.approx(3 / 5)


def test_what_a_model_was_asked_again_is_another_source(write_sure_run, sources_of):
    runs = [write_sure_run(name, date=f"2026010{name}_000000") for name in ("1", "2")]
    assert [each.name for each in sources_of(*runs)] == [
        "some_model [20260101_000000] (with images)", "some_model [20260102_000000] (with images)",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "other",
    [{"checkpoint": "another"}, {"data": "mini"}, {"judge": "openai:other"}],
    ids=lambda other: next(iter(other)),
)
def test_runs_of_another_model_or_data_or_judge_are_apart(write_sure_run, sources_of, other):
    runs = [
        write_sure_run("one", labels=IID, tasks=["sure_slake_modality_iid"]),
        write_sure_run("two", labels=OOD, tasks=["sure_slake_modality_ood"], **other),
    ]
    assert len(sources_of(*runs)) == 2


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"tags": {"set": "train"}}, r"Unknown set 'train' in .*jsonl, line 1;.*iid, ood"),
        ({"tags": {"answer_type": "yes/no"}}, r"Unknown answer_type 'yes/no' in .*line 1"),
        ({"tags": {"set": None}}, r"Unknown set 'None' in .*line 1"),
        ({"measures": dict.fromkeys(TEXT, {"score": 25})}, "line 1: exact_match is 25, expected a number"),
        ({"measures": {"open": {"score": 0.5}}}, "line 1: open is 0.5, expected a number from 1 to 5"),
        ({"judgement": {"judge": {"name": "x"}}}, r"line 1: its judgement can't be read"),
        ({"judgement": {"verdicts": [[{"status": "sure"}]]}}, r"line 1: its judgement can't be read"),
    ],
)  # fmt: skip
def test_a_record_that_does_not_fit_is_named(read, more, message):
    with pytest.raises(UserError, match=message):
        read(labels={"o1": "5"}, more={"o1": more})


def test_our_models_without_weights_are_baselines(read):
    assert baseline_of(read(model="medtasks_most_frequent")[0]) == "medtasks_most_frequent"
    assert not baseline_of(read(name="other")[0])
    assert not baseline_of(read(name="adapted", model="medtasks_peft", checkpoint="lora_seed1")[0])
