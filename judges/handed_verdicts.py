"""What was judged in this process: how the stage hands its verdicts to the scoring hooks.

The harness calls a task's scoring hook with a document and replies only, in several threads; the stage has judged them
all before. Nothing else of ours is kept between the two.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from lmms_medtasks.judges.protocol import Item, Protocol, Verdict

Key = tuple[str, int, tuple[tuple[str, str], ...], int]


def key_of(protocol: Protocol, item: Item, trial: int) -> Key:
    """What makes two judgements of one judge the same: protocol, version, every field's text, the trial's number."""
    return protocol.name, protocol.version, tuple(sorted(item.fields.items())), trial


class VerdictTable:
    """Verdicts by what was judged, and the judge that gave them; safe in many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._verdicts: dict[Key, Verdict] = {}
        self._judges: dict[str, Mapping[str, Any]] = {}

    def put(self, verdicts: Mapping[Key, Verdict]) -> None:
        """Keep ``verdicts``."""
        with self._lock:
            self._verdicts.update(verdicts)

    def get(self, protocol: Protocol, item: Item, trial: int) -> Verdict | None:
        """The verdict on trial ``trial`` (from 0) of ``item``, None if it was not judged here."""
        with self._lock:
            return self._verdicts.get(key_of(protocol, item, trial))

    def set_judge(self, protocol: Protocol, description: Mapping[str, Any]) -> None:
        """Say who judges under ``protocol`` in this process; verdicts of another judge under it are forgotten."""
        with self._lock:
            if self._judges.get(protocol.name) != description:
                self._verdicts = {key: value for key, value in self._verdicts.items() if key[0] != protocol.name}
            self._judges[protocol.name] = description

    def judge(self, protocol: Protocol) -> Mapping[str, Any] | None:
        """Who judges under ``protocol``; None if nobody was named."""
        with self._lock:
            return self._judges.get(protocol.name)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._verdicts, self._judges = {}, {}


TABLE = VerdictTable()
"""One a process, as the harness gives no other way from the stage to the hooks."""
