"""Every question about the phantoms can be asked, every option can be right, its capability is one of the paper's."""

from __future__ import annotations

import pytest

from lmms_medtasks.baselines.phantoms import PhantomQuestion, all_questions
from tools.mini import phantoms

# Fine-grained capability -> mid-level capability, from the paper's Table 4 (0.A.2).
TABLE_4 = {
    "Clinical Understanding": [
        "Disease Diagnosis", "Severity Grading", "Basic Science Understanding", "Lesion Grading",
        "Attribute Recognition", "Treatment-Understanding",
    ],
    "Imaging Perception": [
        "Counting", "Surgical Workflow Recognition", "Image Quality Grading", "Surgical Instrument Recognition",
    ],
    "Anatomical Recognition": [
        "Skeletal System", "Cardiovascular", "Abdominal Structures", "Respiratory System", "Gastrointestinal Tract",
        "Neurovascular", "General Structures", "Muscle Recognition", "Cell and Microbes",
    ],
    "Basic Science Reasoning": ["General Science Reasoning", "Pathophysiological Reasoning", "Clinical Correlation"],
    "Diagnosis Reasoning": [
        "General Diagnosis Reasoning", "Laboratory/Imaging Interpretation", "Clinical Presentation Analysis",
        "Disease Mechanism Recognition",
    ],
    "Treatment Reasoning": [
        "Treatment Reasoning", "Pharmacological Treatment", "Initial/Emergency Management",
        "Surgical Treatment Selection",
    ],
}  # fmt: skip
MID_LEVEL = {fine: mid for mid, fines in TABLE_4.items() for fine in fines}
IDS = [question.name for question in all_questions()]


def _values(question: PhantomQuestion) -> dict[str, tuple[str, ...]]:
    return {**phantoms.facts_of(question.modalities[0]), "modality": question.modalities}


@pytest.mark.parametrize("question", all_questions(), ids=IDS)
def test_a_question_names_facts_that_exist_and_every_option_can_be_right(question):
    values = _values(question)
    for condition in question.options.values():
        for fact, allowed in condition.items():
            assert set(allowed) <= set(values[fact]), fact
    assert {option for _, option in question.cases(values)} == set(question.options)


@pytest.mark.parametrize("question", all_questions(), ids=IDS)
def test_a_question_is_well_formed(question):
    assert 3 <= len(question.options) <= 5
    assert question.capability in MID_LEVEL
    assert set(question.modalities) <= set(phantoms.MODALITIES)
    assert "\n" not in question.text and question.text.endswith("?")


def test_names_and_texts_are_unique():
    assert len(set(IDS)) == len(IDS)
    assert len({question.text for question in all_questions()}) == len(IDS)


@pytest.mark.parametrize("modality", phantoms.MODALITIES)
def test_every_modality_has_questions_of_all_six_capabilities(modality):
    found = {MID_LEVEL[q.capability] for q in all_questions() if modality in q.modalities}
    assert found == set(TABLE_4)


def test_asking_for_the_modality_does_not_name_it():
    for question in all_questions():
        if len(question.modalities) > 1:
            options = [word.lower() for option in question.options for word in option.split()]
            assert not set(question.text.lower().rstrip("?").split()) & (set(options) - {"of", "a", "imaging"})


def test_the_first_option_that_fits_is_right():
    question = PhantomQuestion(
        "q", ("CT",), "Counting", "?", {"big": {"size": ("large",)}, "odd": {"n": ("1", "3")}, "else": {}}
    )
    assert question.answer({"size": "large", "n": "1"}) == "big"
    assert question.answer({"size": "small", "n": "3"}) == "odd"
    assert question.answer({"size": "small", "n": "2"}) == "else"
    assert question.facts == ("size", "n")


def test_without_a_fitting_option_the_question_is_not_asked():
    question = PhantomQuestion("q", ("CT",), "Counting", "?", {"a": {"mark": ("a",)}, "b": {"mark": ("b",)}})
    assert question.answer({"mark": "none"}) is None
    assert list(question.cases({"mark": ("none", "a", "b")})) == [({"mark": "a"}, "a"), ({"mark": "b"}, "b")]
