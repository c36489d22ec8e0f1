"""Questions as cards that need no script: pictures, text, options, what each model answered.

A page gives :meth:`QuestionCards.of` a task's entries and the ids that it wants, and the cards to the macro of
``templates/question_card.html``::

    {% from "question_card.html" import question_cards %}
    {{ question_cards(cards, root) }}
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple
from urllib.parse import quote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lmms_medtasks.board.entries import Entry
from lmms_medtasks.board.shown_answers import Shown, rows_of
from lmms_medtasks.board.site import suite_words
from lmms_medtasks.board.site.question_data import Form, Material, Picture, QuestionData, forms
from lmms_medtasks.board.site.question_scores import Scores, mark, scores_of
from lmms_medtasks.data.documents import LETTERS
from lmms_medtasks.record import FAILED
from lmms_medtasks.short_texts import short
from lmms_medtasks.visible_text import visible

_CUT = 300
"""Characters of a reply on a card; the question's own page has more."""


class Reply(NamedTuple):
    """A reply: the answer that was read from it, or its text. ``mark``: ✓ ✗ ~, "" where it has no score of its own."""

    text: str
    mark: str


@dataclass(frozen=True)
class Answered:
    """What a model got for one form of a question. ``condition``: "clean", "mild", "severe", "" of a task without.

    Where a model has several of one condition, from several tasks, the task's name stands there too.
    """

    condition: str
    replies: tuple[Reply, ...]
    score: str
    mark: str


@dataclass(frozen=True)
class ModelAnswers:
    """A model and what it got, for each form of the question that it was asked, mildest first."""

    model: str
    answered: tuple[Answered, ...]


@dataclass(frozen=True)
class Card:
    """A question as it is shown; texts of others, not escaped.

    Attributes:
        address: permanent, relative to the site's folder. name: of the link to it.
        text: the question; the whole prompt where it can't be told from it. options: letter and text of each.
        right: letters of the right options, or the right answer where there are no options; "" where it is not known.
        note: why a picture is missing, or the replies are; "" for nothing.
        withheld: why neither text nor picture may be shown; "" where they may.
    """

    id: str
    address: str
    name: str
    pictures: tuple[Picture, ...]
    text: str
    options: tuple[tuple[str, str], ...]
    right: str
    answers: tuple[ModelAnswers, ...]
    note: str
    withheld: str


class QuestionCards:
    """Makes the cards of a build. ``title``: of an entry's model."""

    def __init__(self, data: QuestionData, title: Callable[[Entry], str]) -> None:
        self._data = data
        self._title = title
        self._entries: dict[int, _Columns] = {}

    def of(self, task: str, ids: Sequence[str], entries: Sequence[Entry]) -> list[Card]:
        """The cards of these questions of ``task``, in the order of ``ids``; models in the order of ``entries``.

        ``entries`` may hold those of other tasks of the suite: what their models answered to other forms of the
        question (clean, mild, severe, with the same degradation) stands beside it. An id that no entry of ``task`` has
        gives no card.
        """
        own = [entry for entry in entries if entry.task == task]
        withheld = self._data.withheld(own)
        materials = {} if withheld else self._data.of(own, ids)
        cards = []
        for id in ids:
            asked = [(entry, row) for entry in own for row in rows_of(entry, [id])]
            if asked:
                cards.append(self._card(asked, materials.get(id), withheld, entries))
        return cards

    def _card(
        self, asked: Sequence[tuple[Entry, int]], material: Material | None, withheld: str, entries: Sequence[Entry]
    ) -> Card:
        entry, row = asked[0]
        form = forms(entry, [row])[0]
        shown: dict[str, Shown] = {}
        for each, _ in asked:
            if not withheld and not shown and self._data.may_tell(each):
                shown = self._data.logs.of(each, [form.id])
        text, options, right = content(material, shown.get(form.id))
        answers = self._answers(form, entries, not withheld)
        without = not withheld and not any(each.replies for model in answers for each in model.answered)
        notes = [material.note if material else "", "No replies: only scores were submitted." if without else ""]
        return Card(
            id=form.id,
            address=question_address(entry.suite, entry.task, form.id),
            name=", ".join(filter(None, (form.modality, form.id))),
            pictures=material.pictures if material else (),
            text=text,
            options=options,
            right=right,
            answers=answers,
            note=" ".join(filter(None, notes)),
            withheld=withheld,
        )

    def _answers(self, form: Form, entries: Iterable[Entry], told: bool) -> tuple[ModelAnswers, ...]:
        found: dict[str, list[tuple[int, str, Answered]]] = {}
        titles: dict[str, str] = {}
        for entry in entries:
            titles.setdefault(entry.model.key, self._title(entry))
            for row in self._columns(entry).forms_of(form):
                level = forms(entry, [row])[0].severity
                answered = self._answered(entry, row, level, told and self._data.may_tell(entry))
                found.setdefault(entry.model.key, []).append((level or 0, _task_name(entry), answered))
        if any(len({each.condition for *_, each in rows}) < len(rows) for rows in found.values()):
            found = {
                key: [(level, task, _named(each, task)) for level, task, each in rows] for key, rows in found.items()
            }
        return tuple(
            ModelAnswers(titles[key], tuple(each for *_, each in sorted(rows, key=lambda item: item[:2])))
            for key, rows in found.items()
        )

    def _answered(self, entry: Entry, row: int, level: int | None, told: bool) -> Answered:
        scores = self._columns(entry).scores
        normal = float(scores.normal[row])
        replies: tuple[Reply, ...] = ()
        if told:
            id, trials = str(entry.questions.ids[row]), entry.answers.column("trials")[row].as_py() or ()
            shown = self._data.logs.of(entry, [id]).get(id)
            expected = entry.questions.values("expected")[row]
            replies = read_replies(trials, expected, normal, shown.replies if shown else ())
        return Answered(suite_words.level_word(level), replies, scores.text(row) or "–", mark(normal))

    def _columns(self, entry: Entry) -> _Columns:
        if id(entry) not in self._entries:
            self._entries[id(entry)] = _Columns(entry)
        return self._entries[id(entry)]


def _task_name(entry: Entry) -> str:
    return suite_words.about(entry.suite).name_of(entry.task)


def _named(answered: Answered, task: str) -> Answered:
    """With the task's name, which may say the condition itself ("Mild degradation (L1)")."""
    if answered.condition in task.lower().split():
        return replace(answered, condition=task)
    return replace(answered, condition=": ".join(filter(None, (task, answered.condition))))


class _Columns:
    """Columns of an entry, by row."""

    def __init__(self, entry: Entry) -> None:
        self._entry = entry

    @cached_property
    def scores(self) -> Scores:
        return scores_of(self._entry, self._entry.questions.ids)

    def forms_of(self, form: Form) -> list[int]:
        """The rows with this question, with its clean form, and with other levels of the same degradation of it."""
        same = rows_of(self._entry, [form.id])
        own = [row for row, other in zip(same, forms(self._entry, same), strict=True) if other.cluster == form.cluster]
        if "pair" not in self._entry.questions.table.column_names:
            return own
        column = self._entry.questions.tag("pair")
        code = pc.index(column.dictionary.cast(pa.string()), pa.scalar(form.pair)).as_py()
        rows = np.flatnonzero(np.asarray(column.indices) == code).tolist() if code >= 0 else []
        others = zip(rows, forms(self._entry, rows), strict=True)
        return sorted({*own, *(row for row, other in others if self._is_level_of(other, form))})

    @staticmethod
    def _is_level_of(other: Form, form: Form) -> bool:
        if other.cluster != form.cluster:
            return False
        if other.severity is None or form.severity is None or other.severity == form.severity:
            return False
        return not other.severity or other.degradation == form.degradation


def question_address(suite: str, task: str, question: str) -> str:
    """The permanent address of a question, relative to the site's folder; it stays when a board is built anew.

    The addresses of lists are in the head of ``assets/questions.js``.

    >>> question_address("robust", "robust_severe", "q1/blur/L2")
    'questions/robust.html#robust_severe/q1%2Fblur%2FL2'
    """
    # encodeURIComponent of a browser leaves these.
    task, question = (quote(text, safe="!'()*", errors="replace") for text in (task, question))
    return f"questions/{suite}.html#{task}/{question}"


def read_replies(
    trials: Sequence[str], expected: str | None, normal: float, texts: Sequence[str], cut: int = _CUT
) -> tuple[Reply, ...]:
    """The replies to a question, with the marks that its score bears out.

    ``trials``: what was read of each. ``normal``: the question's score from 0 to 1. ``texts``: the replies themselves,
    of which ``cut`` characters are shown.
    Where answers are read, each reply has a mark of its own if the share of right ones is the score.
    """
    if expected is None:
        return tuple(Reply(_cut(text, cut), mark(normal)) for text in texts)
    right = [trial == expected for trial in trials if trial != FAILED]
    borne_out = bool(right) and not np.isnan(normal) and abs(float(np.mean(right)) - normal) < 1e-6
    return tuple(
        Reply("no reply" if trial == FAILED else visible(trial),
              ("✓" if trial == expected else "✗") if borne_out and trial != FAILED else "")
        for trial in trials
    )  # fmt: skip


def content(material: Material | None, shown: Shown | None) -> tuple[str, tuple[tuple[str, str], ...], str]:
    """Text, options and right answer of a question: the data's, as far as the model was asked just that.

    A prompt that has another wording, or options in another order, is shown as it is.
    """
    if shown is None:
        return "", (), ""
    if material is None or not material.question or material.question not in (shown.prompt or material.question):
        return visible(shown.prompt), (), visible(shown.expected)
    text, options = material.question, list(zip(LETTERS, material.options, strict=False))
    if not shown.prompt:  # a log without texts
        return visible(text), tuple((letter, visible(option)) for letter, option in options), visible(material.answer)
    if not options:
        return visible(text), (), visible(shown.expected)
    if not all(_line(letter, option).search(shown.prompt) for letter, option in options):
        return visible(shown.prompt), (), visible(shown.expected)
    for letter, option in options:
        text = _line(letter, option).sub("", text)
    kept = "\n".join(line.rstrip() for line in text.strip().splitlines())
    named = tuple((letter, visible(option)) for letter, option in options)
    return visible(re.sub(r"\n{3,}", "\n\n", kept)), named, material.answer


def _line(letter: str, option: str) -> re.Pattern[str]:
    return re.compile(rf"^[ \t]*{letter}[.):]?[ \t]+{re.escape(option)}[ \t]*$\n?", re.MULTILINE)


def _cut(text: str, length: int) -> str:
    return short(visible(text).strip(), length) or "(empty)"
