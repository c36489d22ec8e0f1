"""What a table's columns are, told from their names and values: ``lmms-medtasks new`` says it before it writes.

What the command line names counts; only what it leaves open is told here. What can't be told is not guessed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lmms_medtasks import parsing
from lmms_medtasks.contribute.answer_forms import Look, tell_answers
from lmms_medtasks.contribute.column_names import candidates, numbered, option_columns, plain
from lmms_medtasks.contribute.wanted import Wanted, adapter_of
from lmms_medtasks.data import table_cells, text_tables
from lmms_medtasks.data.adapter import TAGS
from lmms_medtasks.data.documents import images_of
from lmms_medtasks.errors import UserError
from lmms_medtasks.suites import templates

if TYPE_CHECKING:
    from datasets import Dataset

_CONVERSATIONS = ("conversations", "messages")
_CONTEXT = ("hint", "context", "passage", "lecture", "casedescription")
_YES_NO = {"yes", "no"}
_SPLITS = ("split", "subset", "partition", "fold", "set", "phase")
_TRAINING = {"train", "training", "dev", "val", "valid", "validation"}
_LOOKED_AT = 50
_SHOWN = 300


def look(wanted: Wanted) -> Look:
    """``wanted`` with what it leaves open filled in from its table, and the lines that tell what was found.

    Raises:
        UserError: the table can't be read, or its columns can't be told and ``wanted`` does not name them.
    """
    import datasets

    datasets.disable_progress_bars()
    found = Look(wanted)
    table = _rows(wanted, found)
    if table is not None:
        table = table_cells.with_label_names(table)
    else:
        if not wanted.template:
            raise UserError(f"--template: which one? {wanted.dataset!r} could not be looked at. Allowed: "
                            f"{', '.join(templates.names())}.")  # fmt: skip
        return found
    _name_columns(found, table)
    tell_answers(found, table)
    _choose_template(found, table)
    _say_columns(found, table.column_names)
    _say_splits(found, table)
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
        if "split" in str(error) and wanted.split in str(error):
            raise UserError(f"{wanted.dataset}: {error} Say --split NAME.") from error
        found.said.append(f"{wanted.dataset} could not be looked at ({type(error).__name__}: {str(error)[:120]})")
        return None
    found.said.append(f"the first {len(table)} rows of {wanted.dataset}, split {wanted.split}, were looked at")
    return table


def _name_columns(found: Look, table: Dataset) -> None:
    names, columns = table.column_names, dict(found.wanted.columns)
    talks = next((name for name in names if plain(name) in _CONVERSATIONS), None)
    if talks and "question" not in columns and not candidates(names, "question"):
        columns["conversations"] = talks
    if "image" not in columns:
        several = numbered(names)
        listed = candidates(names, "image")
        if listed or several:
            columns["image"] = listed[0] if listed else ",".join(several)
        elif found.wanted.template != "no_image" and (held := _picture_columns(found.wanted, table)):
            columns["image"] = held[0]
    if "conversations" not in columns:
        for ours in ("question", "answer"):
            if ours not in columns and candidates(names, ours):
                columns[ours] = candidates(names, ours)[0]
        if "options" not in columns:
            several = option_columns(names)
            listed = candidates(names, "options")
            if several or listed:
                columns["options"] = listed[0] if listed else ",".join(several)
    if "id" not in columns:
        unique = (name for name in candidates(names, "id") if len(set(map(str, table[name]))) == len(table))
        chosen = next(unique, None)
        if chosen:
            columns["id"] = chosen
    found.wanted = replace(found.wanted, columns=columns)


def _picture_columns(wanted: Wanted, table: Dataset) -> list[str]:
    """The column of images, or of names of files in the folder, whatever it is called; [] where there is none.

    Raises UserError where there are several: which of them are shown is not ours to choose.
    """
    taken = {each for value in wanted.columns.values() for each in value.split(",")}
    held = [name for name in table.column_names if name not in taken and _holds_pictures(wanted, table, name)]
    if len(held) > 1:
        raise UserError(
            f"{wanted.dataset}: {', '.join(held)} hold images. Say which a model is shown: --image COLUMN, or "
            f"several in their order (--image {','.join(held)}); or --template no_image."
        )
    return held


def _holds_pictures(wanted: Wanted, table: Dataset, name: str) -> bool:
    import datasets

    feature = table.features[name]
    feature = getattr(feature, "feature", feature)  # of a list
    if isinstance(feature, datasets.Image) or (isinstance(feature, dict) and {"bytes", "path"} <= set(feature)):
        return True
    if wanted.table is None or getattr(feature, "dtype", "") not in ("string", "large_string"):
        return False
    cells = [each if isinstance(each, list) else [each] for each in table[name][:_LOOKED_AT]]
    named = [text for cell in cells for each in cell if (text := str(each or "").strip())]
    # One that names no file is found by `validate`: here it is told what the column is.
    return any(len(text) < _SHOWN and "\n" not in text and (wanted.folder / text).is_file() for text in named)


def _choose_template(found: Look, table: Dataset) -> None:
    wanted = found.wanted
    columns = wanted.columns
    settings = dict(wanted.settings)
    if wanted.several and "options" in columns and "parser" not in settings:
        settings["parser"] = "several_letters" if wanted.several == "all" else "any_letter"
        said = "must name all of them and no other" if wanted.several == "all" else "that names any of them is right"
        found.said.append(f"questions have several right answers: a reply {said} (--several {wanted.several})")
    chosen = wanted.template
    if not chosen and ("question" not in columns or "answer" not in columns) and "conversations" not in columns:
        raise UserError(
            f"Which columns of {wanted.dataset} are question and answer can't be told. It has: "
            f"{', '.join(table.column_names)}. Say --question COLUMN and --answer COLUMN. If these are values and no "
            "names, the table has no header: write one."
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
    known = {plain(name) for name in names}
    if "conversations" in wanted.columns:
        return "conversations as LLaVA's files have them"
    if {"index", "question", "answer"} <= known and (known & {"image", "imagepath"}):
        return "the form of VLMEvalKit's tables"
    return ""


def _say_columns(found: Look, names: Sequence[str]) -> None:
    wanted = found.wanted
    form = _form(wanted, names)
    if form:
        found.said.insert(0, form)
    used = {each for value in wanted.columns.values() for each in value.split(",")} | set(wanted.tags)
    used.add((wanted.settings.get("shift") or {}).get("column", ""))
    counted = f" ({wanted.answer_is})" if wanted.answer_is else ""
    for ours, theirs in wanted.columns.items():
        found.said.append(f"{ours}: column {theirs}{counted if ours == 'answer' else ''}")
    left = [name for name in names if name not in used and name not in TAGS]
    if left:
        listed = ", ".join(name or "a column without a name" for name in left)
        found.said.append(f"not used: {listed} (--tags keeps columns for analyses)")
    for name in left:
        if plain(name) in _CONTEXT:
            found.said.append(f"the model is not shown `{name}`: put it into the question if it belongs there")


def _say_splits(found: Look, table: Dataset) -> None:
    """Say that a table holds several splits, all of which would be asked."""
    for name in table.column_names:
        if plain(name) in _SPLITS and not (found.wanted.settings.get("shift") or {}).get("column") == name:
            values = sorted({str(value).strip() for value in table[name][:]})
            if len(values) > 1 and {value.casefold() for value in values} & _TRAINING:
                found.said.append(
                    f"`{name}` has {', '.join(values[:5])}: the questions of all of them are asked. Keep the rows of "
                    "the test split in the table, and put the others into another file"
                )


def _show_first(found: Look, table: Dataset) -> None:
    """The first question as documents have it, or why there is none."""
    try:
        adapt = adapter_of(found.wanted)
        shown = adapt.in_folder(found.wanted.folder)(table)[0]
    except UserError as error:
        found.problem = f"{found.wanted.dataset}: {error}"
        return
    letters = parsing.option_letters(len(shown["options"])) if shown["options"] else ()
    found.said.append(f"{len(table)} rows; the first question (id {shown['id']!r}):")
    found.said.append(f"  {shown['question'][:_SHOWN]}")
    found.said += [f"  {letter}. {text[:_SHOWN]}" for letter, text in zip(letters, shown["options"], strict=True)]
    found.said.append(f"  correct: {shown['answer'][:_SHOWN]}; images: {len(images_of(shown))}")
