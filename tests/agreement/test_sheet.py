"""Drawing a blind sheet: what is drawn, and what the sheet does not show."""

import csv
import io

import pytest

from lmms_medtasks.agreement import judged_answers, ratings
from lmms_medtasks.agreement.sheet import alike, draw, instructions, key_csv, sheet_csv
from lmms_medtasks.errors import UserError
from lmms_medtasks.judges.protocol import Dimension


@pytest.fixture
def judged(write_run):
    questions = {f"q{number}": ["34"] for number in range(20)}
    tags = {id: {"modality": "CT" if place < 5 else "MRI"} for place, id in enumerate(questions)}
    runs = [write_run(questions, name, model=f"model-{name}", judge="secret-judge", tags=tags) for name in ("a", "b")]
    return judged_answers.read(runs)


def table(text):
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_all_models_answers_to_the_drawn_questions_in_random_order(judged):
    drawn = draw(judged, 8)
    assert len(drawn) == 16
    ids = [each.answer.key.id for each in drawn]
    assert len(set(ids)) == 8 and all(ids.count(id) == 2 for id in ids)
    models = [each.answer.key.model for each in drawn]
    assert models != sorted(models)
    assert len({each.code for each in drawn}) == 16


def test_seeded(judged):
    assert draw(judged, 8) == draw(judged, 8)
    assert draw(judged, 8) != draw(judged, 8, seed=1)


def test_the_order_of_the_runs_does_not_change_which_questions(judged, write_run):
    other = judged_answers.Judged(judged.protocol, judged.answers[::-1], {})
    assert {each.answer.key for each in draw(judged, 8)} == {each.answer.key for each in draw(other, 8)}


def test_in_proportion_to_a_tags_values(judged):
    # 5 CT and 15 MRI: 10 questions are 2.5 and 7.5, the larger remainder is rounded up, of equal ones the first.
    tags = [each.answer.tags["modality"] for each in draw(judged, 10, by=["modality"])]
    assert (tags.count("CT"), tags.count("MRI")) == (6, 14)


def test_no_more_than_there_are(judged):
    assert len(draw(judged, 100)) == 40


def test_the_sheet_hides_models_verdicts_and_ids(judged):
    drawn = draw(judged, 8)
    text = sheet_csv(drawn, judged.protocol)
    for hidden in ("model-", "secret-judge", "image of", "run"):
        assert hidden not in text.replace("answer of model-", "")
    rows = table(text)
    columns = ["id", "rater", "question", "reference", "answer", "coherence", "visual_accuracy", "comment"]
    assert list(rows[0]) == columns
    assert [row["id"] for row in rows] == [each.code for each in drawn]
    assert all(row["coherence"] == row["visual_accuracy"] == row["rater"] == row["comment"] == "" for row in rows)


def test_pictures_are_named_in_a_column_of_their_own(judged):
    drawn = draw(judged, 2)
    (first, *others) = table(sheet_csv(drawn, judged.protocol, lambda each: ["a.png", "b.png"] * (each == drawn[0])))
    assert first["images"] == "images/a.png images/b.png" and {each["images"] for each in others} == {""}


def test_formulas_in_texts_are_harmless(write_run):
    run = write_run({"q1": ["34"]}, answers={"q1": '=HYPERLINK("http://x")'})
    judged = judged_answers.read([run])
    (row,) = table(sheet_csv(draw(judged, 1), judged.protocol))
    assert row["answer"] == '\'=HYPERLINK("http://x")'


def test_what_was_rated_on_the_sheet_comes_back_by_its_key(write_run, tmp_path):
    run = write_run({"=q,1": ["34"], "-q2": ["55"]}, model="@model")
    judged = judged_answers.read([run])
    drawn = draw(judged, 2)
    (tmp_path / "key.csv").write_text(key_csv(drawn), encoding="utf-8-sig", newline="")
    lines = sheet_csv(drawn, judged.protocol).splitlines()
    filled = [lines[0], *(line.replace(",,,", f",{place},5,") for place, line in enumerate(lines[1:], 3))]
    (tmp_path / "anna.csv").write_text("\n".join(filled), encoding="utf-8-sig")
    found = ratings.read([tmp_path / "anna.csv"], judged, tmp_path / "key.csv")
    expected = {each.answer.key: {"coherence": 3.0 + place, "visual_accuracy": 5.0} for place, each in enumerate(drawn)}
    assert found == {"anna": expected}


def test_only_what_a_judge_was_needed_for(write_run):
    runs = [
        write_run({"q1": ["=55"], "q2": ["=55"], "q3": ["!"]}, "a", model="a"),
        write_run({"q1": ["34"], "q2": ["=55"], "q3": ["11"]}, "b", model="b"),
    ]
    judged = judged_answers.read(runs)

    def keys(drawn):
        return {(each.answer.key.model, each.answer.key.id) for each in drawn}

    # q1 of both models, that there are pairs; q3 of the one that got a reply.
    assert keys(draw(judged, 9)) == {("a", "q1"), ("b", "q1"), ("b", "q3")}
    assert keys(draw(judged, 9, settled=True)) == {("a", "q1"), ("b", "q1"), ("a", "q2"), ("b", "q2"), ("b", "q3")}


def test_one_reply_of_each_model_the_same_of_all(write_run):
    replies = {f"q{number}": ["34", "45", "!"] for number in range(12)}
    judged = judged_answers.read([write_run(replies, name, model=name) for name in ("a", "b")])
    trials = {}
    for each in draw(judged, 12):
        trials.setdefault(each.answer.key.id, []).append(each.answer.key.trial)
    assert all(len(each) == 2 and len(set(each)) == 1 for each in trials.values())
    assert {each[0] for each in trials.values()} == {1, 2}


def test_texts_that_are_withheld(write_run, change_protocol):
    change_protocol(terms="not for others")
    judged = judged_answers.read([write_run({"q1": ["34"]}, withheld=True)])
    with pytest.raises(UserError, match="must not be given to others. The data's terms: not for others"):
        draw(judged, 1)


def test_nothing_to_draw(write_run):
    judged = judged_answers.read([write_run({"q1": ["=55"], "q2": ["!"]})])
    with pytest.raises(UserError, match="no answer to rate.*--settled"):
        draw(judged, 1)
    with pytest.raises(UserError, match="Unknown tag 'organ'"):
        draw(judged, 1, by=["organ"])


def test_instructions_name_the_scales(protocol):
    assert "  visual_accuracy: 1, 2, 3, 4, 5\n" in instructions(protocol) and not alike(protocol)


def test_labels_that_score_alike_are_named(change_protocol):
    scale = Dimension("verdict", {"Correct": 1.0, "Incorrect": 0.0, "Unclear": 0.0})
    said = "verdict: Incorrect, Unclear score alike and count as one."
    changed = change_protocol(dimensions=(scale,))
    assert alike(changed) == [said] and f"({said})" in instructions(changed)


def test_the_largest_remainders_are_rounded_up(write_run):
    # 9 CT and 11 MRI: of 4 questions 1.8 and 2.2.
    tags = {f"q{number}": {"modality": "CT" if number < 9 else "MRI"} for number in range(20)}
    judged = judged_answers.read([write_run({id: ["34"] for id in tags}, tags=tags)])
    drawn = [each.answer.tags["modality"] for each in draw(judged, 4, by=["modality"])]
    assert (drawn.count("CT"), drawn.count("MRI")) == (2, 2)
