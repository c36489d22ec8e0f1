"""The page of a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from lmms_medtasks.board.entries import Model
from lmms_medtasks.board.site import board_tables, model_tables
from lmms_medtasks.board.site.board_tables import Links, Standings
from lmms_medtasks.board.site.pages import Pages
from lmms_medtasks.board.site.reports import Report


class ModelPages:
    """Writes the pages of a board's models."""

    def __init__(self, pages: Pages, standings: Standings, slugs: Mapping[str, str], roots: Sequence[Path]) -> None:
        """``slugs``: by the model's key. ``roots``: folders whose names are left out of paths."""
        self._pages = pages
        self._standings = standings
        self._slugs = slugs
        self._roots = roots

    def write(self, model: Model, links: Links, reports: Sequence[Report]) -> None:
        """Write a model's page. ``reports``: its suites' reports, in the order of their pages."""
        own = model_tables.entries_of(model.key, self._standings.board)
        limits = board_tables.problems((each for entry in own for each in entry.problems), self._roots)
        slug = self._slugs[model.key]
        self._pages.page(
            f"models/{slug}.html", "model.html", f"models/{slug}",
            model=model, title=self._standings.titles[model.key], limits=limits, reports=reports,
            scores=model_tables.scores(model.key, self._standings, links), facts=model_tables.facts(own),
            signed=sorted({entry.source.signed_off_by for entry in own} - {""}),
            digests=sorted({item for entry in own for item in entry.source.sha256.items()}),
        )  # fmt: skip
