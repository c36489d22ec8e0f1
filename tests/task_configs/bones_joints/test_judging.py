"""Bones and Joints' protocols: what the judge sees and may say, what is settled, hard negatives of Task VIII."""

from __future__ import annotations

import json

import pytest

from lmms_medtasks.judges import identity, prompts, records, registry, settings, verdicts
from lmms_medtasks.judges.judging import JudgeSession
from lmms_medtasks.judges.records import TABLE
from lmms_medtasks.task_configs.bones_joints import judging
from lmms_medtasks.task_configs.bones_joints.judging import ANSWER, INCONSISTENCY, REASONING
from lmms_medtasks.task_configs.bones_joints.measures import judged_record, labels_of

CASE = "Medical history: The knee gave way.\nPhysical examination: The shin can be pulled forward."
DIAGNOSIS = {"id": "t4-1", "image_id": "i", "task": "t4", "question": CASE, "answer": "an ACL tear", "site": "knee"}
CHAIN = {**DIAGNOSIS, "id": "t5-1", "task": "t5", "answer": "1. The knee gives way. 2. The ligament is torn."}
MISMATCH = {
    **DIAGNOSIS, "id": "t8-1", "task": "t8", "image_site": "shoulder",
    "answer": "The images show the shoulder, the text is about the knee.",
}  # fmt: skip


def test_the_registry_finds_them_by_their_folder():
    assert judging.PROTOCOLS == (ANSWER, REASONING, INCONSISTENCY)
    assert {protocol.name for protocol in judging.PROTOCOLS} <= set(registry.names())
    for protocol in (ANSWER, REASONING, INCONSISTENCY):
        assert registry.get(protocol.name) is protocol
        assert protocol.trials == 3 and protocol.terms == ""
    assert ANSWER.paper_judge == REASONING.paper_judge == "GPT-4o"
    assert dict(judging.VERDICT.labels) == {"Correct": 1.0, "Incorrect": 0.0, "Unclear": 0.0}


def item_of(protocol, doc, reply):
    (item,) = records.make_judged_items(doc, [reply], protocol)
    return item


def test_what_the_judge_is_shown():
    text, cut = prompts.render_prompt(ANSWER, item_of(ANSWER, DIAGNOSIS, "<think>hm</think> A torn cruciate ligament."))
    for shown in (CASE, "\nan ACL tear\n", "A torn cruciate ligament.", "the diagnosis or diagnoses"):
        assert text.count(shown) == 1, shown
    assert not cut and "hm" not in text.split("<<<ANSWER")[1].split("<<<END")[0]
    assert '"verdict": <"Correct", "Incorrect" or "Unclear">' in text


def test_a_chain_is_shown_in_numbered_steps():
    item = REASONING.item(CHAIN, "It is torn.")
    assert item.fields["reference"] == "1. The knee gives way.\n2. The ligament is torn."
    text = prompts.render_prompt(REASONING, item).text
    assert '"steps_found": [<numbers' in text and "the reasoning that leads to the diagnosis" in text


def test_the_contradiction_is_told_to_the_judge():
    item = INCONSISTENCY.item(MISMATCH, "ACL tear.")
    assert (item.fields["text_site"], item.fields["image_site"]) == ("knee", "shoulder")
    text = prompts.render_prompt(INCONSISTENCY, item).text
    assert all(label in text for label in judging.CONTRADICTION.labels)
    unknown = INCONSISTENCY.item({**MISMATCH, "image_site": ""}, "x")
    assert unknown.fields["image_site"] == "not known"


@pytest.mark.parametrize("reply", ["", " \n", "<think>cut off"])
def test_only_an_answer_without_a_word_is_settled(reply):
    assert ANSWER.settle(item_of(ANSWER, DIAGNOSIS, reply)) == ({"verdict": "Incorrect"}, "no answer")
    chain = REASONING.settle(item_of(REASONING, CHAIN, reply))
    assert chain == ({"verdict": "Incorrect", "steps_found": ""}, "no answer")
    assert INCONSISTENCY.settle(item_of(INCONSISTENCY, MISMATCH, reply)) == ({"verdict": "Missed"}, "no answer")


@pytest.mark.parametrize("reply", ["an ACL tear", "I don't know.", "The images show a shoulder."])
def test_nothing_else_is(reply):
    for protocol, doc in ((ANSWER, DIAGNOSIS), (REASONING, CHAIN), (INCONSISTENCY, MISMATCH)):
        assert protocol.settle(protocol.item(doc, reply)) is None


# --- Task VIII: hard negatives, judged by a script that follows the prompt's rules -----------------------------------
ANSWERS = {
    "It is an anterior cruciate ligament tear: the MRI shows a torn ligament.": ("Missed", 0),
    "The shoulder shows a torn rotator cuff.": ("Missed", 0),  # the wrong joint, without objecting
    "The glenohumeral joint is normal; overall this is an ACL tear.": ("Missed", 0),
    "The image quality is too poor to say.": ("Objected to something else", 0),
    "A lateral view is missing, so I cannot confirm the tear.": ("Objected to something else", 0),
    "The images are of the left side, the text says right.": ("Objected to something else", 0),
    "I see no tear of the ligament in these images, which is inconsistent.": ("Objected to something else", 0),
    "These images show a shoulder and do not fit the knee of the text.": ("Named", 1),
    "Text and images are of different joints. Please send images of the knee.": ("Named", 1),
    "The images show a shoulder, not the knee. Going by the history: ACL tear.": ("Named but went on", 1),
    "Perhaps.": ("Unclear", 0),
}


def scripted(prompt, labels):
    """What a judge says that knows :data:`ANSWERS`."""
    import re

    answer = re.search(r"<<<ANSWER \w+>>>\n(.*?)\n<<<END ANSWER", prompt, re.DOTALL)[1]
    return {"verdict": ANSWERS[answer][0]}


@pytest.mark.parametrize("answer", ANSWERS)
def test_hard_negatives_through_a_judge(judge_server, answer):
    judge_server.verdict = scripted
    item = INCONSISTENCY.item(MISMATCH, answer)
    environment = {"OPENAI_API_KEY": "sk-test", "OPENAI_API_URL": judge_server.url, "MEDTASKS_JUDGE_TEMPERATURE": "1"}
    chosen = settings.read_judge_settings(environment, "openai:stub-judge")
    TABLE.set_judge(INCONSISTENCY, identity.describe_judge(chosen, INCONSISTENCY))
    with JudgeSession(chosen, [INCONSISTENCY]) as judge:
        found, counts = judge.judge(
            INCONSISTENCY, [(item, trial) for trial in range(3)], say=lambda *_: None, quiet=True
        )
        TABLE.put(found)
        record = judged_record(MISMATCH, [answer], INCONSISTENCY)
    label, score = ANSWERS[answer]
    assert counts.judged == 3 and len(judge_server.requests) == 3  # three trials, each asked
    assert set(labels_of(record.judgement)) == {label}
    assert record.measures["accuracy"].score == score


def test_the_prompt_says_each_hard_case():
    text = prompts.read_prompt_file(INCONSISTENCY.prompt)
    for rule in (
        "Naming the part that the images show, or describing it, without saying that it does not fit, is missed.",
        "image quality, a missing view or sequence, a wrong side",
        "and then diagnoses from the text all the same",
        "It was not told that the two do not belong together.",
    ):
        assert rule in text


def test_a_verdict_of_another_task_is_none():
    reply = json.dumps({"verdict": "Correct"})
    assert verdicts.parse_verdict(INCONSISTENCY, reply).status == "missing"
    assert verdicts.parse_verdict(ANSWER, json.dumps({"verdict": "Named"})).status == "missing"
