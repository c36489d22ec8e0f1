"""Whether a pack is of the run that it says it is of."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lmms_medtasks.board.collect import collect
from lmms_medtasks.board.entries import Entry
from lmms_medtasks.board.pack_form import entry_to_json


def differences(entries: Sequence[Entry], run: Path) -> list[str]:
    """What a pack's entries have that the run has not, a sentence each; [] if they are the same."""
    board = collect([run])
    found = []
    for entry in entries:
        same = [each for each in board.entries if (each.task, each.model) == (entry.task, entry.model)]
        if not same:
            found.append(f"{entry.source.results}: {run} has no result of {entry.model.name} on {entry.task}.")
            continue
        packed = entry_to_json(entry)
        nearest = min(
            ([name for name, value in entry_to_json(each).items() if packed[name] != value] for each in same), key=len
        )
        if nearest:
            found.append(f"{entry.source.results}, {entry.task}: not those of {run}: {', '.join(nearest)}.")
    return found
