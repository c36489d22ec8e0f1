"""Med-CMR's protocol: what the judge is shown, what is settled without it, and that its answers can't talk to it."""

from __future__ import annotations

import pytest

from lmms_medtasks.judges import prompts, records, registry
from lmms_medtasks.task_configs.med_cmr.judging import PROTOCOL, WEIGHTS, judged_item, settle_empty_reply

DOC = {
    "id": "open-1", "question": "What is it?", "answer": "a cyst", "visual_description": "A dark round area.",
    "options": [],
}  # fmt: skip


def test_the_registry_has_it():
    assert registry.get("med_cmr_open") is PROTOCOL
    assert [each.name for each in PROTOCOL.dimensions] == list(WEIGHTS)
    assert all((each.worst, each.best, len(each.labels)) == (0, 5, 6) for each in PROTOCOL.dimensions)
    assert PROTOCOL.paper_judge == "DeepSeek-V3.2-Exp" and PROTOCOL.terms == "" and PROTOCOL.trials == 1


@pytest.mark.parametrize(
    ("reply", "reasoning", "answer"),
    [
        ("Reasoning: dark.\nAnswer: cyst", "dark.", "cyst"),
        ("It is a cyst.", "", "It is a cyst."),
        ("Reasoning: dark, so a cyst", "dark, so a cyst", ""),
        ("<think>hm</think>Answer: cyst", "", "cyst"),
        ("", "", ""),
        ("<think>cut off", "", ""),
    ],
)
def test_the_parts_are_shown_apart(reply, reasoning, answer):
    fields = judged_item(DOC, reply).fields
    assert (fields["reasoning"], fields["answer"]) == (reasoning, answer)
    assert fields["reference"] == "a cyst" and fields["visual_description"] == "A dark round area."


def test_a_failed_request_is_not_judged():
    assert records.make_judged_items(DOC, ["[LMMS_EVAL_REQUEST_FAILED after 5 retries]", None], PROTOCOL) == [
        None,
        None,
    ]


@pytest.mark.parametrize("reply", ["", " \n", "<think>cut off", "Reasoning:\nAnswer:"])
def test_a_reply_without_text_is_worst_without_a_judge(reply):
    assert settle_empty_reply(judged_item(DOC, reply)) == (dict.fromkeys(WEIGHTS, "0"), "empty")


@pytest.mark.parametrize("reply", ["Answer: a cyst", "a cyst", "Reasoning: x", "I cannot answer."])
def test_anything_else_needs_a_judge_also_where_it_equals_the_reference(reply):
    assert settle_empty_reply(judged_item(DOC, reply)) is None


def test_the_prompt_shows_everything_once_and_asks_for_four_numbers():
    text, cut = prompts.render_prompt(PROTOCOL, judged_item(DOC, "Reasoning: dark.\nAnswer: a benign cyst"))
    for shown in ("What is it?", "A dark round area.", "\na cyst\n", "dark.", "a benign cyst"):
        assert text.count(shown) == 1, shown
    assert not cut
    for name in WEIGHTS:
        assert f'"{name}": <0, 1, 2, 3, 4 or 5>' in text
    # Every dimension has an anchor for each of its six scores.
    assert [text.count(f"\n{score}: ") for score in range(6)] == [4] * 6
