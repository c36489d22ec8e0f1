"""Judged answers read from sample logs."""

import json

import pytest

from lmms_medtasks.agreement import judged_answers
from lmms_medtasks.agreement.judged_answers import AnswerKey
from lmms_medtasks.errors import UserError
from lmms_medtasks.judges import records
from lmms_medtasks.judges.protocol import JudgedItem, JudgeVerdict, judgement_key
from lmms_medtasks.judges.records import TABLE
from lmms_medtasks.record import QuestionRecord


def test_reading(write_run):
    run = write_run({"q1": ["34 45", "- 11"], "q2": ["=55 =55", "!"]}, answers={"q1": "so"})
    judged = judged_answers.read_judged_answers([run])
    first, second, third, failed = judged.answers
    assert first.key == AnswerKey("m", "q1", 1)
    # total: coherence + 4 * visual accuracy.
    assert first.scores == {"coherence": (3, 4), "visual_accuracy": (4, 5), "total": (19, 24)}
    assert second.scores["coherence"] == (None, 1)
    assert (second.key.trial, second.cluster) == (2, "image of q1")
    assert first.fields["answer"] == "so"
    assert [each.settled for each in judged.answers] == [False, False, True, False]
    assert (failed.fields, failed.scores["total"]) == (None, ())
    assert (judged.models, judged.judges) == (["m"], ["openai:j"])
    assert judged.measures == ["coherence", "visual_accuracy", "total"]


def test_a_protocol_without_a_total_has_none(write_run, change_protocol):
    change_protocol(total=None)
    assert judged_answers.read_judged_answers([write_run({"q1": ["34"]})]).measures == ["coherence", "visual_accuracy"]


def test_two_judges_of_the_same_answers(write_run):
    runs = [write_run({"q1": ["34"]}, name, judge=name) for name in ("a", "b")]
    judged = judged_answers.read_judged_answers(runs)
    assert judged.judges == ["a", "b"]
    assert len(judged.by_key) == 1


def test_judges_of_one_name_are_told_apart_by_what_differs(write_run):
    runs = [write_run({"q1": ["34"]}, str(version), description={"version": version}) for version in (1, 2)]
    assert judged_answers.read_judged_answers(runs).judges == ["openai:j (version 1)", "openai:j (version 2)"]


def test_a_judge_that_is_no_language_model_says_so(write_run):
    run = write_run({"q1": ["34"]}, judge="lexical", description={"note": "not a language model"})
    assert judged_answers.read_judged_answers([run]).notes == {"lexical": "not a language model"}


def test_texts_that_are_withheld(write_run):
    (answer,) = judged_answers.read_judged_answers([write_run({"q1": ["34"]}, withheld=True)]).answers
    assert answer.digest and answer.fields is None


@pytest.mark.parametrize("withheld", [True, False])
def test_judges_of_different_answers_are_not_compared(write_run, withheld):
    runs = [write_run({"q1": ["34"]}, name, judge=name, answers={"q1": name}, withheld=withheld) for name in "ab"]
    with pytest.raises(UserError, match="hold different answers"):
        judged_answers.read_judged_answers(runs)


def test_the_same_answers_twice(write_run):
    runs = [write_run({"q1": ["34"]}, name) for name in "ab"]
    with pytest.raises(UserError, match="is there twice, judged by 'openai:j' both times"):
        judged_answers.read_judged_answers(runs)


@pytest.mark.parametrize(
    ("other", "names"),
    [
        ({"endpoint": "http://h:2/v1"}, ["openai:j (endpoint http://h:1/v1)", "openai:j (endpoint http://h:2/v1)"]),
        ({"endpoint": "http://h:1/x/v1"}, ["openai:j (endpoint http://h:1/v1)", "openai:j (endpoint http://h:1/x/v1)"]),
        ({"answers_as": "m-2"}, ["openai:j (model answered by m-1)", "openai:j (model answered by m-2)"]),
        (
            {"answers_as": ""},
            ["openai:j (model answered by m-1)", "openai:j (model answering without a model's name)"],
        ),
    ],
)
def test_judges_of_one_name_are_two_judges(write_run, other, names):
    """What a rule settled, or is missing, is of the judge of the other answers of its run."""
    chosen = [
        {"endpoint": "http://h:1/v1", "answers_as": "m-1"},
        {"endpoint": "http://h:1/v1", "answers_as": "m-1"} | other,
    ]
    runs = [
        write_run({"q1": ["34"], "q2": ["=55"], "q3": ["-"]}, name, answers_as=each["answers_as"],
                  description={"endpoint": each["endpoint"]})
        for name, each in zip("ab", chosen, strict=True)
    ]  # fmt: skip
    judged = judged_answers.read_judged_answers(runs)
    assert judged.judges == names
    assert [len([each for each in judged.answers if each.judge == name]) for name in names] == [3, 3]


def test_no_judged_task(write_run):
    run = write_run({"q1": ["34"]})
    with pytest.raises(UserError, match="No judged task is called 'med_\\*'. Judged ones: open"):
        judged_answers.read_judged_answers([run], ["med_*"])
    text = (run / "x_results.json").read_text().replace('"judge"', '"no_judge"')
    (run / "x_results.json").write_text(text)
    with pytest.raises(UserError, match="open answers that a judge judges. Tasks: open, other"):
        judged_answers.read_judged_answers([run])


def test_an_unknown_protocol(write_run):
    with pytest.raises(UserError, match="Unknown judge protocol 'x'"):
        judged_answers.read_judged_answers([write_run({"q1": ["34"]})], protocol="x")


def test_a_log_that_does_not_fit_the_protocol(write_run):
    with pytest.raises(UserError, match="line 1: the record does not fit its judge protocol"):
        judged_answers.read_judged_answers([write_run({"q1": ["9"]})])


def test_a_record_as_the_scoring_hook_writes_it(write_run, change_protocol):
    changed = change_protocol(
        item=lambda doc, reply: JudgedItem(doc["id"], {"question": doc["question"], "reference": "r", "answer": reply})
    )
    doc = {"id": "q1", "image_id": "i1", "data": "mini", "modality": "CT", "question": "what?"}
    run = write_run({"q1": ["34"]})
    TABLE.set_judge(changed, {"name": "openai:j", "protocol": changed.name})
    item = JudgedItem("q1", {"question": "what?", "reference": "r", "answer": "this"})
    verdict = JudgeVerdict("judged", {"coherence": "3", "visual_accuracy": "4"})
    TABLE.put({judgement_key(changed, item, 0): verdict})
    trials, judgement = records.make_judgement(doc, ["this", "other"], changed)
    record = QuestionRecord("q1", "i1", trials, None, {}, {"modality": "CT", "data": "mini"}, judgement=judgement)
    (run / "x_samples_open.jsonl").write_text(json.dumps({"questions": record.to_json()}) + "\n")
    judged = judged_answers.read_judged_answers([run])
    assert [each.scores["total"] for each in judged.answers] == [(19.0,), (None,)]
    assert judged.answers[0].fields["answer"] == "this"
