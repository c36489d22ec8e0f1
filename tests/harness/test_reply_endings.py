"""Why a reply ended, as the number of its tokens tells it, how that travels, and whether many replies were cut."""

import pickle
from types import SimpleNamespace

import pytest
from lmms_eval.api.instance import GenerationResult, TokenCounts

from lmms_medtasks.harness import calls, journal, reply_endings
from lmms_medtasks.harness.reply_endings import CutReplies, is_cut_reply
from lmms_medtasks.parsing.reply import SentReply
from tests.bare_runners import request
from tests.harness.journal_runs import FAILED, Model, Task, small_slices


class Letters:
    """A tokenizer with a token for each letter."""

    def __init__(self):
        self.asked = []

    def encode(self, text, add_special_tokens=True):
        self.asked.append(text)
        return [0] * (len(text) + add_special_tokens)


class Runner:
    """Gives ``replies`` as they are."""

    def __init__(self, *replies, **attributes):
        self.replies = replies
        vars(self).update(attributes)

    def generate_until(self, requests):
        return list(self.replies)


def counted(written, text="a reply"):
    return GenerationResult(text, TokenCounts(output_tokens=written))


def endings(lm, limit=10, task="t"):
    with reply_endings.note_reply_endings(lm, {task}):
        found = lm.generate_until([request("q", max_new_tokens=limit) for _ in lm.replies])
    texts = [each[0] if isinstance(each, tuple) else getattr(each, "text", each) for each in found]
    assert all(isinstance(each, SentReply) for each in texts) and [each.limit for each in texts] == [limit] * len(texts)
    return [each.ended for each in texts]


def test_counts_of_the_runner_decide():
    pair = ("a reply", {"output_tokens": 10})
    assert endings(Runner(counted(9), counted(10), counted(11), pair)) == ["", "length", "length", "length"]
    assert endings(Runner(counted(None), GenerationResult("a reply"), "a reply", FAILED)) == ["", "", "", "error"]
    assert endings(Runner(counted(10, None))) == ["length"]  # a message without content: all went into thoughts


@pytest.mark.parametrize(
    "has",
    [
        lambda it: {"tokenizer": it},
        lambda it: {"_tokenizer": it},
        lambda it: {"processor": SimpleNamespace(tokenizer=it)},
        lambda it: {"_processor": SimpleNamespace(tokenizer=it)},
        lambda it: {"client": SimpleNamespace(get_tokenizer=lambda: it)},
        lambda it: {"tokenizer": None, "processor": SimpleNamespace(tokenizer=it)},
    ],
)
def test_without_counts_the_tokens_of_a_text_are_counted_where_it_is_long_enough(has):
    tokenizer = Letters()
    assert endings(Runner("A" * 9, "A" * 10, "A" * 11, **has(tokenizer))) == ["", "length", "length"]
    assert tokenizer.asked == ["A" * 10, "A" * 11]


def test_a_token_in_128_may_be_lost_where_a_text_is_counted():
    lm = Runner("A" * 505, "A" * 508, tokenizer=Letters())
    assert endings(lm, limit=512) == ["", "length"]
    assert endings(Runner("A" * 9, tokenizer=Letters()), limit=10) == [""]


def test_padding_that_a_runner_counts_in_a_batch_cuts_no_reply():
    """Beside a reply that was cut all of the batch have as many tokens."""
    replies = counted(100, "A" * 95), counted(100, "A" * 20), counted(99, "A" * 99)
    assert endings(Runner(*replies, tokenizer=Letters(), batch_size=2), limit=100) == ["length", "", ""]
    assert endings(Runner(*replies, tokenizer=Letters(), batch_size=1), limit=100) == ["length", "length", ""]
    assert endings(Runner(*replies, tokenizer=Letters(), batch_size="auto"), limit=100) == ["length", "", ""]


def test_a_tokenizer_that_fails_and_a_request_without_a_limit_say_nothing():
    assert endings(Runner("A" * 50, tokenizer=SimpleNamespace(encode=lambda text: 1 / 0))) == [""]
    assert endings(Runner("A" * 50, counted(50), tokenizer=Letters()), limit=None) == ["", ""]


def test_tasks_of_others_get_what_the_runner_gave():
    lm = Runner("A" * 50, tokenizer=Letters())
    with reply_endings.note_reply_endings(lm, {"another"}):
        (found,) = lm.generate_until([request("q", max_new_tokens=10)])
    assert type(found) is str


def test_an_ending_outlives_another_process():
    one = pickle.loads(pickle.dumps(SentReply("x", "length", 5, (("<a>", "</a>"),))))
    assert (one, one.ended, one.limit, one.tags) == ("x", "length", 5, (("<a>", "</a>"),))


@pytest.mark.usefixtures("journal_home")
def test_the_journal_gives_back_why_a_reply_ended_and_keeps_none_that_broke_off(monkeypatch, files):
    small_slices(monkeypatch)
    task = Task(documents=4, trials=1)
    sent = [counted(3, "cut"), "plain", SentReply("broke", "error", 3), ("pair", {"output_tokens": 3})]

    def run(dies_after=None):
        lm = Model(task, dies_after, reply=lambda number, seed: sent[number])
        options = SimpleNamespace(model="m", model_args="", output_path=None, batch_size=1)
        given = {"cli_args": options, "limit": None, "offset": 0}
        found = None
        try:
            with reply_endings.note_reply_endings(lm, {"t"}), journal.keep_replies_in_journal(lm, [task], given):
                found = lm.generate_until(task.requests(max_new_tokens=3))
        except KeyboardInterrupt:
            pass
        return lm.asked, found

    assert run(dies_after=3) == ([0, 1, 2], None)
    asked, found = run()
    assert asked == [2, 3]
    texts = [found[0].text, found[1], found[2], found[3][0]]
    assert [(each, each.ended, each.limit) for each in texts] == [
        ("cut", "length", 3), ("plain", "", 3), ("broke", "error", 3), ("pair", "length", 3)
    ]  # fmt: skip
    assert all(isinstance(each, SentReply) for each in texts) and found[0].token_counts.output_tokens == 3


def test_replies_are_looked_at_once_and_as_they_come_where_the_model_tells_them():
    seen = []

    class Telling(Runner):
        on_replies = None

        def generate_until(self, requests):
            self.on_replies({1: self.replies[1]})
            seen.append("told")
            return list(self.replies)

    lm = Telling("a", SentReply("b", "length", 3), "padding")
    padding = calls.make_padding(request("q"))
    with reply_endings.note_reply_endings(lm, {"t"}, lambda task, reply: seen.append((task, str(reply), reply.ended))):
        lm.generate_until([request("q"), request("q"), padding])
    assert seen == [("t", "b", "length"), "told", ("t", "a", "")]


def config(task, **more):
    return {"task": task, "metadata": {}, "dataset_kwargs": None, **more}


def cut(limit=512):
    return SentReply("<think>Well, ", "length", limit)


def told(capsys, replies, task="med_cmr_mcq", tags=()):
    watch = CutReplies({task: config(task), "medobvious": config("medobvious")}, {task: tags})
    for each in replies:
        watch.count_reply(task, each)
    early = capsys.readouterr().err
    watch.tell_rest()
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
    assert is_cut_reply(reply) == expected


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
