"""Questions as cards without scripts: images, text, options, each model's answers.

A page gets the cards of a task's entries from :meth:`QuestionCards.of`, and passes each to the macro of
``templates/question_card.html``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import quote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lmms_medtasks.board.entries import LeaderboardEntry
from lmms_medtasks.board.shown_answers import ShownAnswer, rows_of
from lmms_medtasks.board.site import suite_words
from lmms_medtasks.board.site.question_data import QuestionData, QuestionForm, QuestionTexts, SiteImage, question_forms
from lmms_medtasks.board.site.question_scores import QuestionScores, score_mark, scores_of
from lmms_medtasks.data.documents import LETTERS
from lmms_medtasks.record import FAILED
from lmms_medtasks.short_texts import shorten_text
from lmms_medtasks.visible_text import replace_invisible

_CUT = 300
"""Characters of a reply on a card; the question's own page has more."""


class ShownReply(NamedTuple):
    """A reply: its parsed answer, or its text. ``mark``: ✓ ✗ ~, "" if it has no separate score."""

    text: str
    mark: str


class AnsweredForm(NamedTuple):
    """A model's answer to one form of a question.

    ``condition``: "clean", "mild", "severe"; without these the task's name if its model has several; or "".
    """

    model: str
    condition: str
    replies: tuple[ShownReply, ...]
    score: str
    mark: str


@dataclass(frozen=True)
class QuestionCard:
    """A question as it is shown; texts of others, not escaped.

    Attributes:
        address: permanent, relative to the site's folder. name: of the link to it.
        text: the question; the whole prompt if the question can't be separated from it. options: letter and text of
            each.
        right: letters of the right options, or the right answer without options; "" if unknown.
        answers: of each model, to each form of the question that it was asked, mildest first.
        note: why texts, images or replies are missing; "" for nothing.
    """

    address: str
    name: str
    pictures: tuple[SiteImage, ...]
    text: str
    options: tuple[tuple[str, str], ...]
    right: str
    answers: tuple[tuple[AnsweredForm, ...], ...]
    note: str


class QuestionCards:
    """Makes the cards of a build. ``title``: of an entry's model."""

    def __init__(self, data: QuestionData, title: Callable[[LeaderboardEntry], str]) -> None:
        self._data = data
        self._title = title
        self._scores: dict[int, QuestionScores] = {}

    def of(self, task: str, ids: Sequence[str], entries: Sequence[LeaderboardEntry]) -> list[QuestionCard]:
        """The cards of these questions of ``task``, in the order of ``ids``; models in the order of ``entries``.

        ``entries`` may include other tasks of the suite, whose forms of the question (clean, mild, severe, with the
        same degradation) are shown too. An id without an entry of ``task`` has no card.
        """
        own = [entry for entry in entries if entry.task == task]
        withheld = self._data.withheld(own)
        materials = {} if withheld else self._data.of(own, ids)
        asked = {id: (entry, row) for id in ids for entry in reversed(own) for row in rows_of(entry, [id])}
        return [
            self._card(entry, question_forms(entry, [row])[0], materials.get(id), withheld, entries)
            for id, (entry, row) in asked.items()
        ]

    def _card(
        self,
        asked: LeaderboardEntry,
        form: QuestionForm,
        material: QuestionTexts | None,
        withheld: str,
        entries: Sequence[LeaderboardEntry],
    ) -> QuestionCard:
        same_task = [] if withheld else [entry for entry in entries if entry.task == asked.task]
        telling = filter(self._data.may_tell, same_task)
        logged = (self._data.logs.of(entry, [form.id]).get(form.id) for entry in telling)
        text, options, right = question_content(material, next(filter(None, logged), None))
        answers = self._answers(form, entries, not withheld)
        notes = [withheld, material.note if material else ""]
        if not withheld and not any(each.replies for model in answers for each in model):
            notes.append("No replies: only scores were submitted.")
        return QuestionCard(
            address=question_address(asked.suite, asked.task, form.id),
            name=", ".join(filter(None, (form.modality, form.id))),
            pictures=material.pictures if material else (),
            text=text,
            options=options,
            right=right,
            answers=answers,
            note=" ".join(filter(None, notes)),
        )

    def _answers(
        self, form: QuestionForm, entries: Iterable[LeaderboardEntry], told: bool
    ) -> tuple[tuple[AnsweredForm, ...], ...]:
        by_model: dict[str, list[tuple[int, str, AnsweredForm]]] = {}
        for entry in entries:
            task = suite_words.suite_texts(entry.suite).name_of(entry.task)
            may_tell = told and self._data.may_tell(entry)
            for row in _rows_of_forms(entry, form):
                level = question_forms(entry, [row])[0].severity
                answered = self._answered(entry, row, suite_words.level_word(level), may_tell)
                by_model.setdefault(entry.model.key, []).append((level or 0, task, answered))
        return tuple(
            tuple(
                each if each.condition or len(rows) == 1 else each._replace(condition=task)
                for _, task, each in sorted(rows, key=lambda item: item[:2])
            )
            for rows in by_model.values()
        )

    def _answered(self, entry: LeaderboardEntry, row: int, condition: str, told: bool) -> AnsweredForm:
        if id(entry) not in self._scores:
            self._scores[id(entry)] = scores_of(entry, entry.questions.ids)
        scores = self._scores[id(entry)]
        normal = float(scores.normal[row])
        replies: tuple[ShownReply, ...] = ()
        if told:
            name, trials = str(entry.questions.ids[row]), entry.answers.column("trials")[row].as_py() or ()
            shown = self._data.logs.of(entry, [name]).get(name)
            expected = entry.questions.values("expected")[row]
            replies = mark_replies(trials, expected, normal, shown.replies if shown else ())
        return AnsweredForm(self._title(entry), condition, replies, scores.text(row) or "–", score_mark(normal))


def _rows_of_forms(entry: LeaderboardEntry, form: QuestionForm) -> list[int]:
    """The rows of this question, its clean form, and other levels of the same degradation."""
    rows = set(rows_of(entry, [form.id]))
    if "pair" in entry.questions.table.column_names:
        column = entry.questions.tag("pair")
        code = pc.index(column.dictionary.cast(pa.string()), pa.scalar(form.pair)).as_py()
        rows.update(np.flatnonzero(np.asarray(column.indices) == code).tolist() if code >= 0 else ())
    ordered = sorted(rows)
    found = zip(ordered, question_forms(entry, ordered), strict=True)
    return [row for row, other in found if other.cluster == form.cluster and _is_form_of(other, form)]


def _is_form_of(other: QuestionForm, form: QuestionForm) -> bool:
    if other.id == form.id:
        return True
    if other.severity is None or form.severity is None or other.severity == form.severity:
        return False
    return not other.severity or other.degradation == form.degradation


def question_address(suite: str, task: str, question: str) -> str:
    """The permanent address of a question, relative to the site's folder; it stays when a board is rebuilt.

    The addresses of lists are in the head of ``assets/questions.js``.

    >>> question_address("robust", "robust_severe", "q1/blur/L2")
    'questions/robust.html#robust_severe/q1%2Fblur%2FL2'
    """
    # encodeURIComponent of a browser leaves these.
    task, question = (quote(text, safe="!'()*", errors="replace") for text in (task, question))
    return f"questions/{suite}.html#{task}/{question}"


def mark_replies(
    trials: Sequence[str], expected: str | None, normal: float, texts: Sequence[str], cut: int = _CUT
) -> tuple[ShownReply, ...]:
    """The replies to a question, with marks that agree with its score.

    ``trials``: the parsed answers. ``normal``: the question's score from 0 to 1. ``texts``: the replies, cut to ``cut``
    characters. Parsed answers have a mark each if the share of right ones is the score.
    """
    if expected is None:
        shown = [shorten_text(replace_invisible(text).strip(), cut) or "(empty)" for text in texts]
        return tuple(ShownReply(text, score_mark(normal)) for text in shown)
    right = [trial == expected for trial in trials if trial != FAILED]
    borne_out = bool(right) and not np.isnan(normal) and abs(float(np.mean(right)) - normal) < 1e-6
    return tuple(
        ShownReply("no reply" if trial == FAILED else replace_invisible(trial),
              ("✓" if trial == expected else "✗") if borne_out and trial != FAILED else "")
        for trial in trials
    )  # fmt: skip


def question_content(
    material: QuestionTexts | None, shown: ShownAnswer | None
) -> tuple[str, tuple[tuple[str, str], ...], str]:
    """Text, options and right answer of a question: the data's, if the model was asked exactly that.

    A prompt with another wording, or options in another order, is shown unchanged.
    """
    if shown is None:
        return "", (), ""
    if material is None or not material.question or material.question not in (shown.prompt or material.question):
        return replace_invisible(shown.prompt), (), replace_invisible(shown.expected)
    text, options = material.question, list(zip(LETTERS, material.options, strict=False))
    named = tuple((letter, replace_invisible(option)) for letter, option in options)
    if not shown.prompt:  # a log without texts
        return replace_invisible(text), named, replace_invisible(material.answer)
    if not options:
        return replace_invisible(text), (), replace_invisible(shown.expected)
    if not all(_option_line_pattern(letter, option).search(shown.prompt) for letter, option in options):
        return replace_invisible(shown.prompt), (), replace_invisible(shown.expected)
    for letter, option in options:
        text = _option_line_pattern(letter, option).sub("", text)
    kept = "\n".join(line.rstrip() for line in text.strip().splitlines())
    return replace_invisible(re.sub(r"\n{3,}", "\n\n", kept)), named, material.answer


def _option_line_pattern(letter: str, option: str) -> re.Pattern[str]:
    return re.compile(rf"^[ \t]*{letter}[.):]?[ \t]+{re.escape(option)}[ \t]*$\n?", re.MULTILINE)
