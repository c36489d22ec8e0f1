"""What a reply is before an answer is looked for: its thoughts, its answer's text, or the reason that there is none."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_medtasks.errors import UserError
from lmms_medtasks.grid_positions import NONE_OPTION, GridSize
from lmms_medtasks.parsing.letter_sets import read_letters
from lmms_medtasks.parsing.option import read_first_capital, read_option
from lmms_medtasks.parsing.positions import read_option_position, read_position
from lmms_medtasks.parsing.reasoned import read_reasoned
from lmms_medtasks.parsing.reply import Reply, SentReply, parse_tags
from lmms_medtasks.parsing.yes_no import read_yes_no

OPTIONS = [*GridSize(2).positions, NONE_OPTION]
READERS = {
    "first capital": lambda reply: read_first_capital(reply, 5),
    "option": lambda reply: read_option(reply, OPTIONS),
    "letters": lambda reply: read_letters(reply, OPTIONS),
    "position": lambda reply: read_position(reply, GridSize(2)),
    "option position": lambda reply: read_option_position(reply, OPTIONS, GridSize(2)),
    "yes or no": read_yes_no,
    "reasoned": read_reasoned,
}

# What models write around their thoughts; "..." stands for the thoughts.
FORMS = {
    "think": "<think>...</think>",
    "think with a blank": "<think >...</think >",
    "thinking": "<Thinking>...</thinking>",
    "escaped": "&lt;think&gt;...&lt;/think&gt;",
    "closed only": "...</think>",
    "thought": "<thought>...</thought>",
    "reasoning": "<reasoning>...</reasoning>",
    "analysis": "<analysis>...</analysis>",
    "seed": "<seed:think>...</seed:think>",
    "Magistral": "[THINK]...[/THINK]",
    "Kimi-VL": "◁think▷...◁/think▷",
    "MedGemma": "<unused94>thought\n...<unused95>",
    "Gemma 4": "<|channel>thought\n...<channel|>",
    "harmony": "<|channel|>analysis<|message|>...<|end|><|start|>assistant<|channel|>final<|message|>",
    "harmony, no tokens": "analysisSo ...assistantfinal",
    "Sky-T1": "<|begin_of_thought|>...<|end_of_thought|>",
    "Command A": "<|START_THINKING|>...<|END_THINKING|>",
    "Apertus": "<|inner_prefix|>...<|inner_suffix|>",
    "LLaVA-CoT": "<SUMMARY>I look.</SUMMARY><CAPTION>...</CAPTION><REASONING>...</REASONING>",
    "Granite": "Here is my thought process: ... Here is my response:",
    "nested": "<think>a <think>...</think> b</think>",
    "opened twice": "<think>a <think>...</think>",
    "twice": "<think>...</think><think>...</think>",
}
THOUGHTS = "At first sight the answer is A, top-left: yes. Or is it C?"


@pytest.mark.parametrize("form", FORMS)
def test_thoughts_are_never_read_as_the_answer(form):
    text = FORMS[form].replace("...", THOUGHTS)
    reply = Reply.of(f"{text}B")
    assert (reply.answer, reply.outcome) == ("B", None)
    assert len(reply.marks) >= 1
    assert "At first sight" in reply.thinking
    for wrapped in ("B", "\n<answer>B</answer>", " The answer is B.", "\n\nB</s>"):
        assert read_option(text + wrapped, OPTIONS).value == "B"
    assert read_yes_no(f"{text} No.").value == "no"
    assert read_position(f"{text}bottom-right", GridSize(2)).value == "bottom-right"
    assert read_letters(f"{text}B, D", OPTIONS).value == "BD"


@pytest.mark.parametrize("form", sorted(set(FORMS) - {"closed only", "nested", "twice"}))
@pytest.mark.parametrize("reader", READERS)
def test_thoughts_that_never_end_are_cut(form, reader):
    begin = FORMS[form].partition("...")[0]
    assert READERS[reader](f"{begin}{THOUGHTS} But the").status == "cut"


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("reader", READERS)
def test_nothing_after_thoughts_is_empty(form, reader):
    assert READERS[reader](FORMS[form].replace("...", THOUGHTS)).status == "empty"


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        ("[B]", "B"), ("<b>C</b>", "C"), ("<answer>B</answer>", "B"), ("<image>B", "B"),
        ("<|begin_of_box|>C<|end_of_box|>", "C"),
        ("[FINAL ANSWER] B", "B"), ("<option>B</option>", "B"), ("<p>The answer is <strong>B</strong>.</p>", "B"),
        ("analysis of the picture: the answer is B", "B"), ("Analysis: The answer is B.", "B"), ("<B>", "B"),
        ("Thought: it is dark. Answer: B", "B"), ("I think. B", "B"), ("<top-right>", "B"),
    ],
)  # fmt: skip
def test_other_marks_are_no_thoughts(reply, letter):
    assert read_option(reply, OPTIONS).value == letter
    assert not Reply.of(reply).unknown_mark


def test_an_unknown_mark_may_stand_behind_some_words():
    inside = "Perhaps the answer is A. " * 4  # 100 characters: too many for a wrapper of an answer
    for opening, closing in (("<ponder>", "</ponder>"), ("\u3010\u63a8\u6572\u3011", "\u3010/\u63a8\u6572\u3011")):
        found = Reply.of(f"Sure! {opening}{inside}{closing}B")
        assert (found.answer, found.unknown_mark) == ("Sure!\nB", opening)
        begins = Reply.of(f"{opening}{inside}{closing}B")
        assert (begins.answer, begins.unknown_mark) == ("B", opening)
        # It explains an answer that stands before it.
        assert Reply.of(f"C\n{opening}{inside}{closing}").answer == "C"
    for whole in ("Sure! <ponder>A</ponder> B", f"Sure! <answer>{inside}</answer>"):
        assert (Reply.of(whole).answer, Reply.of(whole).unknown_mark) == (whole.strip(), "")


def test_an_unknown_mark_is_never_read_over():
    inside = "The answer could be A, or else top-right. " * 4
    closed = Reply.of(f"<ponder>{inside}</ponder>The answer is C.")
    assert (closed.answer, closed.unknown_mark) == ("The answer is C.", "<ponder>")
    for cut in (
        f"<ponder>{inside}",
        f"<ponder>{inside}</ponder>",
        f"<|muse|>{inside}",
        f"◁muse▷{inside}",
        f"<unused7>{inside}",
    ):
        assert read_option(cut, OPTIONS).status == "unreadable"
        assert Reply.of(cut).unknown_mark
    for open_, close in (
        ("<|begin_muse|>", "<|end_muse|>"),
        ("[MUSE]", "[/MUSE]"),
        ("◁muse▷", "◁/muse▷"),
        ("<unused7>", "<unused8>"),
    ):
        found = Reply.of(f"{open_}{inside}{close}B")
        assert (found.answer, found.unknown_mark) == ("B", open_)
    # The way out: the run's own tags.
    told = Reply.of(SentReply(f"<ponder>{inside}</ponder>C", tags=parse_tags([["<ponder>", "</ponder>"]], "here")))
    assert (told.answer, told.unknown_mark, told.marks) == ("C", "", ("<ponder>",))


def test_tags_that_are_known_anyway_change_nothing():
    assert Reply.of(SentReply("<think>A</think>B", tags=(("<think>", "</think>"),))).answer == "B"


@pytest.mark.parametrize("pairs", [3, "x", [["<a>"]], [["<a>", ""]], [["<a>", 3]], ["<a>", "</a>"]])
def test_tags_that_are_no_pairs_are_refused(pairs):
    with pytest.raises(UserError, match="a list of pairs"):
        parse_tags(pairs, "--reasoning_tags")


@pytest.mark.parametrize(
    ("reply", "answer", "mark"),
    [
        ("C. Benign nevus\n\nQuestion: What is next?\nAnswer: A", "C. Benign nevus", "next turn"),
        ("C<|im_end|>\n<|im_start|>user\nA?", "C", "end token"),
        ("C\nUser: and this?\nAssistant: A", "C", "next turn"),
        ("C\nHuman: A", "C", "next turn"),
        ("C\nQ2: which?\nA", "C", "next turn"),
        ("C\n问题：哪一个？\n答案：A", "C", "next turn"),
        ("C[INST] A [/INST]", "C", "next turn"),
        ("<|assistant|>\nC</s>", "C", "end token"),
        ("Assistant: C", "C", ""),
        ("Question: Which? A) x B) y\nAnswer: C", "Question: Which? A) x B) y\nAnswer: C", ""),
        ("Here is my answer:\nQuestion: Which?\nC", "Here is my answer:\nQuestion: Which?\nC", ""),
        ("\ufeffC\u200f", "C", ""),
    ],
)  # fmt: skip
def test_what_comes_after_the_models_own_turn_is_left_out(reply, answer, mark):
    found = Reply.of(reply)
    assert found.answer == answer
    assert found.marks == ((mark,) if mark else ())


EMPTY = ("", " ", "\n\t", "\xa0", "\u200b", "</s>", "<|im_end|>", "<think></think> <analysis>A</analysis>")


@pytest.mark.parametrize("reply", [*EMPTY, ".", "**", "```", "hm"])
@pytest.mark.parametrize("reader", READERS)
def test_a_reply_that_says_nothing_is_empty_to_every_reader_and_marks_and_words_are_not(reader, reply):
    assert READERS[reader](reply).status in (("empty",) if reply in EMPTY else ("unreadable", "neither"))


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (None, "failed"),
        ("[LMMS_EVAL_REQUEST_FAILED after 5 retries] boom", "failed"),
        (SentReply("The answer is B", "error"), "failed"),
        (SentReply("", "length", 512), "cut"),
        (SentReply("<think>so", "length", 512), "cut"),
    ],
)
def test_a_reply_without_text_says_why(reply, outcome):
    assert (Reply.of(reply).answer, Reply.of(reply).outcome) == ("", outcome)


def test_a_reply_that_the_limit_ended_is_read_by_its_statements_alone():
    for reader, text in (("option", "The scan shows the top-left, the"),
                         ("position", "All look alike but in the top-left"),
                         ("yes or no", "The lung is clear, there is"), ("reasoned", "A dark round")):  # fmt: skip
        assert READERS[reader](SentReply(text, "length", 16)).status == "cut"
    assert read_option(SentReply("The answer is B. It is the", "length", 16), OPTIONS).value == "B"
    # Of these nobody says why they ended, but they do not end.
    for text in ("The scan is dark in the top-left corner of the grid, which is unlike the",
                 "The lesion shows features of the top-left, such as asymmetry. However,"):  # fmt: skip
        assert Reply.of(text).unfinished
        assert read_option(text, OPTIONS).status == "unreadable"


def test_the_word_none_is_a_reply():
    """A right one to "Which organ is abnormal in this image?"; as a failed request it had no score at all."""
    assert Reply.of("None").answer == "None"


def test_what_a_runner_knows_travels_with_the_text():
    sent = SentReply("B", "length", 512, (("<a>", "</a>"),))
    again = pickle.loads(pickle.dumps(sent))
    assert (again, again.ended, again.limit, again.tags) == ("B", "length", 512, (("<a>", "</a>"),))
    # As the harness strips a reply.
    bare = SentReply(" B\n", "length", 512, sent.tags).strip()
    assert (bare, bare.ended, bare.limit, bare.tags) == (again, again.ended, again.limit, again.tags)
    assert Reply.of(sent).note("statement") == {"ended": "length", "limit": 512, "rule": "statement"}
    assert Reply.of("<think>a</think>B").note() == {"marks": ["think"]}
    assert Reply.of(Reply.of(sent)) == Reply.of(sent)


PIECES = ("<think>", "</think>", "[THINK]", "[/THINK]", "<unused94>", "<unused95>", "◁think▷", "<ponder>", "</ponder>",
          "</s>", "Question:", "\n", " B ", "yes", "top-left", "&lt;think&gt;", "assistantfinal", "\ud800", "\u202e",
          "<|channel|>")  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join) | st.text())
def test_text_or_an_outcome_and_never_both(text):
    reply = Reply.of(text)
    assert bool(reply.answer.strip()) == (reply.outcome is None)
    assert all(0 <= start < end for start, end, _ in reply.thoughts)
    for read in READERS.values():
        read(reply)


@pytest.mark.parametrize("piece", [*PIECES, "A", "<", "&lt;", "\nQ:", "{", "<answer>", "\\boxed{", "<b>"])
def test_a_megabyte_of_one_mark_is_an_outcome(piece):
    # With a time that grows with the square, the suite would not end.
    reply = Reply.of(piece * (1_000_000 // len(piece)))
    assert reply.outcome or reply.answer
