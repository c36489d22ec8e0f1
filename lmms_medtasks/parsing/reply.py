"""A model's reply, taken apart once: its thoughts, the text that answers, and why there may be none.

Every reader, every judge's item and every log is made from a :class:`Reply`. What the marks of thoughts and turns look
like stands in ``reply_marks.yml``.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import yaml

from lmms_medtasks.errors import UserError
from lmms_medtasks.parsing.words import lazy_pattern, word_pattern

Ending = Literal["stop", "length", "error", ""]
"""Why a reply ended. stop: the model ended it. length: the limit of new tokens. error: it broke off by a fault, or the
server withheld it; such a reply is none. "": the runner does not say."""

Outcome = Literal["failed", "empty", "cut", "unreadable"]
"""Why a reply has no text to read an answer from. failed: no reply came. empty: it says nothing. cut: it was cut off
within its thoughts, or they were never closed. unreadable: it begins with a mark that is not known and may be one of
thoughts, and nothing stands behind its end."""

Tags = tuple[tuple[str, str], ...]
"""Pairs of an opening and a closing mark of thoughts, in addition to those that are known."""

# What lmms-eval 0.7.3 returns in place of a reply when a request failed for good, when the token budget was used up,
# and when a server sent a message without content (async_openai; openai's reaches a hook as an empty text). The word
# "None" is a reply like any other. What single runners put in the place of a reply becomes the first of these before it
# gets here (harness/failed_requests.py).
_FAILURES = ("[LMMS_EVAL_REQUEST_FAILED", "[LMMS_EVAL_BUDGET_EXCEEDED", "Error: can only concatenate str (not")

LONGER_THAN_AN_ANSWER = 80
"""Characters behind an unknown mark at a reply's beginning from which on they may be thoughts, and not an answer."""

_UNKNOWN: tuple[tuple[str, Any], ...] = (("ended", ""), ("limit", None), ("tags", ()))

_INVISIBLE = re.compile("[\ufeff\u200b-\u200f\u202a-\u202e\u2060-\u2069]")
_ESCAPED = re.compile(
    r"(?:&(?:amp;){0,3}lt;|\\u003c)(/?\s?[\w:|](?:(?![<>&]|\\u00)[^\n]){0,100})(?:&(?:amp;){0,3}gt;|\\u003e)", re.I
)
_UNKNOWN_MARK = re.compile(
    r"\s*(?:<(?P<tag>[^\W\d_][\w:.-]{1,40})(?:\s[^<>]{0,80})?>|<[|｜](?P<bars>[\w :.-]{2,40})[|｜]?>"
    r"|\[(?P<square>[A-Z][A-Z_]{2,30})\]|◁(?P<triangle>[^▷◁]{1,40})▷|【(?P<lenticular>[^/【】\s]{1,20})】)"
)
_BROKEN_OFF_SHORT = re.compile(
    r"\w,? (?:but|however|because|although|and)(?: (?:the|an?|this|its)(?: \w+)?)?\s*$", re.IGNORECASE
)
_A_THOUGHT = 3
"""Words between unknown marks from which on they are thoughts, where text stands behind them."""
_AN_ANSWER = 5
"""Words behind an unknown mark without an end that may be an answer."""
_FAR = 400
"""Characters from a text's beginning on in which an unknown mark is looked for, at the beginning of a line."""
_MOST_MARKS = 20
"""Unknown marks one behind the other from which on nothing is read."""
_NO_WORDS = " \t\r\n*_`\"'>#"
_A_SENTENCE = 40
"""Characters of a text from which on its last word can show that it breaks off."""

AnswerStatus = Literal["ok", "ambiguous", "refused", "unreadable"] | Outcome
"""ok: an answer was read. ambiguous: several were given, none of them as the final one. refused: the model declined, or
said that it can't tell. unreadable: a reply with words and without an answer; "cut" where the limit of new tokens ended
it."""

StatementRule = Literal["boxed", "statement", "so", "it_is", "correction", "last", "predicate"]
"""What makes a statement: a wrapper; words that announce an answer; "so"; "it is" before a letter; a correction; a last
sentence or line that is a letter; words behind a letter that say that it is right."""


class SentReply(str):
    """A reply's text as a runner gave it, which also says why it ended, at which limit, and the run's own tags.

    A text, since the harness hands texts on. One that lost these facts (a filter made a new text of it) is read as a
    reply of which nothing is known.
    """

    ended: Ending
    limit: int | None
    tags: Tags

    def __new__(cls, text: str, ended: Ending = "", limit: int | None = None, tags: Tags = ()) -> SentReply:
        made = super().__new__(cls, text)
        made.ended, made.limit, made.tags = ended, limit, tags
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return SentReply, (str(self), self.ended, self.limit, self.tags)

    def strip(self, chars: str | None = None, /) -> SentReply:
        """As a text's, and the facts stay: the harness strips each reply right before it calls a scoring hook."""
        return SentReply(super().strip(chars), self.ended, self.limit, self.tags)


class Thought(NamedTuple):
    """Thoughts in a reply: from where to where in its visible text, marks included, and whose form their marks have."""

    start: int
    end: int
    mark: str


@dataclass(frozen=True)
class Reply:
    """A reply taken apart.

    Attributes:
        sent: The text as it was sent, "" for a failed request.
        ended: Why it ended.
        limit: Its limit of new tokens, None where it is not known.
        thoughts: Where it thinks.
        spoken: The text outside the thoughts, with the marks that end a turn and what follows them.
        answer: The text that answers: of ``spoken`` what stands before the marks that end a turn. "" with an outcome.
        outcome: Why there is no text to read, None where there is one.
        marks: Which rules made the answer of the text: names of thoughts' marks, "end token", "next turn".
        unknown_mark: A mark at the beginning that looks like one of thoughts and is not known, "" for none. What stands
            before its end is never read.
        unfinished: Whether the text breaks off: at the limit, or in the middle of a sentence.
    """

    sent: str
    ended: Ending = ""
    limit: int | None = None
    thoughts: tuple[Thought, ...] = ()
    spoken: str = ""
    answer: str = ""
    outcome: Outcome | None = None
    marks: tuple[str, ...] = ()
    unknown_mark: str = ""
    unfinished: bool = False

    @classmethod
    def of(cls, reply: Reply | str | None) -> Reply:
        """Take a reply apart, as a scoring hook gets it; one that is taken apart already stays as it is."""
        if isinstance(reply, Reply):
            return reply
        if is_failed_request(reply):
            return cls("", "error", outcome="failed")
        ended, limit, tags = (getattr(reply, name, default) for name, default in _UNKNOWN)
        if ended == "error":
            return cls(str(reply), "error", limit, outcome="failed")
        return _take_apart(cls(str(reply), ended, limit), tags)

    @property
    def thinking(self) -> str:
        """The text of its thoughts, without their marks."""
        text, forms = _visible_text(self.sent), {thought.name: thought for thought in _known_marks().thoughts}
        parts = []
        for start, end, mark in self.thoughts:
            form = forms.get(mark)
            part = text[start:end]
            parts.append(form.close.sub("", form.open.sub("", part)).strip() if form else part.strip())
        return "\n".join(part for part in parts if part)

    @property
    def unread(self) -> Literal["cut", "unreadable"]:
        """What a reply with words is of which no answer can be read: cut, where the limit of new tokens ended it."""
        return "cut" if self.ended == "length" else "unreadable"

    def note(self, rule: str = "") -> dict[str, Any]:
        """What a record keeps of it beside what was read: why it ended, and which rules made and read the answer."""
        facts = {"ended": self.ended, "limit": self.limit, "marks": list(self.marks), "unknown_mark": self.unknown_mark,
                 "rule": rule}  # fmt: skip
        return {name: value for name, value in facts.items() if value}


def is_failed_request(reply: str | None) -> bool:
    """Whether the harness put a failure text in place of a reply. An empty reply is none: the model said nothing."""
    return reply is None or reply.lstrip().startswith(_FAILURES)


@dataclass(frozen=True)
class _Form:
    name: str
    open: re.Pattern[str]
    close: re.Pattern[str]
    starts_reply: bool = False


@dataclass(frozen=True)
class _Marks:
    thoughts: tuple[_Form, ...]
    answers: frozenset[str]
    end: re.Pattern[str]
    turn: re.Pattern[str]
    leading: re.Pattern[str]
    speaker: re.Pattern[str]
    broken_off: re.Pattern[str]


@functools.cache
def _known_marks() -> _Marks:
    data = yaml.safe_load((Path(__file__).parent / "reply_marks.yml").read_text("utf-8"))
    ends, turns = ("|".join(entry["mark"] for entry in data[name]) for name in ("ends", "turns"))
    assistants = "|".join(data["assistants"])
    return _Marks(
        thoughts=tuple(_parse_form(entry) for entry in data["thoughts"]),
        answers=frozenset(data["answers"]["names"]),
        end=re.compile(ends, re.IGNORECASE),
        turn=re.compile(turns, re.IGNORECASE),
        leading=re.compile(
            rf"\s*(?:(?:{ends}|{turns})\s*(?:(?:{assistants})\b\s*)?|(?:<\|end_header_id\|>|<\|message\|>)\s*"
            rf"|(?:#{{1,4}}\s*)?(?:{assistants})\s*[:：]\s*)",
            re.IGNORECASE,
        ),
        speaker=re.compile(
            rf"^[ \t>*_#\[]{{0,8}}(?:{'|'.join(data['speakers'])})[ \t\]*_]{{0,4}}\d{{0,3}}[ \t]{{0,2}}[:：]",
            re.I | re.M,
        ),
        broken_off=re.compile(rf"(?:[,(\[–—-]|\b(?:{'|'.join(data['never_last'])}))\s*$", re.I),
    )


def _parse_form(entry: dict[str, Any]) -> _Form:
    flags = 0 if entry.get("case") else re.IGNORECASE
    opening, closing = re.compile(entry["open"], flags), re.compile(entry["close"], flags)
    return _Form(entry["name"], opening, closing, bool(entry.get("starts_reply")))


def parse_tags(pairs: object, where: str) -> Tags:
    """Reasoning tags as a user gives them: a list of [opening, closing]. Raises UserError for anything else."""
    tags: Sequence[Any] = pairs if isinstance(pairs, Sequence) and not isinstance(pairs, str) else [pairs]
    for pair in tags:
        fits = isinstance(pair, Sequence) and not isinstance(pair, str) and len(pair) == 2
        if not fits or not all(isinstance(tag, str) and tag.strip() for tag in pair):
            raise UserError(
                f"{where}: {pair!r:.60} is no pair of marks. Give a list of pairs, each with the mark that opens "
                'thoughts and the one that closes them: [["<ponder>", "</ponder>"]].'
            )
    return tuple((str(opening), str(closing)) for opening, closing in tags)


# --- Taking a reply apart ---------------------------------------------------------------------------------------------


def _visible_text(text: str) -> str:
    """A text without characters that nobody sees, and with tags that were escaped (``&lt;think&gt;``) as they were."""
    return _ESCAPED.sub(lambda match: f"<{match[1]}>", _INVISIBLE.sub("", text))


class _ThoughtMark(NamedTuple):
    """A mark of thoughts in a text, and whether it opens them."""

    start: int
    end: int
    opens: bool
    form: _Form


def _take_apart(reply: Reply, tags: Tags) -> Reply:
    text, known = _visible_text(reply.sent), _known_marks()
    given_forms = tuple(
        _Form(opening, re.compile(re.escape(opening)), re.compile(re.escape(closing))) for opening, closing in tags
    )
    thoughts, closed = _find_thoughts(text, given_forms + known.thoughts)
    names = tuple(dict.fromkeys(thought.mark for thought in thoughts))
    reply = replace(reply, thoughts=thoughts, marks=names)
    if not closed:
        return replace(reply, outcome="cut")
    spoken, unknown, there = _behind_unknown_mark(_text_without(text, thoughts), known)
    reply = replace(reply, unknown_mark=unknown)
    if not there:
        return replace(reply, outcome=reply.unread)
    answer, ended_by = _own_turn(spoken, known)
    reply = replace(reply, marks=names + ended_by, spoken=spoken)
    if not answer.strip():
        return replace(reply, outcome="cut" if reply.ended == "length" else "empty")
    if reply.ended == "length" and word_pattern("thinks_aloud").search(answer):
        answer = "\n".join(_plain_parts(answer))
        if not answer:
            return replace(reply, outcome="cut")
    breaks_off = len(answer) > _A_SENTENCE and known.broken_off.search(answer[-_A_SENTENCE:]) is not None
    breaks_off = breaks_off or _BROKEN_OFF_SHORT.search(answer[-_A_SENTENCE:]) is not None
    return replace(reply, answer=answer.strip(), unfinished=reply.ended == "length" or breaks_off)


def _find_thoughts(text: str, forms: Sequence[_Form]) -> tuple[tuple[Thought, ...], bool]:
    """The thoughts in a text, and whether the last of them is closed."""
    marks = sorted(
        (mark for form in forms for mark in _iter_marks(text, form)), key=lambda mark: (mark.start, -mark.end)
    )
    thoughts: list[Thought] = []
    index = done = 0
    while index < len(marks):
        mark, index = marks[index], index + 1
        if mark.start < done:
            continue
        if not mark.opens:
            # A chat template wrote the opening mark into the prompt: all that comes before is thoughts.
            thoughts, done = [Thought(0, mark.end, mark.form.name)], mark.end
            continue
        closing = _find_closing(marks, index)
        if closing is None:
            return (*thoughts, Thought(mark.start, len(text), mark.form.name)), False
        index, done = closing + 1, marks[closing].end
        thoughts.append(Thought(mark.start, done, mark.form.name))
    return tuple(thoughts), True


def _iter_marks(text: str, form: _Form) -> Iterator[_ThoughtMark]:
    if form.starts_reply:
        opening = form.open.match(text, len(text) - len(text.lstrip()))
        if opening is None:
            return
        openings = [opening]
    else:
        openings = list(form.open.finditer(text))
    yield from (_ThoughtMark(match.start(), match.end(), True, form) for match in openings)
    yield from (_ThoughtMark(match.start(), match.end(), False, form) for match in form.close.finditer(text))


def _find_closing(marks: Sequence[_ThoughtMark], opening_index: int) -> int | None:
    """The index of the mark that closes thoughts opened right before ``opening_index``; None if they are left open.

    Thoughts of one form may be nested. Where they are opened more often than closed, the last closing mark ends them.
    """
    form, done, depth, last = marks[opening_index - 1].form, marks[opening_index - 1].end, 1, None
    for number in range(opening_index, len(marks)):
        mark = marks[number]
        if mark.form is not form or mark.start < done:
            continue
        done = mark.end
        depth += 1 if mark.opens else -1
        if not mark.opens:
            last = number
        if depth == 0:
            break
    return last


def _text_without(text: str, thoughts: Sequence[Thought]) -> str:
    ends = [0, *(thought.end for thought in thoughts)]
    starts = [*(thought.start for thought in thoughts), len(text)]
    return "\n".join(part for end, start in zip(ends, starts, strict=True) if (part := text[end:start].strip()))


def _plain_parts(text: str) -> Iterator[str]:
    """The lines that give an answer plainly: a short first one, and those with a label, a box or bold letters alone."""
    lines = text.strip().splitlines()
    for number, line in enumerate(lines):
        aloud = word_pattern("thinks_aloud").search(line)
        short = len(line) <= LONGER_THAN_AN_ANSWER and not aloud
        ended = number + 1 < len(lines)
        if (short and ended and number == 0) or _plain_line().match(line):
            yield line


_BEFORE_LABEL, _BEHIND_LABEL = r"[\s>*_#\[(-]{0,8}(?:the )?(?:final |correct )?", r"[\]*_)\s]{0,4}"
_plain_line = lazy_pattern(
    rf"{_BEFORE_LABEL}{{answer}}{_BEHIND_LABEL}(?:[:：]|{{is}}).{{1,60}}$"
    r"|.{0,200}(?:\\?boxed\s?\{|<answer>|\"answer\"\s?:)|\W*\*\*[^*]{1,60}\*\*\W*$",
    re.IGNORECASE,
)


def _behind_unknown_mark(text: str, known: _Marks, most: int = _MOST_MARKS) -> tuple[str, str, bool]:
    """The text that may be read, the unknown mark that it begins with, and whether there is such a text.

    A mark with a short text in it is a wrapper (``<b>C</b>``), and so are those that are known to stand around answers.
    Some words may stand before it ("Sure! <ponder>"): they are read, and it counts only if it has an end.
    """
    for match in _UNKNOWN_MARK.finditer(text, 0, _FAR):
        name = next(filter(None, match.groups()))
        before = text[: match.start()]
        begins = not before.strip(_NO_WORDS)
        on_a_line = begins or match[0].startswith("\n") or before.endswith("\n")
        if name.casefold().replace(" ", "_") in known.answers or known.leading.match(match[0]):
            continue
        if not on_a_line and len(before) > LONGER_THAN_AN_ANSWER:
            continue
        end = _end_of(match, name).search(text, match.end())
        if end is None:
            # "[FINDINGS] ..." without an end is a heading.
            heading = match.lastgroup in ("square", "lenticular")
            if heading or len(text[match.end() :].split()) <= _AN_ANSWER:
                continue
            return "", match[0].strip(), False
        inside, rest = text[match.end() : end.start()], text[end.end() :].strip()
        thinks = len(inside.split()) >= _A_THOUGHT or "?" in inside
        if len(inside) <= LONGER_THAN_AN_ANSWER and not (begins and rest.strip(_NO_WORDS) and thinks):
            continue
        rest = f"{before}\n{rest}".strip() if before.strip() else rest
        rest = _behind_unknown_mark(rest, known, most - 1)[0] if most else ""
        return rest, match[0].strip(), bool(rest)
    return text, "", True


def _end_of(match: re.Match[str], name: str) -> re.Pattern[str]:
    escaped = re.escape(name)
    if match.lastgroup == "tag":
        unused = "|<unused\\d{1,4}>" if name.startswith("unused") else ""
        return re.compile(rf"</\s?{escaped}\s?>{unused}", re.I)
    if match.lastgroup == "bars":
        stem = re.escape(re.sub(r"^(?:begin|start)(?:_of)?_|_(?:begin|start)$", "", name, flags=re.I))
        return re.compile(rf"<\|(?:/|end_of_|end_)?{stem}(?:_end)?\|>|<{escaped}\|>", re.I)
    opening, closing = {"square": ("\\[", "\\]"), "triangle": "◁▷", "lenticular": "【】"}[str(match.lastgroup)]
    return re.compile(f"{opening}/{escaped}{closing}")


def _own_turn(text: str, known: _Marks) -> tuple[str, tuple[str, ...]]:
    """The text of the model's own turn, and by what it was ended before the reply's end."""
    for _ in range(20):
        leading = known.leading.match(text)
        if leading is None or not leading[0].strip():
            break
        text = text[leading.end() :]
    cuts = [(match.start(), name) for pattern, name in ((known.end, "end token"), (known.turn, "next turn"))
            if (match := pattern.search(text))]  # fmt: skip
    echoed = known.speaker.match(text.lstrip())  # a reply may begin with the question
    skipped = len(text) - len(text.lstrip()) + echoed.end() if echoed else 0
    for match in known.speaker.finditer(text, skipped):
        before = text[: match.start()].strip()
        if before and not (before.endswith((":", "：")) and "\n" not in before):
            cuts.append((match.start(), "next turn"))
            break
    if not cuts:
        return text, ()
    start, name = min(cuts)
    return text[:start], (name,)


@dataclass(frozen=True)
class ParsedAnswer:
    """What was read from one reply: ``value`` if ``status`` is "ok", else "". ``rule``: what it was read from."""

    status: AnswerStatus
    value: str = ""
    rule: str = field(default="", compare=False)


def single_answer(values: Collection[str], rule: str) -> ParsedAnswer | None:
    """The answer if there is one value, ambiguous for several, None without any."""
    if not values:
        return None
    return ParsedAnswer("ok", next(iter(values)), rule) if len(values) == 1 else ParsedAnswer("ambiguous")


def find_refusal(text: str) -> str | None:
    """The words by which a text declines to answer, or says that it can't be told; None for a text that does not."""
    match = word_pattern("refusal").search(text)
    return match[0] if match else None
