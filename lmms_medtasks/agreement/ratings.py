"""Ratings by people: read from CSV files, checked against a protocol's scale, and joined with the answers of runs.

A file has one of two forms. Wide, a row an answer: columns ``id``, a column for each dimension that was rated, and
where they are needed ``trial`` (which of the model's replies, from 1), ``model`` and ``rater``. Long, a row a rating:
``id``, ``dimension``, ``rating``, and the same others. With the key of a blind sheet ``id`` holds the sheet's codes.
Empty cells are ratings that were not made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lmms_medtasks.agreement import spreadsheet
from lmms_medtasks.agreement.judged_answers import AnswerKey, Judged
from lmms_medtasks.errors import UserError, nearest_match, unknown
from lmms_medtasks.judges.protocol import Dimension, Protocol

KEY_COLUMNS = ("code", "model", "id", "trial", "task", "run")
COMMENT = "comment"
IMAGES = "images"
"""The column of a sheet that names the files of the question's pictures."""
_LONG = ("dimension", "rating")
_PLACE = ("id", "trial", "model", "rater")
_SHOWN = 20
"""Problems that one message lists."""

Scores = dict[str, dict[AnswerKey, dict[str, float]]]
"""Rater to answer to dimension to number."""


@dataclass(frozen=True)
class Rating:
    """One rating as it stands in a file: ``where`` (file, line, column), and who rated what as which number."""

    where: str
    id: str
    trial: str
    model: str
    rater: str
    dimension: str
    number: float


def text_column(field: str, protocol: Protocol) -> str:
    """The column of a sheet that shows this field of an item; never one that holds ratings."""
    taken = {each.name for each in protocol.dimensions} | set(_PLACE) | set(_LONG) | {COMMENT, IMAGES}
    return f"{field} (text)" if field in taken else field


def read(paths: Sequence[Path], judged: Judged, key: Path | None = None) -> Scores:
    """The ratings in ``paths``, by rater and answer. A file that names no rater is one rater's, called as the file is.

    Raises UserError, naming file, line and column of all that is wrong (the first 20): a rating out of the scale, an
    unknown question, code, model or dimension, an answer rated twice by one rater, no rating at all.
    """
    codes = read_key(key) if key else None
    problems: list[str] = []
    ratings = [rating for path in paths for rating in _of_file(path, judged.protocol, problems)]
    find = _by_code(codes, judged) if codes is not None else _by_id(judged)
    scores: Scores = {}
    first: dict[tuple[str, AnswerKey, str], str] = {}
    for rating in ratings:
        try:
            answer = find(rating)
        except UserError as error:
            problems.append(f"{rating.where}: {error}")
            continue
        place = (rating.rater, answer, rating.dimension)
        if place in first:
            who = f" by {rating.rater!r}"
            problems.append(
                f"{rating.where}: {rating.id!r} is rated twice in {rating.dimension!r}{who}, first in {first[place]}."
            )
            continue
        first[place] = rating.where
        scores.setdefault(rating.rater, {}).setdefault(answer, {})[rating.dimension] = rating.number
    _raise(problems)
    if not ratings:
        raise UserError(f"{', '.join(map(str, paths))}: no rating in it, all cells of ratings are empty.")
    return scores


def read_key(path: Path) -> dict[str, AnswerKey]:
    """The answer of each code of a blind sheet, from the key file that was written with it."""
    sheet = spreadsheet.read(path)
    missing = [name for name in KEY_COLUMNS if name not in sheet.columns]
    if missing:
        raise UserError(f"{path} is no key of a rating sheet: it has no column {', '.join(map(repr, missing))}.")
    found: dict[str, AnswerKey] = {}
    for line, cells in sheet.rows:
        code, model, id, trial = (spreadsheet.unguarded(cells[name]) for name in KEY_COLUMNS[:4])
        if code in found or not trial.isdecimal():
            raise UserError(f"{path}, line {line}: code {code!r} twice, or trial {trial!r} no number. Was it edited?")
        found[code] = AnswerKey(model, id, int(trial))
    return found


def _raise(problems: Sequence[str]) -> None:
    if not problems:
        return
    more = f"\n… and {len(problems) - _SHOWN} more." if len(problems) > _SHOWN else ""
    raise UserError(
        f"{len(problems)} of the ratings can't be used; nothing was computed.\n" + "\n".join(problems[:_SHOWN]) + more
    )


def _of_file(path: Path, protocol: Protocol, problems: list[str]) -> list[Rating]:
    sheet = spreadsheet.read(path)
    if "id" not in sheet.columns:
        raise UserError(f"{path} has no column 'id'. Its columns: {', '.join(map(repr, sheet.columns))}.")
    dimensions = {each.name: each for each in protocol.dimensions}
    is_long = any(name in sheet.columns and name not in dimensions for name in _LONG)
    rated = _rated_columns(sheet, protocol, is_long)
    found = []
    for line, cells in sheet.rows:
        if not cells["id"]:
            problems.append(f"{path}, line {line}: no id.")
            continue
        for column in rated:
            where = f"{path}, line {line}, column {column!r}"
            name = cells["dimension"] if is_long else column
            if cells[column] == "":
                continue
            if name not in dimensions:
                problems.append(f"{path}, line {line}: {unknown('dimension', name, dimensions)}")
                continue
            number = _number(cells[column], dimensions[name])
            if number is None:
                allowed = ", ".join(dimensions[name].labels)
                problems.append(f"{where}: rating {cells[column]!r} is not on the scale. Allowed: {allowed}.")
                continue
            others = {each: spreadsheet.unguarded(cells.get(each, "")) for each in _PLACE[1:]}
            rater = others["rater"] or path.stem
            found.append(Rating(where, cells["id"], others["trial"], others["model"], rater, name, number))
    return found


def _rated_columns(sheet: spreadsheet.Sheet, protocol: Protocol, is_long: bool) -> list[str]:
    """The columns that hold ratings. A column that is nothing we know is an error: it may be a misspelt dimension."""
    dimensions = [each.name for each in protocol.dimensions]
    missing = [name for name in _LONG if name not in sheet.columns]
    if is_long and missing:
        raise UserError(f"{sheet.path} has not the column {missing[0]!r}: the long form has id, dimension, rating.")
    texts = {text_column(field, protocol) for field in protocol.fields}
    known = {*_PLACE, COMMENT, IMAGES, *texts, *(_LONG if is_long else dimensions)}
    for column in sheet.columns:
        if column not in known:
            raise unknown("column", column, [*_PLACE, *(_LONG if is_long else dimensions)], str(sheet.path))
    rated = ["rating"] if is_long else [name for name in dimensions if name in sheet.columns]
    if not rated:
        raise UserError(
            f"{sheet.path} has no column with ratings. Expected one for each dimension ({', '.join(dimensions)}), "
            "or the long form with 'dimension' and 'rating'."
        )
    return rated


def _number(text: str, dimension: Dimension) -> float | None:
    """The number of a label (case does not matter), or of a number that one of the labels stands for ("4.0")."""
    labels = {label.strip().casefold(): number for label, number in dimension.labels.items()}
    if text.casefold() in labels:
        return labels[text.casefold()]
    try:
        number = float(text)
    except ValueError:
        return None
    return number if number in dimension.labels.values() else None


def _by_code(codes: Mapping[str, AnswerKey], judged: Judged) -> Callable[[Rating], AnswerKey]:
    known = judged.by_key()

    def find(rating: Rating) -> AnswerKey:
        if rating.id not in codes:
            raise _no_such("code", rating.id, codes, "in the key")
        answer = codes[rating.id]
        if answer not in known:
            where = f"model {answer.model!r}, question {answer.id!r}, trial {answer.trial}"
            raise UserError(f"code {rating.id!r} is of an answer that the runs given do not hold ({where}).")
        return answer

    return find


def _by_id(judged: Judged) -> Callable[[Rating], AnswerKey]:
    known = judged.by_key()
    models, ids = judged.models, {key.id for key in known}
    trials: dict[tuple[str, str], int] = {}
    for key in known:
        trials[key.model, key.id] = max(key.trial, trials.get((key.model, key.id), 0))

    def find(rating: Rating) -> AnswerKey:
        if rating.id not in ids:
            raise _no_such("id", rating.id, ids, "in the runs (the codes of a blind sheet need its --key)")
        if not rating.model and len(models) > 1:
            raise UserError(f"which model's answer? Add a column 'model'. Models: {', '.join(models)}.")
        model = rating.model or models[0]
        if model not in models:
            raise unknown("model", model, models)
        count = trials.get((model, rating.id), 0)
        if not rating.trial and count > 1:
            raise UserError(f"which of the {count} replies? Add a column 'trial' (1 to {count}).")
        trial = rating.trial or "1"
        if not trial.isdecimal() or not 1 <= int(trial) <= count:
            raise UserError(f"no trial {trial!r} of question {rating.id!r} by {model!r}; it has {count}.")
        return AnswerKey(model, rating.id, int(trial))

    return find


def _no_such(kind: str, got: str, allowed: Mapping[str, object] | set[str], where: str) -> UserError:
    return UserError(f"no {kind} {got!r} {where} ({len(allowed):,} there are).{nearest_match(got, allowed)}")
