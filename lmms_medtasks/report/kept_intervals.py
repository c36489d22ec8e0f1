"""The intervals of a source, kept for the next build of a board: they depend on its rows and on no other source."""

from __future__ import annotations

import functools
import json
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

from lmms_medtasks.build_cache import NO_CACHE, BuildCache
from lmms_medtasks.samples.table import Samples
from lmms_medtasks.statistics.intervals import Interval


@dataclass(frozen=True)
class _Kept:
    """What stands in the cache: a name, and by name the statistics of an estimate."""

    entries: tuple[tuple[str, tuple[tuple[str, Interval], ...]], ...]


@dataclass
class KeptIntervals:
    """The intervals of one source, by the names of estimate and restriction (:func:`stable_name`).

    Attributes:
        cache: where they are kept; without a folder they are not. made_of: all that the source's rows depend on (JSON).
        rows: the source's. What is computed of other rows is not kept, whatever source they stand in.
    """

    cache: BuildCache = NO_CACHE
    made_of: list[Any] = field(default_factory=list)
    rows: Samples | None = None
    _known: dict[str, Mapping[str, Interval]] = field(default_factory=dict, repr=False)
    _read: bool = False
    _more: bool = False

    def of(self, name: str | None, make: Callable[[], Mapping[str, Interval]]) -> Mapping[str, Interval]:
        """The statistics called ``name``: those that are known, or what ``make`` gives. None is never known."""
        if name is None:
            return make()
        if not self._read:
            self._read = True
            kept = self.cache.known(_Kept, self.made_of)
            self._known.update({each: dict(found) for each, found in kept.entries} if kept else {})
        if name not in self._known:
            self._known[name] = make()
            self._more = True
        return self._known[name]

    def keep(self) -> None:
        """Write them to the cache, where there are more than it has."""
        if self._more:
            entries = tuple((name, tuple(found.items())) for name, found in sorted(self._known.items()))
            self.cache.keep(self.made_of, _Kept(entries))
            self._more = False


def stable_name(*parts: Any) -> str | None:
    """What names these values in another process too: texts, numbers, dataclasses, and functions of a module.

    None where one of them has no such name: a function within a function, an array, an object, a run's number.
    """
    try:
        return json.dumps([_named(each) for each in parts])
    except TypeError:
        return None


def _named(value: Any) -> Any:
    if value is None or type(value) in (str, int, float, bool):
        return value
    if isinstance(value, types.FunctionType) and "<" not in value.__qualname__:
        return {"function": f"{value.__module__}:{value.__qualname__}"}
    if isinstance(value, functools.partial):
        return {"partial": [_named(each) for each in (value.func, value.args, value.keywords)]}
    if is_dataclass(value) and not isinstance(value, type):
        kind = type(value)
        return {f"{kind.__module__}:{kind.__qualname__}": [_named(getattr(value, each.name)) for each in fields(kind)]}
    if isinstance(value, Mapping) and "run" in value:
        raise TypeError("A run's number is its place in this process's list of runs.")
    if isinstance(value, Mapping):
        return {"mapping": sorted(([_named(name), _named(each)] for name, each in value.items()), key=str)}
    if isinstance(value, tuple | list):
        return [_named(each) for each in value]
    raise TypeError(f"{value!r} has no name in another process.")
