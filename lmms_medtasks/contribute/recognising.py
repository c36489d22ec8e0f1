"""What a table's columns are, told from their names and values: ``lmms-medtasks new`` says it before it writes.

What the command line names counts; only what it leaves open is told here. What can't be told is not guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from lmms_medtasks import parsing
from lmms_medtasks.contribute.wanted import Wanted, adapter_of
from lmms_medtasks.data import adapter, text_tables
from lmms_medtasks.data.documents import images_of
from lmms_medtasks.errors import UserError
from lmms_medtasks.suites import templates

if TYPE_CHECKING:
    from datasets import Dataset

_NAMES: Mapping[str, tuple[str, ...]] = {
    "image": ("image", "images", "img", "picture", "photo", "imagepath", "imgpath", "imagepaths", "imagefile",
              "filename", "imagename", "imgname", "imagefilename", "figurepath", "file"),
    "question": ("question", "query", "questiontext", "q", "problem"),
    "options": ("options", "choices", "candidates", "answeroptions", "answerchoices"),
    "answer": ("answer", "answerindex", "answeridx", "answerid", "answerlabel", "answerletter", "correctanswer",
               "correctindex", "correctidx", "correctoption", "correctchoice", "correct", "label", "groundtruth", "gt",
               "gtanswer", "target", "cop", "reference", "multiplechoiceanswer", "answers"),
    "id": ("id", "index", "questionid", "qid", "uid", "sampleid"),
}  # fmt: skip
"""Our name of a column -> how others call it: small letters, without blanks and signs. The first one counts."""

_NUMBERED = re.compile(r"(?:image|img|picture)([0-9]+)")
_OPTION = re.compile(r"(?:option|choice|opt|op|candidate)?([a-z]|[0-9]{1,2})")
_CONVERSATIONS = ("conversations", "messages")
_CONTEXT = ("hint", "context", "passage", "lecture", "casedescription")
_YES_NO = {"yes", "no"}
_LOOKED_AT = 50
_SHOWN = 300


@dataclass
class Look:
    """What was found: the task as it would be written, and what is said of it."""

    wanted: Wanted
    said: list[str] = field(default_factory=list)


def look(wanted: Wanted) -> Look:
    """``wanted`` with what it leaves open filled in from its table, and the lines that tell what was found.

    Raises:
        UserError: the table can't be read, or its columns can't be told and ``wanted`` does not name them.
    """
    import datasets

    datasets.disable_progress_bars()
    found = Look(wanted)
    table = _rows(wanted, found)
    if table is None:
        if not wanted.template:
            raise UserError(f"--template: which one? {wanted.dataset!r} could not be looked at. Allowed: "
                            f"{', '.join(templates.names())}.")  # fmt: skip
        return found
    _name_columns(found, table)
    _tell_answers(found, table)
    _choose_template(found, table)
    _say_columns(found, table.column_names)
    _show_first(found, table)
    return found


def _rows(wanted: Wanted, found: Look) -> Dataset | None:
    path = wanted.table
    if path is not None:
        how = text_tables.loader(path)
        if how == "csv" and "sep" not in wanted.reader:
            sign = text_tables.separator_of(path)
            if sign != text_tables.named_separator(path):
                found.wanted = wanted = replace(wanted, reader={**wanted.reader, "sep": sign})
                found.said.append(f"columns are separated by {sign!r}")
        return text_tables.read(path, how, wanted.reader)
    if wanted.dataset.startswith("medtasks://"):
        return None
    return _of_hub(wanted, found)


def _of_hub(wanted: Wanted, found: Look) -> Dataset | None:
    """The first rows of a hub's data set; None, and a line, where they can't be had."""
    import datasets

    try:
        stream = datasets.load_dataset(wanted.dataset, split=wanted.split, streaming=True)
        for name, feature in (stream.features or {}).items():
            if isinstance(feature, datasets.Image):
                stream = stream.cast_column(name, datasets.Image(decode=False))
        rows = list(stream.take(_LOOKED_AT))
        table = datasets.Dataset.from_list(rows, features=stream.features)
    except Exception as error:  # noqa: BLE001 (the hub's library raises many kinds)
        found.said.append(f"{wanted.dataset} could not be looked at ({type(error).__name__}: {str(error)[:120]})")
        return None
    found.said.append(f"the first {len(table)} rows of {wanted.dataset}, split {wanted.split}, were looked at")
    return table


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _candidates(names: Sequence[str], ours: str) -> list[str]:
    """The columns that may be ours, the likeliest first."""
    plain = {_plain(name): name for name in reversed(names)}
    return [plain[each] for each in _NAMES[ours] if each in plain]


def _name_columns(found: Look, table: Dataset) -> None:
    names, columns = table.column_names, dict(found.wanted.columns)
    talks = next((name for name in names if _plain(name) in _CONVERSATIONS), None)
    if talks and "question" not in columns and not _candidates(names, "question"):
        columns["conversations"] = talks
    if "image" not in columns:
        numbered = _numbered(names)
        listed = _candidates(names, "image")
        if listed or numbered:
            columns["image"] = listed[0] if listed else ",".join(numbered)
    if "conversations" not in columns:
        for ours in ("question", "answer"):
            if ours not in columns and _candidates(names, ours):
                columns[ours] = _candidates(names, ours)[0]
        if "options" not in columns:
            several = _option_columns(names)
            listed = _candidates(names, "options")
            if several or listed:
                columns["options"] = listed[0] if listed else ",".join(several)
    if "id" not in columns:
        unique = (name for name in _candidates(names, "id") if len(set(map(str, table[name]))) == len(table))
        chosen = next(unique, None)
        if chosen:
            columns["id"] = chosen
    found.wanted = replace(found.wanted, columns=columns)


def _numbered(names: Sequence[str]) -> list[str]:
    """Columns such as image_1, image_2, in the order of their numbers."""
    numbers = {int(match[1]): name for name in names if (match := _NUMBERED.fullmatch(_plain(name)))}
    return [numbers[each] for each in sorted(numbers)]


def _option_columns(names: Sequence[str]) -> list[str]:
    """A column for each option: A, B, C; option_a, option_b; choice1, choice2; from the first one on, without a gap."""
    marks = {match[1]: name for name in reversed(names) if (match := _OPTION.fullmatch(_plain(name)))}
    for marked in (list(parsing.option_letters(26).lower()), range(26), range(1, 27)):
        run = []
        for mark in map(str, marked):
            if mark not in marks:
                break
            run.append(marks[mark])
        if len(run) > 1:
            return run
    return []


def _tell_answers(found: Look, table: Dataset) -> None:
    """Which column has the answers, and what they are, where exactly one reading fits."""
    wanted = found.wanted
    if "conversations" in wanted.columns or "options" not in wanted.columns or "answer" not in wanted.columns:
        return
    _tell_letters(found, table)
    named = [wanted.columns["answer"]]
    named += [each for each in _candidates(table.column_names, "answer") if each not in named]
    problems = []
    for column in named:
        for tried in _readings(replace(found.wanted, columns={**found.wanted.columns, "answer": column}), table):
            try:
                _letters(tried, table)
            except UserError as error:
                problems.append(str(error))
                continue
            found.wanted = tried
            return
        if column == wanted.columns["answer"] and _whole(table[column]) and not wanted.answer_is:
            found.said.append(
                f"`{column}` counts options, from 0 or from 1: no answer tells (none is 0, none is the last option's "
                "number). Say --answer-is index or --answer-is number"
            )
            return


def _tell_letters(found: Look, table: Dataset) -> None:
    """Whether all options begin with their letters."""
    try:
        rows = adapter.options_of(adapter_of(found.wanted), table)
    except UserError:
        return
    if all(adapter.lettered(row) == list(parsing.option_letters(len(row))) for row in rows):
        found.wanted = replace(found.wanted, lettered=True)
        found.said.append("options begin with their letters, which are taken off (the prompt puts letters)")


def _readings(wanted: Wanted, table: Dataset) -> Iterator[Wanted]:
    """The ways in which the answers may be read, the plain one first."""
    if wanted.answer_is or wanted.several:
        yield wanted
        return
    column = wanted.columns["answer"]
    letters = _option_columns(table.column_names) and _plain(wanted.columns.get("id", "")) == "index"
    if letters:  # VLMEvalKit's form: answers are letters, also where options' texts are letters
        yield replace(wanted, answer_is="letter")
    yield wanted
    whole = _whole(table[column])
    for kind, sign in (("index", 0), ("number", None)):
        tried = replace(wanted, answer_is=kind)
        if whole and _decides(tried, table, sign):
            yield tried
    for kind in ("", "letter"):
        yield replace(wanted, several="all", answer_is=kind)


def _whole(values: Any) -> bool:
    return all(re.fullmatch(r"\s*[0-9]+\s*", str(value)) for value in values)


def _decides(wanted: Wanted, table: Dataset, sign: int | None) -> bool:
    """Whether a value is there that only this way of counting has: 0, or the number of the last option."""
    values = [int(str(value)) for value in table[wanted.columns["answer"]]]
    if sign == 0:
        return 0 in values
    counts = [len(row) for row in adapter.options_of(adapter_of(wanted), table)]
    return 0 not in values and any(value == count for value, count in zip(values, counts, strict=True))


def _letters(wanted: Wanted, table: Dataset) -> list[str]:
    return list(replace(adapter_of(wanted), image=None)(table)["answer"])


def _choose_template(found: Look, table: Dataset) -> None:
    wanted = found.wanted
    columns = wanted.columns
    settings = dict(wanted.settings)
    if wanted.several == "all" and "parser" not in settings:
        settings["parser"] = "several_letters"
        found.said.append("questions have several right answers: a reply must name all of them and no other")
    chosen = wanted.template
    if not chosen and ("question" not in columns or "answer" not in columns) and "conversations" not in columns:
        raise UserError(
            f"Which columns of {wanted.dataset} are question and answer can't be told. It has: "
            f"{', '.join(table.column_names)}. Say --question COLUMN and --answer COLUMN."
        )
    if not chosen:
        chosen = "multiple_choice" if "options" in columns else "open"
        if chosen == "open" and "conversations" not in columns and _is_yes_no(table[columns["answer"]]):
            chosen = "multiple_choice"
            settings["parser"] = "yes_no"
            found.said.append("all answers are yes or no: the parser yes_no reads them")
        if chosen == "multiple_choice" and "image" not in columns:
            chosen = "no_image"
        if chosen == "open" and "image" not in columns:
            settings["no_image"] = True
        found.said.append(f"template {chosen}")
    found.wanted = replace(wanted, template=chosen, settings=settings)


def _is_yes_no(values: Any) -> bool:
    return {str(value).strip().casefold() for value in values} == _YES_NO


def _form(wanted: Wanted, names: Sequence[str]) -> str:
    plain = {_plain(name) for name in names}
    if "conversations" in wanted.columns:
        return "conversations as LLaVA's files have them"
    if {"index", "question", "answer"} <= plain and (plain & {"image", "imagepath"}):
        return "the form of VLMEvalKit's tables"
    return ""


def _say_columns(found: Look, names: Sequence[str]) -> None:
    wanted = found.wanted
    form = _form(wanted, names)
    if form:
        found.said.insert(0, form)
    used = {each for value in wanted.columns.values() for each in value.split(",")} | set(wanted.tags)
    counted = f" ({wanted.answer_is})" if wanted.answer_is else ""
    for ours, theirs in wanted.columns.items():
        found.said.append(f"{ours}: column {theirs}{counted if ours == 'answer' else ''}")
    left = [name for name in names if name not in used and name not in adapter.TAGS]
    if left:
        found.said.append(f"not used: {', '.join(left)} (--tags keeps columns for analyses)")
    for name in left:
        if _plain(name) in _CONTEXT:
            found.said.append(f"the model is not shown `{name}`: put it into the question if it belongs there")


def _show_first(found: Look, table: Dataset) -> None:
    """The first question as documents have it, or why there is none."""
    try:
        adapt = adapter_of(found.wanted)
        shown = adapt.in_folder(found.wanted.folder)(table)[0]
    except UserError as error:
        found.said.append(f"the table can't be taken yet: {error}")
        return
    letters = parsing.option_letters(len(shown["options"])) if shown["options"] else ()
    found.said.append(f"{len(table)} rows; the first question (id {shown['id']!r}):")
    found.said.append(f"  {shown['question'][:_SHOWN]}")
    found.said += [f"  {letter}. {text[:_SHOWN]}" for letter, text in zip(letters, shown["options"], strict=True)]
    found.said.append(f"  right: {shown['answer'][:_SHOWN]}; pictures: {len(images_of(shown))}")
