"""The judge protocol of contributed open tasks."""

import pytest

from lmms_medtasks.judges import prompts, records, registry

PROTOCOL = registry.get("open_answer")
DOC = {"id": "1", "question": "Which?", "answer": "A round spot"}


@pytest.mark.parametrize(("reply", "label"), [("a round  spot.", "1"), ("", "0"), ("<think>cut off", "0")])
def test_what_is_settled_without_a_judge(reply, label):
    assert PROTOCOL.settle(records.make_judged_items(DOC, [reply], PROTOCOL)[0])[0] == {"correctness": label}


def test_other_words_are_for_the_judge():
    item = PROTOCOL.item(DOC, "a circular lesion")
    assert PROTOCOL.settle(item) is None
    text = prompts.render_prompt(PROTOCOL, item).text
    assert "a circular lesion" in text and '"correctness": <0, 0.5 or 1>' in text
