"""A sample log as compact columns: one row in memory at a time, no text of a question or an answer kept."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lmms_medtasks.board.columns import Coded, Scalar, code_type, coded
from lmms_medtasks.board.entries import Measure, Questions
from lmms_medtasks.board.measures import tag_names
from lmms_medtasks.errors import UserError
from lmms_medtasks.judges import identity
from lmms_medtasks.samples import result_files as results
from lmms_medtasks.samples.record import FAILED, KEY, UNREAD
from lmms_medtasks.samples.runs import printable
from lmms_medtasks.statistics import coverage

_SHORT = 24
_NAME = 80
_SCALARS = frozenset({str, int, float, bool})
_JUDGED = ("low", "high", "judged", "wanted")
_COUNTED = ("parsed", "replies", "failed", "trials")


@dataclass(frozen=True)
class Log:
    """What a sample log holds. ``judges``: the full names of who judged; ``data``: the data that its records name."""

    questions: Questions
    measures: Mapping[str, Measure]
    extra: Mapping[str, Coded]
    judges: frozenset[str]
    data: frozenset[str]
    sha256: str


class Columns:
    """Columns that grow row by row; a row that gives a column no value has None there."""

    def __init__(self) -> None:
        self._tables: dict[str, dict[Any, int]] = {}
        self._codes: dict[str, array[int]] = {}

    def add(self, name: str, row: int, value: Scalar) -> None:
        """Give ``row`` (not before the last one that this column was given) a value."""
        codes = self._codes.get(name)
        if codes is None:
            codes = self._codes[name] = array("I", bytes(4 * row))
            self._tables[name] = {None: 0}
        elif len(codes) < row:
            codes.frombytes(bytes(4 * (row - len(codes))))
        table = self._tables[name]
        code = table.get(value)
        if code is None:
            code = table[value] = len(table)
        codes.append(code)

    def coded(self, count: int, order: np.ndarray) -> dict[str, Coded]:
        """All columns of ``count`` rows, rows in this order, texts made printable."""
        found = {}
        for name, codes in self._codes.items():
            codes.frombytes(bytes(4 * (count - len(codes))))
            rows = np.frombuffer(codes, dtype=np.uint32)[order]
            values: dict[Scalar, int] = {}
            places = [values.setdefault(_shown(value), len(values)) for value in self._tables[name]]
            found[name] = canonical(tuple(values), np.array(places, dtype=np.uint32)[rows])
        return found


def _shown(value: Scalar) -> Scalar:
    return printable(value) if isinstance(value, str) else value


def canonical(values: Sequence[Scalar], codes: np.ndarray) -> Coded:
    """The column with its values in the order of their first row, so that equal columns are equal to the byte."""
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    present = codes[first]
    by_row = present[np.argsort(first, kind="stable")]
    kept = [0, *(int(code) for code in by_row if code)]
    place = np.zeros(len(values), dtype=np.intp)
    place[kept] = np.arange(len(kept))
    return Coded(tuple(values[code] for code in kept), place[present][inverse].astype(code_type(len(kept))))


def read_log(path: Path, cluster: str = "image_id") -> Log:
    """Read a sample log. ``cluster``: the field that questions about the same thing share, the task's ``cluster_key``.

    Raises UserError, with the file and the line, when a line is broken or cut off, holds no record of ours, or has a
    question that is there already, and when there is no row at all.
    """
    reader = _Reader(path, cluster)
    digest = hashlib.sha256()
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            digest.update(line)
            if line.strip():
                reader.add(results.row_of(line, number, path), number)
    return reader.log(digest.hexdigest())


class _Reader:
    def __init__(self, path: Path, cluster: str) -> None:
        self._path, self._cluster = path, cluster
        # Records of a log are of few shapes: by their fields, those that are kept as tags.
        self._kept: dict[tuple[str, ...], list[str]] = {}
        self._ids: dict[str, int] = {}
        self._scores, self._extra, self._tags = Columns(), Columns(), Columns()
        self._clusters: dict[str, int] = {}
        self._cluster_codes = array("I")
        self._judges: set[str] = set()
        self._data: set[str] = set()
        self._names: dict[str, None] = {}
        self._statuses: dict[str, set[str]] = {}

    def add(self, row: dict[str, Any], number: int) -> None:
        record = results.record_of(row)
        if record is None:
            raise UserError(f"{self._path}, line {number}: no record of ours (no value with 'id' and 'trials').")
        place, name = len(self._ids), str(record["id"])
        if self._ids.setdefault(name, place) != place:
            raise UserError(
                f"{self._path}, line {number}: question {name!r} is there a second time. The harness appends to a log "
                "that is there already; give each run its own --output_path."
            )
        if not isinstance(record["trials"], list) or not record["trials"]:
            raise UserError(
                f"{self._path}, line {number}: trials is {record['trials']!r:.40}, wanted a list with what was read "
                "from each reply."
            )
        shared = str(record.get(self._cluster, record.get("image_id", name)))
        self._cluster_codes.append(self._clusters.setdefault(shared, len(self._clusters)))
        for metric, value in row.items():
            if type(value) is dict and metric != KEY:
                self._value(metric, value, place, number)
        if "version" in record:
            self._replies(record["trials"], place, judged="judge" in record)
        self._record(record, place)

    def _replies(self, trials: list[str], place: int, *, judged: bool) -> None:
        failed = trials.count(FAILED)
        parsed = sum(trial not in (*UNREAD, FAILED) for trial in trials)
        counts = {"failed_requests.failed": failed, "failed_requests.trials": len(trials)}
        # Of judged replies nothing is read; _record counts those that say anything.
        if not judged:
            counts |= {"parse_rate.parsed": parsed, "parse_rate.replies": len(trials) - failed}
        for name, value in counts.items():
            self._extra.add(name, place, value)

    def _value(self, metric: str, value: dict[str, Any], place: int, number: int) -> None:
        if not place:
            self._names.setdefault(metric)
        if "score" in value:
            score = value["score"]
            # Not NaN and not infinite either.
            if type(score) not in (float, int) or score - score != 0:
                raise UserError(f"{self._path}, line {number}: {metric} has the score {score!r}, wanted a number.")
            self._scores.add(metric + ".score", place, score)
        if type(value.get("status")) is str:
            self._statuses.setdefault(metric, set()).add(value["status"])
        if "wanted" in value or "requested" in value:
            judged = {**value, "wanted": value.get("requested", value.get("wanted"))}
            for name in _JUDGED:
                if isinstance(judged.get(name), int | float):
                    self._scores.add(f"{metric}.{name}", place, judged[name])
        elif "score" not in value:
            for name in _COUNTED:
                if type(value.get(name)) is int:
                    self._extra.add(f"{metric}.{name}", place, value[name])

    def _record(self, record: dict[str, Any], place: int) -> None:
        shape = tuple(record)
        kept = self._kept.get(shape)
        if kept is None:
            kept = self._kept[shape] = [tag for tag in shape if tag in tag_names()]
        for tag in kept:
            value = record[tag]
            # A long text is no name of a group.
            if type(value) in _SCALARS and (type(value) is not str or len(value) <= _NAME):
                self._tags.add(tag, place, value)
        self._data.add(str(record.get("data", "unknown")))
        trials = record["trials"]
        judge = record.get("judge")
        if isinstance(judge, dict):
            self._judges.update(map(printable, identity.full_names(record)))
            self._extra.add("replies.parsed", place, trials.count("ok"))
            self._extra.add("replies.replies", place, len(trials) - trials.count("failed"))
            return
        given = ";".join(map(str, trials))
        if len(given) <= _SHORT * len(trials):
            self._extra.add("trials", place, given)
        answer = results.expected(record)
        if type(answer) is str and len(answer) <= _SHORT:
            self._tags.add("answer", place, answer)

    def log(self, sha256: str) -> Log:
        if not self._ids:
            raise UserError(f"{self._path} holds no sample.")
        count = len(self._ids)
        ids = np.array(_all_printable(list(self._ids)))
        order = np.argsort(ids, kind="stable")
        clusters = _all_printable(list(self._clusters))
        codes = np.frombuffer(self._cluster_codes, dtype=np.uint32)[order] + 1
        scores = self._scores.coded(count, order)
        questions = questions_of(ids[order], canonical((None, *clusters), codes), self._tags.coded(count, order))
        # As in the task's own metrics: no mean where judgements are missing and no judge gave any.
        for name, statuses in self._statuses.items():
            if f"{name}.score" in scores and coverage.only_rules([{"status": each} for each in statuses]):
                scores[f"{name}.score"] = coded([None] * count)
        measures = {
            name: Measure(scores[f"{name}.score"], *(scores.get(f"{name}.{each}") for each in _JUDGED))
            for name in [*self._names, *_added(scores, self._names)]
            if f"{name}.score" in scores
        }
        unscored = {name: each for name, each in scores.items() if name.rpartition(".")[0] not in measures}
        extra = {**self._extra.coded(count, order), **unscored}
        judges = frozenset(identity.without_unanswered(self._judges))
        return Log(questions, measures, extra, judges, frozenset(map(printable, self._data)), sha256)


def _all_printable(texts: list[str]) -> list[str]:
    return texts if "".join(texts).isprintable() else [printable(text) for text in texts]


def _added(scores: Mapping[str, Coded], known: Mapping[str, None]) -> list[str]:
    return [name for name in dict.fromkeys(each.rpartition(".")[0] for each in scores) if name not in known]


def questions_of(ids: np.ndarray, clusters: Coded, tags: Mapping[str, Coded]) -> Questions:
    """Questions with their digest; rows must be sorted by id."""
    digest = hashlib.sha256("\0".join(ids.tolist()).encode())
    for name, column in [("", clusters), *sorted(tags.items())]:
        digest.update(f"\1{name}\0{column.values!r}".encode())
        digest.update(column.codes.astype("<u4").tobytes())
    return Questions(ids, clusters, dict(sorted(tags.items())), digest.hexdigest())
