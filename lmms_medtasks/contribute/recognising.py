"""Recognise a table's columns from their names and values, for ``lmms-medtasks new``.

Command-line options win. Only columns that are not named are recognised; ambiguous ones are an error.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from lmms_medtasks import parsing
from lmms_medtasks.contribute.answer_forms import (
    TableRecognition,
    column_candidates,
    find_options,
    fold_column_name,
    image_columns,
    numbered_image_columns,
    option_columns,
    recognise_answers,
)
from lmms_medtasks.contribute.new import NewTaskRequest, make_adapter
from lmms_medtasks.data import adapter, table_cells, text_tables
from lmms_medtasks.data.adapter import TAGS
from lmms_medtasks.data.conversations import holds_conversation, questions_from_conversations, unshown_texts
from lmms_medtasks.data.documents import images_of
from lmms_medtasks.data.picture_files import PictureFiles, describe_places
from lmms_medtasks.errors import UserError, unknown_name_error
from lmms_medtasks.pictures import SUFFIXES
from lmms_medtasks.suites import templates

if TYPE_CHECKING:
    from datasets import Dataset

_CONTEXT = ("hint", "context", "passage", "lecture", "casedescription")
_YES_NO = {"yes", "no"}
_CLUSTERS = ("patient", "patientid", "pid", "subject", "subjectid", "case", "caseid", "study", "studyid")
_SPLITS = ("split", "subset", "partition", "fold", "set", "phase")
_TRAINING = {"train", "training", "dev", "val", "valid", "validation"}
_ARGUMENT = re.compile(
    r'(?P<unknown>Unknown )?(?P<name>answer_is|several)(?(unknown)|="(?P<value>\w+)"(?: and `parser: \w+`)?)'
)
"""An argument of ``from_columns`` in a message, with the parser that goes with it, which ``new`` writes too."""
_LOOKED_AT = 50
_SHOWN = 300


def recognise_tables(requests: Sequence[NewTaskRequest]) -> list[TableRecognition]:
    """Complete each request from its table, with a message for each thing recognised.

    A table with both kinds of questions, some with options and some without, gives a request for each kind. Of several
    tables an option counts for those that it fits: a column for those that have it, a judge for open questions.

    Raises:
        UserError: a table can't be read, or its columns are ambiguous and its request does not name them.
    """
    import datasets

    datasets.disable_progress_bars()
    tables = [_read_table(request) for request in requests]
    if len(tables) > 1:
        _keep_own_columns(tables)
    found: list[TableRecognition] = []
    for recognised, table in tables:
        named = None if table is None else _name_columns(recognised, table)
        if table is None or named is None:
            found.append(recognised)
            continue
        for kind, rows in _split_kinds(recognised, named):
            found.append(kind)
            _recognise_kind(kind, named.select(rows) if kind.wanted.rows else named, named, table.column_names)
    if len(found) > 1:
        _name_parts(found)
    return found


def _read_table(request: NewTaskRequest) -> tuple[TableRecognition, Dataset | None]:
    recognised = TableRecognition(replace(request, is_answer_named="answer" in request.columns))
    try:
        make_adapter(request)
    except UserError as error:
        raise UserError(_name_options(str(error))) from error
    table = _read_rows(request, recognised)
    if table is None and not request.template:
        raise UserError(f"--template: which one? {request.dataset!r} could not be looked at. Allowed: "
                        f"{', '.join(templates.names())}.")  # fmt: skip
    return recognised, None if table is None else table_cells.with_label_names(table)


def _keep_own_columns(tables: Sequence[tuple[TableRecognition, Dataset | None]]) -> None:
    """Leave out of each request the columns of other tables. Raises UserError for one that no table has."""
    request = tables[0][0].wanted
    known = dict.fromkeys(name for _, table in tables if table is not None for name in table.column_names)
    named = {name for value in request.columns.values() for name in value.split(",")} | set(request.tags)
    if all(table is not None for _, table in tables) and (unknown := sorted(named - set(known))):
        raise unknown_name_error("column", unknown[0], known, "the tables")
    for recognised, table in tables:
        names = known if table is None else table.column_names
        columns = {
            ours: theirs for ours, theirs in request.columns.items() if any(each in names for each in theirs.split(","))
        }
        tags = tuple(tag for tag in request.tags if tag in names)
        recognised.wanted = replace(recognised.wanted, columns=columns, tags=tags, is_answer_named="answer" in columns)


def _split_kinds(recognised: TableRecognition, table: Dataset) -> Iterator[tuple[TableRecognition, Sequence[int]]]:
    """What was recognised, for each kind of questions in the table, with its rows: with options, and without."""
    request, has = recognised.wanted, list[bool]()
    if "options" in request.columns and not request.template:
        with contextlib.suppress(UserError):  # told with the first question
            has = adapter.has_options(make_adapter(request), table)
    without = [row for row, has_options in enumerate(has) if not has_options]
    if without and len(without) == len(has):
        if request.columns["options"] == request.columns.get("question", "question"):
            raise UserError(
                "--options question: no question ends with a list of options whose letters stand before them, as in "
                "(a) left (b) right, with its answer among them. Put the options into columns of their own, or leave "
                "--options out: the questions are open."
            )
        recognised.said.append(f"{request.columns['options']}: empty in every row, the questions are open")
        recognised.wanted = replace(request, rows="without_options")
    if not without or len(without) == len(has):
        yield recognised, without
        return
    said = [*recognised.said, f"{len(has) - len(without)} of {len(has)} rows have options"]
    choice = TableRecognition(replace(request, rows="with_options"), said)
    yield choice, [row for row, has_options in enumerate(has) if has_options]
    several = "" if request.several == "all" else request.several
    words = replace(request, rows="without_options", answer_is="", several=several)
    yield (
        TableRecognition(words, [f"{len(without)} of {len(has)} rows have none, and are a task of their own"]),
        without,
    )


def _recognise_kind(recognised: TableRecognition, rows: Dataset, table: Dataset, names: Sequence[str]) -> None:
    """Complete the request from the ``rows`` of its kind in ``table``; ``names``: of the columns that a user sees."""
    recognise_answers(recognised, rows)
    _choose_template(recognised, rows)
    _report_columns(recognised, rows, names)
    _report_splits(recognised, rows)
    _report_first_question(recognised, table)


def _name_parts(found: Sequence[TableRecognition]) -> None:
    """Name the tasks of a benchmark by their kinds, and where that does not do by their tables and kinds.

    A judge is left out of the settings of tasks without one. Raises UserError for two tasks of one name.
    """
    kinds, tables = list[str](), list[str]()
    for recognised in found:
        request = recognised.wanted
        is_open = templates.get(request.template).kind == "open"
        kinds.append("open" if is_open else "yes_no" if request.settings.get("parser") == "yes_no" else "choice")
        tables.append(re.sub(r"[^a-z0-9]+", "_", Path(request.dataset).stem.lower()).strip("_"))
        settings = {key: value for key, value in request.settings.items() if is_open or key != "judge"}
        recognised.wanted = replace(request, settings=settings)
    names = [f"{table}_{kind}" for table, kind in zip(tables, kinds, strict=True)]
    names = kinds if len(set(kinds)) == len(kinds) else names
    if len(set(names)) < len(names):
        raise UserError(f"Two tables give the same name {names[0]!r} to their tasks. Rename one of the files.")
    for part, recognised in zip(names, found, strict=True):
        recognised.wanted = replace(recognised.wanted, part=part)
        recognised.said.insert(0, f"{recognised.wanted.task}:")


def _read_rows(request: NewTaskRequest, recognised: TableRecognition) -> Dataset | None:
    path = request.table
    if path is not None:
        loader = text_tables.dataset_loader_name(path)
        if loader == "csv" and "sep" not in request.reader:
            sign = text_tables.separator_of(path)
            if sign != text_tables.named_separator(path):
                recognised.wanted = request = replace(request, reader={**request.reader, "sep": sign})
                recognised.said.append(f"columns are separated by {sign!r}")
        return text_tables.read_text_table(path, loader, request.reader)
    if request.dataset.startswith("medtasks://"):
        return None
    return _read_hub_rows(request, recognised)


def _read_hub_rows(request: NewTaskRequest, recognised: TableRecognition) -> Dataset | None:
    """Read the first rows of a hub's data set. Returns None, with a message, if they are unavailable."""
    import datasets

    try:
        stream = datasets.load_dataset(request.dataset, split=request.split, streaming=True)
        for name, feature in (stream.features or {}).items():
            if isinstance(feature, datasets.Image):
                stream = stream.cast_column(name, datasets.Image(decode=False))
        rows = list(stream.take(_LOOKED_AT))
        table = datasets.Dataset.from_list(rows, features=stream.features)
    except Exception as error:  # noqa: BLE001 (the hub's library raises many kinds)
        if "split" in str(error) and request.split in str(error):
            raise UserError(f"{request.dataset}: {error} Say --split NAME.") from error
        recognised.said.append(f"{request.dataset} could not be looked at ({type(error).__name__}: {str(error)[:120]})")
        return None
    recognised.said.append(f"the first {len(table)} rows of {request.dataset}, split {request.split}, were looked at")
    return table


def _name_columns(recognised: TableRecognition, table: Dataset) -> Dataset:
    """Name the columns of the request; the table, with columns ``question`` and ``answer`` made of conversations."""
    request, names, columns = recognised.wanted, table.column_names, dict(recognised.wanted.columns)
    shows_images = request.template != "no_image" and not request.settings.get("no_image")
    for ours, named in columns.items():
        if unknown := [each for each in named.split(",") if each not in names]:
            raise unknown_name_error("column", unknown[0], names, f"{request.dataset} (--{ours.replace('_', '-')})")

    def choose_column(ours: str, several: Sequence[str] = ()) -> None:
        listed = column_candidates(table.column_names, ours)
        if ours not in columns and (listed or several):
            columns[ours] = listed[0] if listed else ",".join(several)

    if shows_images:
        choose_column("image", numbered_image_columns(names))
        if "image" not in columns and (found := _picture_columns(request, table)):
            columns["image"] = found[0]
    texts = [name for name in names if name not in image_columns(table)]
    talks = next((name for name in texts if any(map(holds_conversation, table[name][:1]))), None)
    if talks and "question" not in columns and not column_candidates(names, "question"):
        try:
            system = [texts[0] for cell in table[talks] if (texts := unshown_texts(cell))]
            table = questions_from_conversations(table, talks, "image" in columns)
        except UserError as error:
            raise UserError(f"{request.dataset}: {error}") from error
        columns |= {"conversations": talks, "question": "question"}
        if system:
            recognised.said.append(
                f"{len(system)} of {len(table)} conversations have a turn of the system, which the model is not shown: "
                f"{system[0][:_LOOKED_AT]!r}. Put it into the prompt file if it belongs there"
            )
        if shows_images:
            choose_column("image")
    choose_column("question")
    choose_column("answer")
    choose_column("options", option_columns(names))
    if "options" not in columns and (not request.template or templates.get(request.template).kind == "choice"):
        find_options(recognised, table, columns)
    if "id" not in columns:
        unique = (name for name in column_candidates(names, "id") if len(set(map(str, table[name][:]))) == len(table))
        if chosen := next(unique, None):
            columns["id"] = chosen
    if shows_images and "image" not in columns and request.table is not None:
        _check_named_pictures(request, table, columns)
    recognised.wanted = replace(request, columns=columns)
    return table


def _check_named_pictures(request: NewTaskRequest, table: Dataset, columns: Mapping[str, str]) -> None:
    """Raise UserError if images lie in the folder whose names stand in a column, and no column is that of images."""
    files = PictureFiles(request.folder)
    used = {columns.get(ours) for ours in ("question", "answer", "options")}
    ways = []
    for name in table.column_names if files.names else ():
        cells = [] if name in used else [str(cell).strip() for cell in table[name][:] if isinstance(cell, str | int)]
        texts = [cell for cell in cells if 0 < len(cell) < _SHOWN]
        if 2 * len(texts) >= len(table) and (places := files.suggest_places(texts, least=0.5)):
            ways.append(f"{places[0].count} of them in `{name}`. {describe_places(places, name)}")
    if ways:
        raise UserError(
            f"{request.dataset}: no column holds images, and {len(files.names)} images lie in {request.folder}/, the "
            f"names of {'; or of '.join(ways)}. If a model is to be shown none, say --no-image."
        )


def _picture_columns(request: NewTaskRequest, table: Dataset) -> list[str]:
    """The column with images, or names of files in the folder; [] if there is none. Raises UserError for several."""
    taken = {column for value in request.columns.values() for column in value.split(",")}
    files = PictureFiles(request.folder, request.images_in, tuple(filter(None, request.image_ending.split(","))))
    picture_columns = [
        name for name in table.column_names if name not in taken and _holds_pictures(request, table, name, files)
    ]
    if len(picture_columns) > 1:
        raise UserError(
            f"{request.dataset}: {', '.join(picture_columns)} hold images. Say which a model is shown: --image COLUMN, "
            f"or several in their order (--image {','.join(picture_columns)}); or --no-image."
        )
    return picture_columns


def _holds_pictures(request: NewTaskRequest, table: Dataset, name: str, files: PictureFiles) -> bool:
    if name in image_columns(table):
        return True
    feature = getattr(table.features[name], "feature", table.features[name])  # of a list
    if request.table is None or getattr(feature, "dtype", "") not in ("string", "large_string"):
        return False
    cells = [cell if isinstance(cell, list) else [cell] for cell in table[name][:_LOOKED_AT]]
    texts = [text for cell in cells for item in cell if (text := str(item or "").strip())]
    names = [text for text in texts if len(text) < _SHOWN and "\n" not in text]
    # One that names no file is found by `validate`: here it is told what the column is.
    if names and len(names) == len(texts) and all(PurePath(text).suffix.lower() in SUFFIXES for text in names):
        return True
    return any(_names_file(files, text) for text in names)


def _names_file(files: PictureFiles, text: str) -> bool:
    try:
        return files.find_file(text) is not None
    except UserError:  # told where images are read
        return PurePath(text).suffix.lower() in SUFFIXES


def _choose_template(recognised: TableRecognition, table: Dataset) -> None:
    request = recognised.wanted
    columns = request.columns
    settings = dict(request.settings)
    if request.several and request.has_options and "parser" not in settings:
        settings["parser"] = "several_letters" if request.several == "all" else "any_letter"
        rule = "must name all of them and no other" if request.several == "all" else "that names any of them is right"
        recognised.said.append(f"questions have several right answers: a reply {rule} (--several {request.several})")
    chosen = request.template
    if not chosen and ("question" not in columns or "answer" not in columns):
        raise UserError(
            f"Which columns of {request.dataset} are question and answer can't be told. It has: "
            f"{', '.join(table.column_names)}. Say --question COLUMN and --answer COLUMN. If these are values and no "
            "names, the table has no header: write one."
        )
    if not chosen:
        if "options" not in columns:
            _check_no_letters(request, table)
        chosen = "multiple_choice" if request.has_options else "open"
        if chosen == "open" and _is_yes_no(table[columns["answer"]][:]):
            chosen = "multiple_choice"
            settings["parser"] = "yes_no"
            recognised.said.append("all answers are yes or no: the parser yes_no reads them")
        if chosen == "multiple_choice" and "image" not in columns:
            chosen = "no_image"
        if chosen == "open" and "image" not in columns:
            settings["no_image"] = True
        recognised.said.append(f"template {chosen}")
    recognised.wanted = replace(request, template=chosen, settings=settings)


def _check_no_letters(request: NewTaskRequest, table: Dataset) -> None:
    """Raise UserError if all answers are letters, one of A to D among them: they name options, which are not known."""
    letters = {str(value).strip() for value in table[request.columns["answer"]][:]}
    if all(re.fullmatch("[A-Za-z]", letter) for letter in letters) and not letters.isdisjoint("ABCDabcd"):
        used = {*request.columns.values(), *request.tags, *image_columns(table)}
        left = [repr(name) for name in table.column_names if name not in used]
        raise UserError(
            f"{request.dataset}: all answers are single letters ({', '.join(sorted(letters))}), and no columns of "
            f"options were recognised. Not used: {', '.join(left) or 'no column'}. Say --options COLUMN,COLUMN, in the "
            "order of the letters. If a model is to answer with such a letter in its own words, say --template open."
        )


def _is_yes_no(values: Any) -> bool:
    return {str(value).strip().casefold() for value in values} == _YES_NO


def _report_columns(recognised: TableRecognition, table: Dataset, names: Sequence[str]) -> None:
    request = recognised.wanted
    cluster = request.settings.get("cluster", "")
    used = {column for value in request.columns.values() for column in value.split(",")} | set(request.tags)
    used |= {(request.settings.get("shift") or {}).get("column", ""), cluster}
    counted = f" ({request.answer_is})" if request.answer_is else ""
    for ours, theirs in request.columns.items():
        if (ours == "options" and not request.has_options) or (
            "conversations" in request.columns and theirs not in names
        ):
            continue  # of the other kind, or made of the conversations
        recognised.said.append(f"{ours}: column {theirs}{counted if ours == 'answer' else ''}")
    left = [name for name in names if name not in used and name not in TAGS]
    for name in [name for name in left if fold_column_name(name) in _CLUSTERS] if not cluster else [cluster]:
        count = len({str(value).strip() for value in table[name][:]}) if name in names else 0
        if cluster and count:
            recognised.said.append(f"cluster: column {name}, {count} in {len(table)} rows")
        elif 1 < count < len(table):
            recognised.said.append(
                f"`{name}` has {count} values in {len(table)} rows: with --cluster {name} intervals are over these"
            )
    if left:
        listed = ", ".join(name or "a column without a name" for name in left)
        recognised.said.append(f"not used: {listed} (--tags keeps columns for analyses)")
    for name in left:
        if fold_column_name(name) in _CONTEXT:
            recognised.said.append(f"the model is not shown `{name}`: put it into the question if it belongs there")


def _report_splits(recognised: TableRecognition, table: Dataset) -> None:
    shift_column = (recognised.wanted.settings.get("shift") or {}).get("column")
    for name in table.column_names:
        if fold_column_name(name) in _SPLITS and name != shift_column:
            values = sorted({str(value).strip() for value in table[name][:]})
            if len(values) > 1 and {value.casefold() for value in values} & _TRAINING:
                recognised.said.append(
                    f"`{name}` has {', '.join(values[:5])}: the questions of all of them are asked. Keep the rows of "
                    "the test split in the table, and put the others into another file"
                )


def _report_first_question(recognised: TableRecognition, table: Dataset) -> None:
    try:
        adapt = make_adapter(recognised.wanted)
        tables = list(filter(None, [recognised.wanted.table]))
        line_of = text_tables.line_counter(tables, recognised.wanted.reader)
        made = adapt.in_folder(recognised.wanted.folder, line_of=line_of)(table)
    except UserError as error:
        recognised.problem = f"{recognised.wanted.dataset}: {_name_options(str(error))}"
        return
    first_question = made[0]
    without = [int(match[1]) + 1 for each in made["image_id"] if (match := re.fullmatch("none-([0-9]+)", each))]
    if 0 < len(without) < len(made):
        line = f" (line {line_of(without[0] - 1)} with the header)" if line_of else ""
        recognised.said.append(f"{len(without)} of {len(made)} rows have no image, the first is row {without[0]}{line}")
    letters = parsing.option_letters(len(first_question["options"])) if first_question["options"] else ()
    recognised.said.append(f"{len(made)} rows; the first question (id {first_question['id']!r}):")
    recognised.said.append(f"  {first_question['question'][:_SHOWN]}")
    recognised.said += [
        f"  {letter}. {text[:_SHOWN]}" for letter, text in zip(letters, first_question["options"], strict=True)
    ]
    recognised.said.append(f"  correct: {first_question['answer'][:_SHOWN]}; images: {len(images_of(first_question))}")


def _name_options(message: str) -> str:
    """A message of the adapter for the command line: --answer-is text for answer_is="text"."""

    def name_option(match: re.Match[str]) -> str:
        option = f"{match['unknown'] or ''}--{match['name'].replace('_', '-')}"
        return f"{option} {match['value']}" if match["value"] else option

    return _ARGUMENT.sub(name_option, message).replace(" in from_columns", "")
