"""Recognise the columns of a table by their names, and its answers by their values."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from lmms_medtasks import parsing
from lmms_medtasks.contribute.new import NewTaskRequest, make_adapter
from lmms_medtasks.data import adapter, table_cells
from lmms_medtasks.data.conversations import PLACEHOLDERS
from lmms_medtasks.data.listed_options import SPEAKS_OF_OPTIONS, split_listed_options
from lmms_medtasks.errors import UserError

if TYPE_CHECKING:
    from datasets import Dataset


# --- Names of columns -------------------------------------------------------------------------------------------------

_NAMES: Mapping[str, tuple[str, ...]] = {
    "image": ("image", "images", "img", "picture", "photo", "imagepath", "imgpath", "imagepaths", "imagefile",
              "filename", "imagename", "imgname", "imagefilename", "figurepath", "file"),
    "question": ("question", "query", "questiontext", "q", "problem", "text", "frage"),
    "options": ("options", "choices", "candidates", "answeroptions", "answerchoices", "possibleanswers",
                "candidateanswers", "answercandidates", "alternatives", "optionlist", "choicelist"),
    "answer": ("answer", "answerindex", "answeridx", "answerid", "answerlabel", "answerletter", "answerkey",
               "correctanswer", "correctindex", "correctidx", "correctoption", "correctchoice", "correct", "label",
               "groundtruth", "gt", "gtanswer", "target", "cop", "reference", "multiplechoiceanswer", "answers",
               "loesung", "richtigeantwort", "antwort"),
    "id": ("id", "index", "questionid", "qid", "uid", "sampleid"),
}  # fmt: skip
"""Our name of a column -> how others call it: small letters, without blanks and signs. The first one counts."""

_NUMBERED = re.compile(r"(?:image|img|picture)([0-9]+)")
_OPTION = re.compile(r"(?:option|choice|opt|op|candidate|(?:answer|antwort)(?=[a-z]))?([a-z]|[0-9]{1,2})")


def fold_column_name(name: str) -> str:
    """A column's name in lower case, letters and digits only; ö is oe."""
    return re.sub(r"[^a-z0-9]", "", name.lower().replace("ö", "oe"))


def image_columns(table: Dataset) -> list[str]:
    """Columns of images, or of lists of these, which are not to be decoded here."""
    import datasets

    inner = {name: getattr(feature, "feature", feature) for name, feature in table.features.items()}
    return [
        name
        for name, feature in inner.items()
        if isinstance(feature, datasets.Image) or (isinstance(feature, dict) and {"bytes", "path"} <= set(feature))
    ]


def column_candidates(names: Sequence[str], ours: str) -> list[str]:
    """Columns whose names match our column ``ours``, the likeliest first."""
    known = {fold_column_name(name): name for name in reversed(names)}
    return [known[folded] for folded in _NAMES[ours] if folded in known]


def numbered_image_columns(names: Sequence[str]) -> list[str]:
    """Columns such as image_1, image_2, sorted by their numbers."""
    numbers = {int(match[1]): name for name in names if (match := _NUMBERED.fullmatch(fold_column_name(name)))}
    return [numbers[number] for number in sorted(numbers)]


def option_columns(names: Sequence[str]) -> list[str]:
    """A column for each option: A, B, C; option_a, option_b; choice1, choice2; from the first one on, without a gap."""
    marks = {match[1]: name for name in reversed(names) if (match := _OPTION.fullmatch(fold_column_name(name)))}
    for marked in (list(parsing.option_letters(26).lower()), range(26), range(1, 27)):
        run = []
        for mark in map(str, marked):
            if mark not in marks:
                break
            run.append(marks[mark])
        if len(run) > 1:
            return run
    return []


# --- Answers ----------------------------------------------------------------------------------------------------------


@dataclass
class TableRecognition:
    """The recognised task, messages for the user, and the problem that prevents writing it ("" if none)."""

    wanted: NewTaskRequest
    said: list[str] = field(default_factory=list)
    problem: str = ""


def find_options(recognised: TableRecognition, table: Dataset, columns: dict[str, str]) -> None:
    """Name the column whose lists, or the question whose text, has every row's answer among options.

    What could be options and has not every answer is said. Raises UserError if several columns do.
    """
    names = dict.fromkeys(filter(None, [columns.get("answer"), *column_candidates(table.column_names, "answer")]))
    answers = [table[name][:] for name in names]
    used = {*columns.values(), *image_columns(table)}
    cells = {name: [_list_in(value) for value in table[name][:]] for name in table.column_names if name not in used}
    lists = {name: rows for name, rows in cells.items() if all(rows)}
    found = [name for name, rows in lists.items() if _are_answered(answers, rows, ("letter", "text"))]
    if len(found) > 1:
        raise UserError(
            f"{recognised.wanted.dataset}: {', '.join(found)} hold lists with the answers in them. Say which are the "
            "options: --options COLUMN."
        )
    if found:
        columns["options"] = found[0]
    elif "question" in columns:
        _find_listed_options(recognised, table, columns, answers)
    if "options" not in columns:
        counted = [name for name, rows in lists.items() if _are_answered(answers, rows, ("index", "number"))]
        recognised.said += [
            f"`{name}` holds lists that the answers could count: options? (--options {name})" for name in counted
        ]
        if answers and all(table_cells.letter_and_text(str(value)) for value in answers[0]):
            recognised.said.append(
                f"answers begin with letters ({answers[0][0]!r}), and no options were found: say --options COLUMN"
            )


def _find_listed_options(
    recognised: TableRecognition, table: Dataset, columns: dict[str, str], answers: Sequence[Sequence[Any]]
) -> None:
    texts = [PLACEHOLDERS.sub("", str(text)) for text in table[columns["question"]][:]]
    listed = {row: split[1] for row, text in enumerate(texts) if (split := split_listed_options(text))}
    their_answers = [[values[row] for row in listed] for values in answers]
    is_whole = len(listed) == len(texts) or not recognised.wanted.template
    if listed and is_whole and _are_answered(their_answers, list(listed.values()), ("letter", "text")):
        columns["options"] = columns["question"]
        recognised.said.append("questions end with their options, which are taken out: the prompt puts them")
    elif speaking := [row for row, text in enumerate(texts) if row in listed or SPEAKS_OF_OPTIONS.search(text)]:
        recognised.said.append(
            f"{len(speaking)} of {len(texts)} questions seem to list options, the first is row {speaking[0] + 1}: a "
            "model answers in its own words. Where they end with a list as (a) left (b) right, and answers are in it, "
            f"--options {columns['question']} makes options of it"
        )


def _list_in(value: Any) -> list[str]:
    """Two or more different texts in a cell with a list; [] for any other."""
    if not isinstance(value, list) and not (isinstance(value, str) and value.strip()[:1] in ("[", "{")):
        return []
    with contextlib.suppress(UserError):
        texts = [str(text).strip() for text in table_cells.parse_options(value, str) if text is not None]
        return texts if len(set(texts)) == len(texts) > 1 else []
    return []


def _are_answered(answers: Sequence[Sequence[Any]], rows: Sequence[Sequence[str]], kinds: Sequence[str]) -> bool:
    """Whether a column of ``answers`` names one of each row's options in one of these ways."""

    def is_option(value: Any, row: Sequence[str]) -> bool:
        places = (table_cells.place_of(table_cells.one_of_one(value), row, kind) for kind in kinds)
        return any(place is not None for place in places)

    return any(all(map(is_option, column, rows)) for column in answers)


def recognise_answers(recognised: TableRecognition, table: Dataset) -> None:
    """Find the answer column and how its answers are written, if exactly one reading fits."""
    request = recognised.wanted
    if "answer" not in request.columns:
        return
    if not request.has_options:
        _find_references(recognised, table)
        return
    _find_option_letters(recognised, table)
    start = recognised.wanted
    answer_columns = list(dict.fromkeys([request.columns["answer"], *column_candidates(table.column_names, "answer")]))
    for column in answer_columns[:1] if request.is_answer_named else answer_columns:
        letters = _read_answers(recognised, column, table)
        if letters:
            others = [column_name for column_name in answer_columns if column_name != column]
            _report_disagreement(recognised, start, table, others, letters)
            return
        if column == answer_columns[0] and not (request.answer_is or request.several):
            if unclear := _unclear_answers(recognised.wanted, column, table):
                recognised.said.append(unclear)
                return


def _read_answers(recognised: TableRecognition, column: str, table: Dataset) -> list[str]:
    """Read a column's answers as letters in the first way that fits, and record that way; [] if none fits."""
    request = replace(recognised.wanted, columns={**recognised.wanted.columns, "answer": column})
    for tried in _possible_readings(request, table):
        with contextlib.suppress(UserError):
            letters: list[str] = replace(make_adapter(tried), image=None)(table)["answer"][:]
            if tried.several and not recognised.wanted.several and all(len(letter) == 1 for letter in letters):
                continue  # no cell has several: that nothing else fits is no sign of it
            recognised.wanted = tried
            return letters
    return []


def _unclear_answers(request: NewTaskRequest, column: str, table: Dataset) -> str:
    """Why a column's answers are ambiguous, and the option that decides; "" if no option would help."""
    values = table[column][:]
    if _are_whole_numbers(values):
        if _are_option_texts(request, column, table):
            return (
                f"`{column}` holds numbers that are options' texts, and could count options too. Say --answer-is text, "
                "index or number"
            )
        return (
            f"`{column}` counts options, from 0 or from 1: no answer tells (none is 0, none is the last option's "
            "number). Say --answer-is index or --answer-is number"
        )
    if _are_option_texts(request, column, table):
        return f"`{column}` holds letters that are options' texts too. Say --answer-is letter or --answer-is text"
    if _form_of_several(values) == "unclear":
        return (
            f"`{column}` names several options, and not whether all of them must be named or any of them is right. Say "
            "--several all or --several any"
        )
    return ""


def _report_disagreement(
    recognised: TableRecognition, start: NewTaskRequest, table: Dataset, others: Sequence[str], letters: Sequence[str]
) -> None:
    """Report other columns that could hold the answers and differ from the chosen one."""
    chosen = recognised.wanted.columns["answer"]
    for other_column in others:
        read = _read_answers(TableRecognition(start), other_column, table)
        pairs = enumerate(zip(letters, read, strict=False), start=1)
        rows = [row for row, (chosen_letter, other_letter) in pairs if chosen_letter != other_letter]
        if rows:
            recognised.said.append(
                f"`{other_column}` could be the answers too, and differs from `{chosen}` in {len(rows)} of "
                f"{len(letters)} rows, the first is row {rows[0]}: look which of them is right (--answer COLUMN)"
            )


def _find_references(recognised: TableRecognition, table: Dataset) -> None:
    columns = recognised.wanted.columns
    if recognised.wanted.rows:
        # A table of both kinds may have a column of letters and one of references.
        listed = [columns["answer"], *column_candidates(table.column_names, "answer")]
        # One that the user named has only the letters if no open question has a word in it.
        enough = any if recognised.wanted.is_answer_named else all
        filled = (name for name in listed if enough(str(value or "").strip() for value in table[name][:]))
        columns = {**columns, "answer": next(filled, columns["answer"])}
        recognised.wanted = replace(recognised.wanted, columns=columns)
    values = table[columns["answer"]][:]
    if not recognised.wanted.several and any(len(table_cells.parse_references(value)) > 1 for value in values):
        recognised.wanted = replace(recognised.wanted, several="any")
        recognised.said.append("questions have several references, each of which is right: the nearest counts")


def _find_option_letters(recognised: TableRecognition, table: Dataset) -> None:
    try:
        rows = adapter.read_options(make_adapter(recognised.wanted), table)
    except UserError:
        return
    if all(table_cells.leading_letters(row) == list(parsing.option_letters(len(row))) for row in rows):
        recognised.wanted = replace(recognised.wanted, lettered=True)
        recognised.said.append("options begin with their letters, which are taken off (the prompt puts letters)")


def _possible_readings(request: NewTaskRequest, table: Dataset) -> Iterator[NewTaskRequest]:
    """Yield the ways in which the answers may be read, the simplest first."""
    if request.answer_is or request.several:
        yield request
        return
    values = table[request.columns["answer"]][:]
    if option_columns(table.column_names) and fold_column_name(request.columns.get("id", "")) == "index":
        # VLMEvalKit's form: answers are letters, also where options' texts are letters.
        yield replace(request, answer_is="letter")
    yield request
    whole = _are_whole_numbers(values)
    for kind, sign in (("index", 0), ("number", None)):
        tried = replace(request, answer_is=kind)
        if whole and _decides_count(tried, table, sign):
            yield tried
    form = _form_of_several(values)
    for kind in ("", "letter") if form != "unclear" else ():
        yield replace(request, several=form or "all", answer_is=kind)


def _form_of_several(values: Any) -> str:
    """What several letters in a cell mean: "any" ("A or B"), "all" ("A, B"), "unclear", or "" if there are none."""
    texts = [str(value).strip() for value in values]
    if any(table_cells.SAYS_OR.fullmatch(text) for text in texts):
        together = re.compile(r"[A-Za-z]\s*(?:&|\+|\band\b)\s*[A-Za-z]", re.IGNORECASE)
        return "unclear" if any(together.fullmatch(text) for text in texts) else "any"
    return "unclear" if any(table_cells.SAYS_NEITHER.fullmatch(text) for text in texts) else ""


def _are_whole_numbers(values: Any) -> bool:
    return all(re.fullmatch(r"\s*[0-9]+\s*", str(value)) for value in values)


def _decides_count(request: NewTaskRequest, table: Dataset, sign: int | None) -> bool:
    """Whether a value decides the way of counting: 0, or the number of the last option."""
    if _are_option_texts(request, request.columns["answer"], table):
        return False  # not ours to choose
    values = [int(str(value)) for value in table[request.columns["answer"]][:]]
    if sign == 0:
        return 0 in values
    counts = [len(row) for row in adapter.read_options(make_adapter(request), table)]
    return 0 not in values and any(value == count for value, count in zip(values, counts, strict=True))


def _are_option_texts(request: NewTaskRequest, column: str, table: Dataset) -> bool:
    """Whether each answer is the text of one of its options."""
    try:
        rows = adapter.read_options(make_adapter(request), table)
    except UserError:
        return False
    return all(str(value).strip() in row for value, row in zip(table[column][:], rows, strict=True))
