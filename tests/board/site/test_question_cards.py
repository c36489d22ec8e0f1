"""Questions as cards: pictures, text, options, replies with the marks that the score bears out."""

import math
from dataclasses import replace
from urllib.parse import unquote, urlsplit

import numpy as np
import pytest

from lmms_medtasks.board import packing
from lmms_medtasks.board.collect import collect_entries
from lmms_medtasks.board.shown_answers import ShownAnswer
from lmms_medtasks.board.site import pages, suite_words
from lmms_medtasks.board.site.folder import SiteFolder
from lmms_medtasks.board.site.question_cards import QuestionCards, mark_replies, question_address, question_content
from lmms_medtasks.board.site.question_data import QuestionData, QuestionTexts


@pytest.fixture
def cards_of(tmp_path):
    def make(board, task, ids, tasks=()):
        folder = SiteFolder(tmp_path / "site")
        entries = [entry for entry in board.entries if entry.task in (task, *tasks)]
        found = QuestionCards(QuestionData(folder, suite_words.AllowedData()), lambda entry: entry.model.name)
        return found.of(task, ids, entries)

    return make


def rendered(cards):
    template = pages._page_environment().from_string(
        '{% from "question_card.html" import question_card %}'
        '{% for card in cards %}{{ question_card(card, "../", "", "", "") }}{% endfor %}'
    )
    return template.render(cards=cards)


def test_a_card_has_the_replies_to_all_levels_of_its_question(board, cards_of, hostile):
    (card,) = cards_of(board, "medq_deg", ["q1/blur/L2"])
    assert card.address == "questions/medq_deg.html#medq_deg/q1%2Fblur%2FL2"
    conditions = [[each.condition for each in model] for model in card.answers]
    assert conditions == [["clean", "mild", "severe"]] * 2
    good = next(each for each in card.answers if each[0].model == "good")
    # "AAAAAB": the second question is right where it is clean and mild, and wrong ("C") where it is severe.
    assert [[reply.text + reply.mark for reply in each.replies] for each in good] == [
        ["A✓", "A✓"], ["A✓", "A✓"], ["C✗", "C✗"],
    ]  # fmt: skip
    assert not card.pictures and card.note  # the made-up question is not in the data


def test_a_clean_question_has_no_replies_to_its_degraded_forms(board, cards_of):
    (card,) = cards_of(board, "medq_deg", ["q1"])
    assert [[each.condition for each in model] for model in card.answers] == [["clean"]] * 2


def test_what_a_model_got_for_a_question_in_two_tasks_says_in_which(tmp_path, write, rows_of, cards_of):
    tasks = ("sure_slake_modality", "sure_mimic_age")
    write(tmp_path / "run", "m", "AB", "SAID", tasks=dict.fromkeys(tasks, rows_of["sure_slake_modality"]))
    board = collect_entries([tmp_path / "run"])
    (card,) = cards_of(board, tasks[0], ["s0"], tasks)
    assert [each.condition for each in card.answers[0]] == [
        "MIMIC-CXR: other age", "SLAKE: unseen modality"
    ]  # fmt: skip
    assert rendered([card]).count("SLAKE: unseen modality") == 1
    (alone,) = cards_of(board, tasks[0], ["s0"])
    assert [each.condition for each in alone.answers[0]] == [""]


def test_texts_of_others_are_escaped_on_a_card(board, cards_of, hostile):
    html = rendered(cards_of(board, "medq_deg", ["q0"]))
    assert "<script" not in html and 'onmouseover="' not in html and "&lt;script&gt;" in html


def test_cards_of_credentialed_data_have_scores_and_say_why_no_more(tmp_path, write, rows_of, cards_of):
    metadata = {"agreement": "an agreement", "data": "mini"}
    write(
        tmp_path / "run", "m", "AB", "SAID", tasks={"sure_mimic_age": rows_of["sure_slake_modality"]}, metadata=metadata
    )
    (card,) = cards_of(collect_entries([tmp_path / "run"]), "sure_mimic_age", ["s0"])
    assert "terms" in card.note and not card.text and not card.pictures and not card.right
    assert [each.replies for each in card.answers[0]] == [()]
    assert card.answers[0][0].score == "100.0%"
    assert "SAID" not in rendered([card])


def test_a_card_of_submissions_has_scores_alone(tmp_path, write, rows_of, cards_of):
    write(tmp_path / "run", "m", "AB", "SAID", tasks={"medq_deg": rows_of["medq_deg"]})
    content = packing.make_submission(collect_entries([tmp_path / "run"]).entries, "Ada Lovelace <ada@example.org>")
    packing.write_submission(content, tmp_path / "packs" / "entry.json")
    (card,) = cards_of(collect_entries([tmp_path / "packs"]), "medq_deg", ["q0"])
    assert card.note and not card.text
    assert [(each.replies, each.score, each.mark) for each in card.answers[0]][0] == ((), "100.0%", "✓")


def test_the_models_beyond_three_are_folded(board, cards_of):
    (card,) = cards_of(board, "medq_deg", ["q0"])
    assert len(card.answers) == 2 and "<details" not in rendered([card])
    page = rendered([replace(card, answers=card.answers * 2)])
    assert "1 more model</summary>" in page and page.index("<details") > page.index("<th")


def test_a_log_is_gone_through_once_for_all_of_its_questions(board, tmp_path, monkeypatch):
    data = QuestionData(SiteFolder(tmp_path / "site"), suite_words.AllowedData())
    cards = QuestionCards(data, lambda entry: entry.model.name)
    entries = [entry for entry in board.entries if entry.task == "medq_deg"]
    cards.of("medq_deg", ["q0"], entries)
    starts = dict(data.logs._starts)
    monkeypatch.setattr(np, "cumsum", lambda *_: pytest.fail("a log is gone through again"))
    cards.of("medq_deg", ["q1", "q2"], entries)
    assert data.logs._starts == starts and len(starts) == 2


@pytest.mark.parametrize(
    ("trials", "expected", "normal", "texts", "said"),
    [
        (("A", "B", "failed"), "A", 0.5, (), ["A✓", "B✗", "no reply"]),
        (("A", "B"), "A", 1.0, (), ["A", "B"]),  # the score counts them otherwise: no mark that it does not bear out
        (("A",), "A", math.nan, (), ["A"]),
        (("ok",), None, 0.25, ("some words", ), ["some words~"]),
        (("empty",), None, math.nan, (" \n",), ["(empty)"]),
    ],
)  # fmt: skip
def test_a_reply_has_the_mark_that_its_score_bears_out(trials, expected, normal, texts, said):
    assert [each.text + each.mark for each in mark_replies(trials, expected, normal, texts)] == said


def test_options_stand_apart_where_the_model_was_asked_just_them():
    material = QuestionTexts("Which?\n\n  A) one\n  B) two\n\nOne letter only.", ("one", "two"), "B")
    asked = ShownAnswer("Look.\nWhich?\n\n  A) one\n  B) two\n\nOne letter only.", "two", ())
    assert question_content(material, asked) == ("Which?\n\nOne letter only.", (("A", "one"), ("B", "two")), "B")
    bare = QuestionTexts("Which?", ("one", "two"), "A")
    assert question_content(bare, ShownAnswer("Which?\nA. one\nB. two", "A", ())) == (
        "Which?",
        (("A", "one"), ("B", "two")),
        "A",
    )
    for prompt in ("Which?\nA. two\nB. one", "Which one?\nA. one\nB. two"):
        assert question_content(bare, ShownAnswer(prompt, "A", ())) == (prompt, (), "A")
    assert question_content(None, ShownAnswer("Which?", "x", ())) == ("Which?", (), "x")


def test_of_a_log_without_texts_the_datas_own_are_shown() -> None:
    found = question_content(QuestionTexts("Which?", ("left", "right"), "A"), ShownAnswer("", "", ()))
    assert found == ("Which?", (("A", "left"), ("B", "right")), "A")


@pytest.mark.parametrize("id", ["q1", "q1/blur/L2", "a b#c?d&e=f%2F", "é\u202e<\"'>", "half \ud800"])
def test_a_question_of_any_id_has_an_address_that_gives_it_back(id):
    address = urlsplit(question_address("suite", "task", id))
    assert address.path == "questions/suite.html" and not address.query
    task, _, name = address.fragment.partition("/")
    assert (unquote(task), unquote(name)) == ("task", id.replace("\ud800", "?"))
