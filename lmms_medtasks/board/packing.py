"""``lmms-medtasks pack``: write a run as one small signed file of scores without texts; compare it with its run."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lmms_medtasks.board.collect import collect_entries
from lmms_medtasks.board.entries import LeaderboardEntry
from lmms_medtasks.board.packs import FORMAT, VERSION, entry_to_json, json_checksum, questions_to_json
from lmms_medtasks.errors import UserError
from lmms_medtasks.writing import write_bytes_atomically

_SIGNED = re.compile(r"[^<>@\s][^<>@\n]* <[^<>@\s]+@[^<>@\s]+\.[^<>@\s]+>")


def make_submission(entries: Sequence[LeaderboardEntry], signed_off_by: str) -> dict[str, Any]:
    """A pack of these entries. Raises UserError without a signature or an entry.

    For each question it holds id, image, tags, measures and the trials; no text, no image, and no number that these
    columns give. ``sha256`` is of everything else.
    """
    check_signature(signed_off_by)
    if not entries:
        raise UserError("Nothing to pack.")
    content = {
        "format": FORMAT,
        "version": VERSION,
        "signed_off_by": signed_off_by,
        "questions": {entry.questions.digest: questions_to_json(entry.questions) for entry in entries},
        "entries": list(map(entry_to_json, entries)),
    }
    return {**content, "sha256": json_checksum(content)}


def check_signature(signed_off_by: str) -> None:
    """Raise UserError unless the signature has a name and an address."""
    if not _SIGNED.fullmatch(signed_off_by):
        raise UserError(
            f"--signed-off-by is {signed_off_by!r}, expected 'Name <name@example.org>': who vouches that the "
            f"run is real."
        )


def write_submission(content: dict[str, Any], path: Path) -> int:
    """Write a pack, compressed if the name ends in .gz; returns its bytes. Equal packs give equal files."""
    if not path.name.endswith((".json", ".json.gz")):
        raise UserError(f"--output {path}: expected a name that ends in .json or .json.gz.")
    if path.name.endswith("_results.json"):
        raise UserError(f"--output {path}: a name that ends in _results.json is the harness's.")
    data = (json.dumps(content, separators=(",", ":"), allow_nan=False) + "\n").encode()
    data = gzip.compress(data, mtime=0) if path.name.endswith(".gz") else data
    write_bytes_atomically(path, data)
    return len(data)


def submission_differences(entries: Sequence[LeaderboardEntry], run: Path) -> list[str]:
    """Values of a pack's entries that differ from the run, a sentence each; [] if none does."""
    board = collect_entries([run])
    differences = []
    for entry in entries:
        packed, where = entry_to_json(entry), f"{entry.source.results}, {entry.task}"
        same = [each for each in board.entries if (each.task, each.model) == (entry.task, entry.model)]
        others = [[name for name, value in entry_to_json(each).items() if packed[name] != value] for each in same]
        if not same:
            differences.append(f"{entry.source.results}: {run} has no result of {entry.model.name} on {entry.task}.")
        elif nearest := min(others, key=len):
            differences.append(f"{where}: not those of {run}: {', '.join(nearest)}.")
    return differences
