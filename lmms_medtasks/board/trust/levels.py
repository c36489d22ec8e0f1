"""How far an entry was verified (``verified.yml`` of the base branch): its arithmetic only, or more.

The file names submissions by the SHA-256 of their bytes, so that a changed one loses its level: a pack once, a run once
a task, by its result file and the task's log together.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from lmms_medtasks import folders
from lmms_medtasks.errors import UserError, unknown_name_error
from lmms_medtasks.writing import write_text_atomically

SCORES_ONLY = "scores only"
RECOMPUTED = "recomputed"
OWN_RUN = "run by the board"
LEVELS = {
    SCORES_ONLY: "The board computed its numbers again from what the file says was read from each reply. That the "
    "model gave these replies is the submitter's word.",
    RECOMPUTED: "The board had the replies, read them again and got the same scores; verdicts of a judge are the "
    "recorded ones. That the model gave these replies is the submitter's word.",
    OWN_RUN: "The board's own workflow ran the model.",
}
_HEAD = (
    "# What the board verified, by the SHA-256 of the submitted file. Kept in the base branch; written by its keepers\n"
    "# with: lmms-medtasks leaderboard verify\n"
)


def read_trust_levels(path: Path) -> dict[str, str]:
    """SHA-256 of a submitted file -> its level, one of :data:`LEVELS`. Raises UserError for an unknown level."""
    content = folders.load_yaml(path) or {}
    if not isinstance(content, dict):
        raise UserError(f"{path}: expected lines such as 'SHA-256: recomputed'.")
    for digest, level in content.items():
        if level not in tuple(LEVELS):
            raise unknown_name_error("level", level, LEVELS, f"{path}, {digest}")
    return {str(digest): level for digest, level in content.items()}


def write_trust_level(path: Path, digests: Iterable[str], level: str) -> None:
    """Add the level of a submission to a file; ``digests``: one of a pack, one a task of a run."""
    levels = {**(read_trust_levels(path) if path.is_file() else {}), **dict.fromkeys(digests, level)}
    write_text_atomically(path, _HEAD + "".join(f'"{digest}": {levels[digest]}\n' for digest in sorted(levels)))
