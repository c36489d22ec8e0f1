"""The design: enough of everything, balanced, and nothing to be had from the text alone."""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest

from lmms_medtasks.baselines.phantoms import PhantomQuestion
from lmms_medtasks.errors import UserError
from tools.mini import design, phantoms


@pytest.fixture(scope="module")
def asked():
    return design.asked()


def test_each_modality_has_enough_pictures_and_questions(asked):
    pictures = {(a.picture.modality, a.picture.id) for a in asked}
    assert Counter(modality for modality, _ in pictures) == dict.fromkeys(phantoms.MODALITIES, 20)
    assert min(Counter(a.picture.modality for a in asked).values()) >= 40


def test_letters_are_balanced_for_every_number_of_options(asked):
    for k in (3, 4, 5):
        counts = Counter(a.right for a in asked if len(a.options) == k)
        assert len(counts) == k and max(counts.values()) - min(counts.values()) <= 1


def test_the_right_option_is_the_one_that_the_facts_make_right(asked):
    for a in asked:
        assert a.options[a.right] == a.question.answer(a.picture.facts)
        assert sorted(a.options) == sorted(a.question.options)


def test_every_option_of_a_question_is_right_equally_often(asked):
    counts = defaultdict(Counter)
    for a in asked:
        counts[a.question.text][a.options[a.right]] += 1
    for text, by_option in counts.items():
        assert len(set(by_option.values())) == 1 and len(by_option) >= 3, text


def test_answering_by_the_other_answers_to_the_same_text_gets_no_more_than_chance(asked):
    # Leave one out: the most frequent right option among the other questions with the same text and options. Options
    # are balanced, so leaving one out makes it the rarest, and the score is at most chance.
    answers = defaultdict(list)
    for a in asked:
        answers[a.question.text, tuple(sorted(a.options))].append(a.options[a.right])
    hits = chance = 0.0
    for (_, options), given in answers.items():
        for right in given:
            others = Counter(given) - Counter([right])
            most = [option for option, count in others.items() if count == max(others.values())]
            hits += (right in most) / len(most)
            chance += 1 / len(options)
    assert hits <= chance
    assert len(asked) / 5 < chance < len(asked) / 3


def test_no_picture_is_asked_the_same_question_twice(asked):
    assert max(Counter((a.picture.id, a.question.name) for a in asked).values()) == 1


def test_the_first_rows_are_a_broad_sample(asked):
    assert {a.picture.modality for a in asked[:7]} == set(phantoms.MODALITIES)


def test_facts_of_the_pictures_are_balanced():
    for modality in phantoms.MODALITIES:
        drawn = design.pictures(modality, "test")
        for fact, values in phantoms.facts_of(modality).items():
            counts = Counter(picture.facts[fact] for picture in drawn)
            if fact == "mark":
                assert {counts[value] for value in values if value != "none"} == {2}
            else:
                assert max(counts.values()) - min(counts[value] for value in values) <= 1, (modality, fact)


def test_another_set_has_other_pictures():
    mini, other = design.pictures("CT", "mini"), design.pictures("CT", "other")
    assert [p.facts for p in mini] != [p.facts for p in other]
    assert not {p.id for p in mini} & {p.id for p in other}


def test_a_rule_that_cannot_be_balanced_is_an_error_that_says_so(monkeypatch):
    never = PhantomQuestion(
        "q", ("CT",), "Counting", "?",
        {"a": {"lesions": ("1",), "stones": ("both",), "spleen": ("marked",), "mark": ("liver",)}, "b": {}},
    )  # fmt: skip
    monkeypatch.setattr(design, "all_questions", lambda: (never,))
    monkeypatch.setattr(design, "ROUNDS", 15)
    with pytest.raises(UserError, match="CT answers that no 20 pictures of set 'mini'"):
        design.asked()
