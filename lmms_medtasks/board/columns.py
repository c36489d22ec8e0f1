"""Compact columns of a table: each distinct value once, and for each row a code of a byte or two.

A column is an Arrow dictionary array with its values in the order of their first row, so that equal columns are equal
to the byte, in memory and as JSON.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lmms_medtasks.errors import UserError


def dictionary_encode(column: pa.ChunkedArray | pa.Array) -> pa.DictionaryArray:
    """The column with each distinct value once; numbers, texts, booleans, or lists of texts."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if pa.types.is_dictionary(array.type):
        # Never written out: a text of 4,000 characters may stand in a million rows.
        values = dictionary_encode(array.dictionary)
        codes = pc.dictionary_encode(values.indices.take(array.indices))
        return _encode_values(codes.indices, values.dictionary.take(codes.dictionary))
    if pa.types.is_list(array.type):
        return _compact_lists(array)
    if pa.types.is_null(array.type):
        array = array.cast(pa.string())
    encoded = pc.dictionary_encode(array)
    return _encode_values(encoded.indices, encoded.dictionary)


def _compact_lists(array: pa.Array) -> pa.DictionaryArray:
    known: dict[tuple[Any, ...], int] = {}
    codes = [None if each is None else known.setdefault(tuple(each), len(known)) for each in array.to_pylist()]
    return _encode_values(pa.array(codes, pa.int32()), pa.array([list(each) for each in known], array.type))


def _encode_values(codes: pa.Array, values: pa.Array) -> pa.DictionaryArray:
    smallest = pa.from_numpy_dtype(np.min_scalar_type(max(len(values) - 1, 0)))
    return pa.DictionaryArray.from_arrays(codes.cast(smallest), values)


def codes_of(column: pa.DictionaryArray) -> np.ndarray:
    """(n,) integers: 0 for a row without value, else the index of its value, from 1."""
    return np.asarray(pc.fill_null(pc.add(column.indices.cast(pa.int64()), 1), 0))


def column_to_json(column: pa.DictionaryArray) -> dict[str, list[Any]]:
    """The column's values, and for each row 0 for none or the index of its value, from 1."""
    return {"values": column.dictionary.to_pylist(), "codes": codes_of(column).tolist()}


def column_from_json(content: Any, count: int, where: str, *, kind: str = "") -> pa.DictionaryArray:
    """The column that :func:`column_to_json` gave.

    Raises UserError unless it is a column of ``count`` rows; ``kind``: "numbers" (finite ones), "lists" (of texts),
    "texts", or "" for texts and numbers.
    """
    is_column = isinstance(content, Mapping) and set(content) == {"values", "codes"}
    values, codes = (content["values"], content["codes"]) if is_column else (None, None)
    if not isinstance(values, list) or not isinstance(codes, list) or not all(type(code) is int for code in codes):
        raise UserError(f"{where}: expected values and codes of a column.")
    if not all(_is_value_kind(value, kind) for value in values):
        wanted = {"numbers": "number", "lists": "list of texts", "texts": "text that can be shown"}
        raise UserError(f"{where}: a value is no {wanted.get(kind, 'text or number that can be shown')}.")
    array = np.array(codes, dtype=np.int64)
    if len(array) != count or (count and not 0 <= array.min() <= array.max() <= len(values)):
        raise UserError(f"{where}: {len(array):,} codes from 0 to {len(values)} expected for {count:,} questions.")
    if len({type(value) for value in values}) > 1 and kind != "numbers":
        raise UserError(f"{where}: its values are of several kinds.")
    types = {"numbers": pa.float64(), "lists": pa.list_(pa.string())}
    stored = pa.array(values, types.get(kind, None if values else pa.string()))
    return _encode_values(pa.array(array - 1, mask=array == 0), stored)


def _is_value_kind(value: Any, kind: str) -> bool:
    if kind == "numbers":
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if kind == "lists":
        return isinstance(value, list) and bool(value) and all(isinstance(each, str) for each in value)
    if isinstance(value, str):
        return value.isprintable()
    return kind != "texts" and isinstance(value, int | float) and math.isfinite(value)
