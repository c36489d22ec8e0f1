"""The file of shifts, and what is said where a rule fits nothing or is none."""

import pytest

from lmms_medtasks.data import sources
from lmms_medtasks.errors import UserError
from lmms_medtasks.task_configs.sure_vqa import source_shifts

MIMIC = {"split": "test", "gender": "M", "age": 70, "ethnicity": "WHITE", "content_type": "size"}


def test_the_files_shifts_look_at_tags_of_their_suites():
    for shift in source_shifts.all_shifts().values():
        assert set(shift.fields) <= set(sources.get(shift.suite).tags), shift.name


def test_the_papers_sizes_are_of_shifts_that_exist():
    for suite in ("sure_slake", "sure_ovqa", "sure_mimic"):
        assert set(source_shifts.paper_sizes(suite)["shifts"]) <= {
            shift.name for shift in source_shifts.suite_shifts(suite)
        }
    # Table 1: the two parts of the test set are the test set, but for the training rows that joined.
    slake = source_shifts.paper_sizes("sure_slake")
    size = slake["shifts"]["sure_slake_question_type"]
    assert size["test_iid"] + size["test_ood"] == slake["all"]["test"]
    modality = slake["shifts"]["sure_slake_modality"]
    joined = slake["all"]["train"] - modality["train_iid"]
    assert modality["test_iid"] + modality["test_ood"] - joined == slake["all"]["test"]
    # Table 2 alike.
    ovqa = source_shifts.paper_sizes("sure_ovqa")
    organ = ovqa["shifts"]["sure_ovqa_body_part"]
    assert organ["test_iid"] + organ["test_ood"] - (ovqa["all"]["train"] - organ["train_iid"]) == ovqa["all"]["test"]


@pytest.mark.parametrize(
    ("age", "part"), [(-1, ""), (18, "ood"), (39, "ood"), (40, ""), (59, ""), (60, "iid"), (91, "iid")]
)
def test_age_has_a_gap_and_unknown_is_on_no_side(age, part):
    assert source_shifts.get("sure_mimic_age").part({**MIMIC, "age": age}) == part


@pytest.mark.parametrize(("ethnicity", "part"), [("WHITE", "iid"), ("BLACK", "ood"), ("UNKNOWN/OTHER", ""), ("", "")])
def test_ethnicity(ethnicity, part):
    assert source_shifts.get("sure_mimic_ethnicity").part({**MIMIC, "ethnicity": ethnicity}) == part


def test_questions_about_sex_are_in_no_part_of_the_gender_shift():
    shift = source_shifts.get("sure_mimic_gender")
    assert shift.part({**MIMIC, "gender": "F"}) == "ood"
    assert shift.part({**MIMIC, "gender": "F", "content_type": "Gender"}) == ""


def test_values_are_compared_in_any_case():
    shift = source_shifts.get("sure_slake_modality")
    assert shift.part({"modality": " x-ray"}) == "ood"
    assert shift.part({"modality": "X-Rays"}) == "iid"


def test_only_rows_of_train_and_test_join():
    shift = source_shifts.get("sure_slake_modality")
    assert [shift.tests({"modality": "X-Ray", "split": split}) for split in ("train", "validate", "test")] == [
        "ood",
        "",
        "ood",
    ]
    assert [shift.trains({"modality": "CT", "split": split}) for split in ("train", "validate", "test")] == [
        True,
        False,
        False,
    ]


def test_a_rule_that_fits_nothing_names_the_values_present():
    rows = [{"split": "test", "content_type": name} for name in ("Organ", "Shape", "Organ")]
    with pytest.raises(
        UserError, match=r"no OoD test question among 3: nothing matches .*Size.*content_type: 'Organ', 'Shape'"
    ):
        source_shifts.question_sides(source_shifts.get("sure_slake_question_type"), rows)
    with pytest.raises(UserError, match=r"no i\.i\.d\. test question among 1"):
        source_shifts.question_sides(
            source_shifts.get("sure_slake_question_type"), [{"split": "test", "content_type": "Size"}]
        )


def test_training_rows_alone_are_no_test():
    rows = [{"split": "train", "content_type": name} for name in ("Organ", "Size")]
    with pytest.raises(UserError, match="no OoD test question"):
        source_shifts.question_sides(source_shifts.get("sure_slake_question_type"), rows)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"suite": "sure_slake"}, "needs a suite and a rule ood"),
        ({"ood": {"modality": ["CT"]}}, "needs a suite and a rule ood"),
        ({"suite": "sure_slake", "ood": {"modality": "CT"}}, "the condition on modality is 'CT', expected a list"),
        (
            {"suite": "sure_slake", "ood": {"age": {"above": 3}}},
            "expected a list of values or one of at_least, below, not",
        ),
        ({"suite": "sure_slake", "ood": {"age": {"at_least": 3, "below": 9}}}, "expected a list"),
        ({"suite": "sure_slake", "ood": {"modality": ["CT"]}, "join_tran": True}, "Did you mean 'join_train'"),
        ({"suite": "sure_slake", "ood": {"modality": ["CT"]}, "unknown": None}, "unknown is None, expected a field"),
        ({"suite": "sure_slake", "ood": ["CT"]}, r"ood is \['CT'\], expected a field and its values"),
        ({"suite": "sure_slake", "ood": {"modality": ["CT"]}, "dropped": {"age": {"below": 3}}}, "expected a list of"),
    ],
)
def test_an_entry_that_is_none(entry, message):
    with pytest.raises(UserError, match=message):
        source_shifts.read_shift_rule("mine", entry)


def test_an_unknown_shift():
    with pytest.raises(UserError, match="Did you mean 'sure_slake_modality'"):
        source_shifts.get("sure_slake_modalty")
