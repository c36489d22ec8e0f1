"""The questions of runs as one table: a row for each run, task and question."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lmms_medtasks.record import QuestionRecord
from lmms_medtasks.samples.degraded import list_length_shares

FIELDS = ("score", "low", "high", "judged", "requested")
"""The columns of a measure: ``accuracy.score`` and so on."""

OWN_COLUMNS = frozenset({
    "id", "cluster", "pair", "expected", "trials", "judge", "protocol", "judgement", "verdict_statuses",
    "verdict_reasons", "verdict_models", "verdict_labels", "system_fingerprints", "run", "task", "condition", "line",
    "repeated", "limits_reached", "unknown_marks", "shorter_sides", "length_shares",
})  # fmt: skip
"""Columns that are not tags: the record's own fields, and the row's origin."""

_BLOCK = 8192
"""Rows that are in memory as Python objects at one time."""

T = TypeVar("T")
Where = Mapping[str, Any]
"""A restriction: column -> the value that a row must have, a tuple of allowed values, or None for no value."""


class QuestionTablePair(NamedTuple):
    """Two tables of the same length; rows with the same number belong together."""

    first: QuestionTable
    second: QuestionTable


def record_to_row(record: QuestionRecord) -> dict[str, Any]:
    """A record as a row: its own fields, a column a tag, and those of :data:`FIELDS` a measure."""
    row: dict[str, Any] = {
        **record.tags,
        "id": record.id,
        "cluster": record.cluster,
        "pair": record.pair or record.id,
        "expected": record.expected,
        "trials": list(record.trials),
    }
    for name, value in record.measures.items():
        for field in FIELDS:
            number = getattr(value, field)
            if number is not None:
                row[f"{name}.{field}"] = number
        row[f"{name}.asked"] = True
    # Limits of new tokens that ended replies (0 if unknown), and marks that may open thoughts.
    if reached := [int(note.get("limit") or 0) for note in record.replies if note.get("ended") == "length"]:
        row["limits_reached"] = reached
    if marks := [str(note["unknown_mark"]) for note in record.replies if note.get("unknown_mark")]:
        row["unknown_marks"] = marks
    # How degradations with lengths in pixels met images of several sizes.
    if lengths := list_length_shares(record.details.get("degradation_parameters")):
        row["shorter_sides"] = [side for _, side, _ in lengths]
        row["length_shares"] = [share for _, _, share in lengths]
    if record.judgement:
        verdicts = [verdict for verdicts in record.judgement.verdicts for verdict in verdicts]
        row["judge"] = json.dumps(record.judgement.judge, sort_keys=True, default=str)
        row["protocol"] = str(record.judgement.judge["protocol"])
        row["judgement"] = record.judgement.status
        row["verdict_statuses"] = [str(verdict["status"]) for verdict in verdicts]
        row["verdict_reasons"] = [str(verdict.get("reason") or "") for verdict in verdicts]
        row["verdict_models"] = [
            None if verdict.get("model") is None or verdict["status"] != "judged" else str(verdict["model"])
            for verdict in verdicts
        ]
        row["verdict_labels"] = [
            json.dumps(labels, ensure_ascii=False) if labels and verdict["status"] == "judged" else None
            for verdict in verdicts
            for labels in [verdict.get("labels")]
        ]
        row["system_fingerprints"] = [str(verdict.get("system_fingerprint") or "") for verdict in verdicts]
    return row


class QuestionTable:
    """Selected rows of a table. Selecting copies nothing; a column is decoded once for all selections.

    A column that no row has is None everywhere, or NaN for the numbers of a measure.
    """

    def __init__(
        self,
        table: pa.Table,
        rows: np.ndarray | None = None,
        _decoded: dict[Any, Any] | None = None,
        *,
        shared: QuestionTable | None = None,
    ) -> None:
        """``shared``: a whole table of the same rows. Its columns are decoded there, once for all that share it."""
        self._table = table
        self._shared = shared
        self._decoded: dict[Any, Any] = {} if _decoded is None else _decoded
        self.rows = np.arange(table.num_rows) if rows is None else rows

    @classmethod
    def of_rows(cls, rows: Iterable[Mapping[str, Any]], text: Callable[[str], str] | None = None) -> QuestionTable:
        """A table of rows of :func:`record_to_row`, read one after the other.

        ``text`` changes each text, also in lists; it is called once for each distinct text of a block of rows.
        """
        blocks: dict[str, list[pa.Array]] = {}
        remaining = iter(rows)
        done = 0
        while block := list(itertools.islice(remaining, _BLOCK)):
            names = dict.fromkeys(itertools.chain(blocks, *block))
            for name in names:
                values = _make_column([row.get(name) for row in block])
                blocks.setdefault(name, [pa.nulls(done)] if done else []).append(change_texts(values, text))
            done += len(block)
        return cls(pa.table({name: _join_arrays(arrays) for name, arrays in blocks.items()}))

    @classmethod
    def of_records(cls, records: Iterable[QuestionRecord]) -> QuestionTable:
        """A table of records of one run, in the order of their ids."""
        return cls.of_rows(record_to_row(record) for record in sorted(records, key=lambda record: record.id))

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def shared(self) -> QuestionTable | None:
        """The whole table whose columns this one shares, see :meth:`__init__`."""
        return self._shared

    @property
    def columns(self) -> list[str]:
        """The names of all columns of the whole table."""
        return list(self._table.column_names)

    @property
    def measures(self) -> list[str]:
        """The measures of the whole table, in the order of their first row."""
        return [name.removesuffix(".asked") for name in self._table.column_names if name.endswith(".asked")]

    def column(self, name: str) -> np.ndarray:
        """(n,) values of a column: float64 for the numbers of a measure, else objects."""
        return self._whole_column(name)[self.rows]

    def arrow(self, name: str) -> pa.ChunkedArray:
        """A column of the whole table as Arrow holds it."""
        return self._table.column(name)

    def texts(self, name: str) -> tuple[np.ndarray, pa.StringArray]:
        """(k,) numbers of these rows, and (k,) texts: all texts of a column of lists, one after the other."""
        lists = self._table.column(name).combine_chunks().take(pa.array(self.rows))
        if pa.types.is_dictionary(lists.type):
            lists = lists.dictionary.take(lists.indices)
        return np.asarray(pc.list_parent_indices(lists)), pc.list_flatten(lists).cast(pa.string())

    def _whole_column(self, name: str) -> np.ndarray:
        if name not in self._decoded:
            is_shared = self._shared is not None and name in self._shared.columns
            self._decoded[name] = (
                self._shared._whole_column(name) if self._shared and is_shared else self._decode_column(name)
            )
        column: np.ndarray = self._decoded[name]
        return column

    def _decode_column(self, name: str) -> np.ndarray:
        numeric = name.rpartition(".")[2] in FIELDS
        count = self._table.num_rows
        if name not in self._table.column_names:
            return np.full(count, np.nan) if numeric else np.full(count, None, object)
        column = self._table.column(name)
        if numeric:
            return np.array(column.cast(pa.float64()).to_numpy(zero_copy_only=False), dtype=float)
        values = np.empty(count, object)
        if pa.types.is_dictionary(column.type):
            array = column.combine_chunks()
            distinct = np.array([*array.dictionary.to_pylist(), None], dtype=object)
            values[:] = distinct[
                array.indices.cast(pa.int64()).fill_null(len(distinct) - 1).to_numpy(zero_copy_only=False)
            ]
        else:
            values[:] = column.to_pylist()
        return values

    def once_for_all_rows(self, name: str, make: Callable[[QuestionTable], T]) -> T:
        """``make`` of the whole table, called once for all selections of its rows."""
        key = ("made", name)
        if key not in self._decoded:
            self._decoded[key] = make(QuestionTable(self._table, None, self._decoded, shared=self._shared))
        made: T = self._decoded[key]
        return made

    def take(self, chosen: np.ndarray | Sequence[int]) -> QuestionTable:
        """The rows that ``chosen``, a mask or numbers into these rows, selects."""
        return QuestionTable(self._table, self.rows[chosen], self._decoded, shared=self._shared)

    def where(self, restriction: Where) -> QuestionTable:
        mask = np.ones(len(self), dtype=bool)
        for name, value in restriction.items():
            column = self.column(name)
            allowed = value if isinstance(value, tuple) else (value,)
            mask &= np.logical_or.reduce([np.asarray(column == x, dtype=bool) for x in allowed])
        return self.take(mask)

    def of_measure(self, measure: str) -> QuestionTable:
        """The rows that belong to a measure, with or without a score."""
        return self.take(self.column(f"{measure}.asked").astype(bool))

    def scored(self, measure: str) -> QuestionTable:
        """The rows with a score; no rows if judgements are missing and no judge gave any.

        Rules alone settle extremes only (an exact match, an empty answer), so their mean would not be the model's.
        """
        has_score = ~np.isnan(self.column(f"{measure}.score"))
        return self.take(has_score & (not self._has_only_rules(measure)))

    def _has_only_rules(self, measure: str) -> bool:
        if "judgement" not in self._table.column_names:
            return False
        questions = self.of_measure(measure)
        statuses = set(questions.column("judgement"))
        if not statuses - {None}:
            return False
        requested, judged = questions.column(f"{measure}.requested"), questions.column(f"{measure}.judged")
        return bool(np.nansum(requested - judged) > 0) and not statuses & {"judged", "partial"}

    def by(
        self, names: Sequence[str], key: Callable[[tuple[Any, ...]], Any] | None = None
    ) -> dict[tuple[Any, ...], QuestionTable]:
        """The rows grouped by the values of these columns, sorted by these values (None last) or by ``key``."""
        groups: dict[tuple[Any, ...], list[int]] = {}
        for row, values in enumerate(zip(*(self.column(name) for name in names), strict=True)):
            groups.setdefault(values, []).append(row)
        order = sorted(groups, key=key or (lambda values: [(value is None, value) for value in values]))
        return {values: self.take(np.array(groups[values])) for values in order}

    def values(self, name: str) -> list[Any]:
        """The distinct values of a column, in the order of their first row."""
        return list(dict.fromkeys(self.column(name)))

    def paired(self, other: QuestionTable, on: Sequence[str]) -> QuestionTablePair:
        """The rows of ``other`` with a partner here, and these partners; partners agree in the columns ``on``.

        A row here may have several partners. If two rows here agree in ``on``, the last one counts.
        """
        rows_by_key = {key: row for row, key in enumerate(zip(*(self.column(name) for name in on), strict=True))}
        keys = enumerate(zip(*(other.column(name) for name in on), strict=True))
        both = [(rows_by_key[key], row) for row, key in keys if key in rows_by_key]
        first, second = np.array(both, dtype=np.intp).reshape(-1, 2).T
        return QuestionTablePair(self.take(first), other.take(second))

    def changes(self, other: QuestionTable, measure: str, on: Sequence[str]) -> QuestionTable:
        """The scored rows of ``other`` that have a scored partner here, see :meth:`paired`.

        They have the tags and ids of ``other``, the cluster of the partner and three measures: ``before``, ``after``,
        and ``change``, which is after less before.
        """
        first, second = self.scored(measure).paired(other.scored(measure), on)
        table = second._table.take(pa.array(second.rows))
        kept_columns = [name for name in table.column_names if name.rpartition(".")[2] not in (*FIELDS, "asked")]
        table = table.select(kept_columns).set_column(
            kept_columns.index("cluster"), "cluster", _make_column(first.column("cluster").tolist())
        )
        before, after = first.column(f"{measure}.score"), second.column(f"{measure}.score")
        for name, numbers in (("before", before), ("after", after), ("change", after - before)):
            table = table.append_column(f"{name}.score", pa.array(numbers))
            table = table.append_column(f"{name}.asked", pa.array(np.ones(len(numbers), dtype=bool)))
        return QuestionTable(table)


def _make_column(values: list[Any]) -> pa.Array:
    """A column of ``values``; each distinct text is stored once. Values of several types become texts."""
    try:
        array = pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        array = pa.array([None if value is None else str(value) for value in values])
    return pc.dictionary_encode(array) if pa.types.is_string(array.type) else array


def change_texts(array: pa.Array, text: Callable[[str], str] | None) -> pa.Array:
    """The array with each text changed by ``text``, also in lists; called once for each distinct text."""
    if text is None:
        return array
    if pa.types.is_dictionary(array.type):
        before = array.dictionary.to_pylist()
        after = [text(x) for x in before]
        if after == before:
            return array
        # Two texts may become one.
        return pc.dictionary_encode(pc.take(pa.array(after), array.indices))
    if pa.types.is_list(array.type) and pa.types.is_string(array.type.value_type):
        words = change_texts(pc.dictionary_encode(array.values), text)
        return pa.ListArray.from_arrays(array.offsets, words.dictionary_decode(), mask=array.is_null())
    return array


def _join_arrays(arrays: Sequence[pa.Array]) -> pa.Array:
    """The arrays joined; of arrays of different types :func:`_make_column` of all values."""
    if len(arrays) == 1:
        return arrays[0]
    if len({array.type for array in arrays}) > 1:
        return _make_column([value for array in arrays for value in array.to_pylist()])
    return pa.chunked_array(arrays).unify_dictionaries().combine_chunks()
