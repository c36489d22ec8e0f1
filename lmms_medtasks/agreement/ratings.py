"""Ratings by people: read from CSV files, checked against a protocol's scale, and joined with the answers of runs.

A row is an answer: columns ``id``, a column for each dimension that was rated, and where they are needed ``trial``
(which of the model's replies, from 1), ``model`` and ``rater``. With the key of a blind sheet ``id`` holds the sheet's
codes. Empty cells are ratings that were not made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from lmms_medtasks.agreement.judged_answers import AnswerKey, JudgedAnswers
from lmms_medtasks.data import text_tables
from lmms_medtasks.data.tsv_records import TsvTable
from lmms_medtasks.errors import UserError, nearest_match, unknown_name_error
from lmms_medtasks.judges.protocol import JudgeProtocol, ScoreDimension
from lmms_medtasks.report.csv_writer import FORMULA

KEY_COLUMNS = ("code", "model", "id", "trial", "task", "run")
COMMENT = "comment"
IMAGES = "images"
"""The column of a sheet that names the files of the question's pictures."""
_PLACE = ("id", "trial", "model", "rater")
_QUOTE = "'"
_SHOWN = 20
"""Problems that one message lists."""

Scores = dict[str, dict[AnswerKey, dict[str, float]]]
"""Rater to answer to dimension to number."""

Find = Callable[[str, str, str], AnswerKey]
"""The answer that a row is of, from its id (or code), model and trial as they stand there. Raises UserError."""


def guard_formula(text: str) -> str:
    """``text`` with a ``'`` before it where a spreadsheet would run it as a formula, or would take its ``'`` away."""
    return _QUOTE + text if text.startswith((*FORMULA, _QUOTE)) else text


def unguard_formula(text: str) -> str:
    """The inverse of :func:`guard_formula`."""
    return text[1:] if text.startswith(_QUOTE) and text[1:].startswith((*FORMULA, _QUOTE)) else text


def text_column(field: str, protocol: JudgeProtocol) -> str:
    """The column of a sheet that shows this field of an item; its name differs from all columns with ratings."""
    taken = {dimension.name for dimension in protocol.dimensions} | set(_PLACE) | {COMMENT, IMAGES}
    return f"{field} (text)" if field in taken else field


def read_ratings(paths: Sequence[Path], judged: JudgedAnswers, key: Path | None = None) -> Scores:
    """The ratings in ``paths``, by rater and answer. The rater of rows without one has the name of the file.

    Raises UserError, naming file, row and column of all that is wrong (the first 20): a rating out of the scale, an
    unknown question, code or model, an answer rated twice by one rater, no rating at all.
    """
    find_answer = _find_by_code(_read_key(key), judged) if key else _find_by_id(judged)
    scores: Scores = {}
    problems = [sentence for path in paths for sentence in _add_file(path, judged.protocol, find_answer, scores)]
    if problems:
        more = f"\n… and {len(problems) - _SHOWN} more." if len(problems) > _SHOWN else ""
        sentence = "\n".join(problems[:_SHOWN])
        raise UserError(f"{len(problems)} of the ratings can't be used; nothing was computed.\n{sentence}{more}")
    if not scores:
        raise UserError(f"{', '.join(map(str, paths))}: no rating in it, all cells of ratings are empty.")
    return scores


def _read_key(path: Path) -> dict[str, AnswerKey]:
    """The answer of each code of a blind sheet, from the key file that was written with it."""
    table = TsvTable(path, text_tables.separator_of(path))
    missing = [name for name in KEY_COLUMNS if name not in table.columns]
    if missing:
        raise UserError(f"{path} is no key of a rating sheet: it has no column {', '.join(map(repr, missing))}.")
    answers: dict[str, AnswerKey] = {}
    for location, cells in _read_rows(table):
        code, model, id, trial = (unguard_formula(cells[name]) for name in KEY_COLUMNS[:4])
        if code in answers or not trial.isdecimal():
            raise UserError(f"{location}: code {code!r} twice, or trial {trial!r} no number. Was it edited?")
        answers[code] = AnswerKey(model, id, int(trial))
    return answers


def _read_rows(table: TsvTable) -> Iterator[tuple[str, Mapping[str, str]]]:
    """For each row with any text its location, as spreadsheets count, and its stripped cells."""
    for record in table.records():
        location = f"{table.path}, row {record.row}"
        if record.cells is None:
            raise UserError(f"{location}: {record.width} cells, but the header has {len(table.columns)} columns.")
        cells = {name: cell.strip() for name, cell in record.cells.items()}
        if any(cells.values()):
            yield location, cells


def _add_file(path: Path, protocol: JudgeProtocol, find_answer: Find, scores: Scores) -> Iterator[str]:
    """Add the ratings of a file to ``scores``; yields a sentence for each problem."""
    table = TsvTable(path, text_tables.separator_of(path))
    rated = _rated_columns(path, table.columns, protocol)
    for location, cells in _read_rows(table):
        dimensions = [dimension for dimension in rated if cells[dimension.name]]
        if not dimensions:
            continue
        trial, model, rater = (unguard_formula(cells.get(name, "")) for name in _PLACE[1:])
        try:
            answer = find_answer(cells["id"], model, trial)
        except UserError as error:
            yield f"{location}: {error}"
            continue
        known = scores.setdefault(rater or path.stem, {}).setdefault(answer, {})
        for dimension in dimensions:
            name, text = dimension.name, cells[dimension.name]
            number = _parse_rating(text, dimension)
            if number is None:
                allowed = ", ".join(dimension.labels)
                yield f"{location}, column {name!r}: rating {text!r} is not on the scale. Allowed: {allowed}."
            elif name in known:
                yield f"{location}: {cells['id']!r} is rated twice in {name!r} by {rater or path.stem!r}."
            else:
                known[name] = number


def _rated_columns(path: Path, columns: Sequence[str], protocol: JudgeProtocol) -> list[ScoreDimension]:
    """The dimensions that were rated. An unknown column is an error: it may be a misspelt dimension."""
    if "id" not in columns:
        raise UserError(f"{path} has no column 'id'. Its columns: {', '.join(map(repr, columns))}.")
    names = [dimension.name for dimension in protocol.dimensions]
    texts = {text_column(field, protocol) for field in protocol.fields}
    for column in columns:
        if column not in {*_PLACE, COMMENT, IMAGES, *texts, *names}:
            raise unknown_name_error("column", column, [*_PLACE, *names], str(path))
    rated = [dimension for dimension in protocol.dimensions if dimension.name in columns]
    if not rated:
        raise UserError(f"{path} has no column with ratings. Expected one for each dimension: {', '.join(names)}.")
    return rated


def _parse_rating(text: str, dimension: ScoreDimension) -> float | None:
    """The number of a label (in any case), or of a number that belongs to a label ("4.0"); None for another text."""
    labels = {label.strip().casefold(): number for label, number in dimension.labels.items()}
    if text.casefold() in labels:
        return labels[text.casefold()]
    try:
        number = float(text)
    except ValueError:
        return None
    return number if number in dimension.labels.values() else None


def _find_by_code(codes: Mapping[str, AnswerKey], judged: JudgedAnswers) -> Find:
    def find_answer(code: str, model: str, trial: str) -> AnswerKey:
        answer = codes.get(code)
        if answer is None:
            raise _missing_name_error("code", code, codes, "in the key")
        if answer not in judged.by_key:
            where = f"model {answer.model!r}, question {answer.id!r}, trial {answer.trial}"
            raise UserError(f"code {code!r} is of an answer that the runs given do not hold ({where}).")
        return answer

    return find_answer


def _find_by_id(judged: JudgedAnswers) -> Find:
    models = judged.models
    replies = Counter((key.model, key.id) for key in judged.by_key)
    ids = {id for _, id in replies}

    def find_answer(id: str, model: str, trial: str) -> AnswerKey:
        if id not in ids:
            raise _missing_name_error("id", id, ids, "in the runs (the codes of a blind sheet need its --key)")
        if not model and len(models) > 1:
            raise UserError(f"which model's answer? Add a column 'model'. Models: {', '.join(models)}.")
        model = model or models[0]
        if model not in models:
            raise unknown_name_error("model", model, models)
        count = replies[model, id]
        if not trial and count > 1:
            raise UserError(f"which of the {count} replies? Add a column 'trial' (1 to {count}).")
        trial = trial or "1"
        if not trial.isdecimal() or not 1 <= int(trial) <= count:
            raise UserError(f"no trial {trial!r} of question {id!r} by {model!r}; it has {count}.")
        return AnswerKey(model, id, int(trial))

    return find_answer


def _missing_name_error(kind: str, got: str, allowed: Mapping[str, object] | set[str], where: str) -> UserError:
    return UserError(f"no {kind} {got!r} {where} ({len(allowed):,} there are).{nearest_match(got, allowed)}")
