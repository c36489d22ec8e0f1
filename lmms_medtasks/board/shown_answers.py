"""Prompts, right answers and replies, read again from sample logs for the questions that are shown."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lmms_medtasks.board.entries import LeaderboardEntry
from lmms_medtasks.board.run_entry import LINE
from lmms_medtasks.record import KEY, record_from_json
from lmms_medtasks.samples import result_files as results
from lmms_medtasks.samples.degraded import PICTURES
from lmms_medtasks.short_texts import shorten_text

_ENDS = 2_000


@dataclass(frozen=True)
class ShownAnswer:
    """A question's prompt, the right answer and the replies; texts of others, neither escaped nor printable yet.

    ``degraded_with``: recorded parameters for each degraded image; () for none.
    """

    prompt: str
    expected: str
    replies: tuple[str, ...]
    degraded_with: tuple[Mapping[str, Any], ...] = ()


class SampleLogs:
    """The logs of a build: each is scanned once for its line breaks, then only the requested lines are read."""

    def __init__(self, *, local: bool = False) -> None:
        """``local``: whether only this machine shows the texts, so that those of all data may be shown."""
        self._local = local
        self._starts: dict[Path, np.ndarray] = {}

    def of(self, entry: LeaderboardEntry, ids: Collection[str]) -> dict[str, ShownAnswer]:
        """Prompt, right answer and replies of these questions, each text cut to 2,000 characters.

        {} for a pack, and for credentialed data unless ``local``.
        """
        path = entry.source.samples
        if entry.credentialed and not self._local or path is None or not ids:
            return {}
        rows = rows_of(entry, ids)
        lines = np.asarray(entry.answers.column(LINE))[rows]
        starts = self._line_starts(path)
        answers: dict[str, ShownAnswer] = {}
        with path.open("rb") as file:
            for id, line in zip(entry.questions.ids[rows].tolist(), lines.tolist(), strict=True):
                file.seek(starts[line - 1])
                shown = self._shown(results.parse_sample_line(file.readline(), line, path), f"{path}, line {line}")
                if shown is not None:
                    answers[id] = shown
        return answers

    def _line_starts(self, path: Path) -> np.ndarray:
        if path not in self._starts:
            with path.open("rb") as file:
                self._starts[path] = np.cumsum([0, *map(len, file)])
        return self._starts[path]

    def _shown(self, row: Mapping[str, Any], where: str) -> ShownAnswer | None:
        record = record_from_json(row[KEY], where) if KEY in row else None  # other tasks of the harness have none
        drawn = row.get(PICTURES) or (record and record.details.get("degradation_parameters"))
        degraded_with = tuple(each for each in drawn if isinstance(each, dict)) if isinstance(drawn, list) else ()
        if record and record.judgement is not None and isinstance(record.judgement.items, str):
            # The data's terms withhold the texts: the log has none, whatever the result file says.
            return ShownAnswer("", "", (), degraded_with) if self._local else None
        replies = row.get("filtered_resps")
        while isinstance(replies, list) and len(replies) == 1 and isinstance(replies[0], list):
            replies = replies[0]
        known = record and record.right_answer
        target = row.get("target", "") if known is None else known
        texts = tuple(map(_shorten_text, replies)) if isinstance(replies, list) else ()
        return ShownAnswer(_shorten_text(row.get("input", "")), _shorten_text(target), texts, degraded_with)


def rows_of(entry: LeaderboardEntry, ids: Collection[str]) -> list[int]:
    """The rows of those of these questions that the entry has, by id."""
    known, wanted = entry.questions.ids, np.array(sorted(set(ids)), dtype=str)
    rows = np.searchsorted(known, wanted)
    return [int(row) for row, id in zip(rows, wanted, strict=True) if row < len(known) and known[row] == id]


def _shorten_text(text: object) -> str:
    return shorten_text(str(text), _ENDS, " […]")
