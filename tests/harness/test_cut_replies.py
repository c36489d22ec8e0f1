"""A model whose replies are cut is named after twenty of them, once, with a way out that works."""

import pytest

from lmms_medtasks.harness.cut_replies import CutReplies, is_cut
from lmms_medtasks.parsing.reply import SentReply


def config(task, **more):
    return {"task": task, "metadata": {}, "dataset_kwargs": None, **more}


def cut(limit=512):
    return SentReply("<think>Well, ", "length", limit)


def told(capsys, replies, task="med_cmr_mcq", tags=()):
    watch = CutReplies({task: config(task), "medobvious": config("medobvious")}, {task: tags})
    for each in replies:
        watch.look(task, each)
    early = capsys.readouterr().err
    watch.ended()
    return early, capsys.readouterr().err


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (cut(), True),
        (SentReply("<think>Well, "), True),  # never closed, whatever the runner knows
        (SentReply("The image shows an opacity that", "length", 64), True),
        (SentReply("<think>Well</think> B, since", "length", 64), False),
        (SentReply("", "length", 64), True),
        (SentReply("B", "stop", 64), False),
        (SentReply("B"), False),
    ],
)
def test_what_is_cut(reply, expected):
    assert is_cut(reply) == expected


def test_after_the_first_twenty_it_is_said_once(capsys):
    early, late = told(capsys, [cut()] * 11 + [SentReply("B", "stop")] * 9 + [cut()] * 50)
    assert "med_cmr_mcq: 11 of the first 20 replies were cut at 512 new tokens" in early and not late
    assert "--settings thinking (up to 4,096 new tokens) or --gen_kwargs max_new_tokens=N" in early
    assert early.count("lmms-medtasks:") == 1


def test_half_of_them_or_later_ones_are_no_reason(capsys):
    assert told(capsys, [cut()] * 10 + [SentReply("B", "stop")] * 10 + [cut()] * 50) == ("", "")


def test_a_task_of_few_replies_is_told_of_at_the_end(capsys):
    early, late = told(capsys, [cut()] * 3)
    assert not early and "3 of the first 3 replies were cut" in late


@pytest.mark.parametrize(("task", "limit"), [("medobvious", 512), ("med_cmr_mcq", 4096)])
def test_settings_that_would_not_help_are_not_named(capsys, task, limit):
    """The paper of the one limits replies; the other has the limit already."""
    early, _ = told(capsys, [cut(limit)] * 20, task)
    assert "--settings" not in early and "another run with --gen_kwargs max_new_tokens=N" in early


def test_thoughts_in_the_user_s_own_marks_are_thoughts(capsys):
    replies = [SentReply("<ponder>Well</ponder> It is B, since", "length", 64)] * 20
    assert told(capsys, replies, tags=(("<ponder>", "</ponder>"),)) == ("", "")
    assert told(capsys, replies)[0]


def test_other_processes_are_silent(capsys, monkeypatch):
    monkeypatch.setenv("RANK", "1")
    assert told(capsys, [cut()] * 20) == ("", "")
