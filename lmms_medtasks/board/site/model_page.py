"""The page of a model: its finding, what it is, a chart a benchmark, its report, all its scores, and what was run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from lmms_medtasks.board.boards import Board
from lmms_medtasks.board.entries import Entry, Model
from lmms_medtasks.board.model_facts import KnownModels, ModelFacts
from lmms_medtasks.board.site import board_tables, finding_words, suite_words
from lmms_medtasks.board.site.board_tables import BY_WORDS, RANK_MARKS, Links, Standings, harness, standing_cells
from lmms_medtasks.board.site.pages import Pages
from lmms_medtasks.board.site.ranking import SHORT
from lmms_medtasks.board.word_verdicts import is_by_words
from lmms_medtasks.report.cells import NONE, count, label
from lmms_medtasks.report.document import Cell, Frame, FrameColumn, FrameRow
from lmms_medtasks.report.judged_tables import LEXICAL, is_lexical


class ModelPages:
    """Writes the pages of a board's models."""

    def __init__(
        self, pages: Pages, standings: Standings, slugs: Mapping[str, str], known: KnownModels, roots: Sequence[Path]
    ) -> None:
        """``slugs``: by the model's key. ``known``: facts. ``roots``: folders whose names are left out of paths."""
        self._pages = pages
        self._standings = standings
        self._slugs = slugs
        self._known = known
        self._roots = roots

    def write(self, model: Model, links: Links, report: str, no_report: str) -> None:
        """Write a model's page. ``report``: the address of its report, "" for none; ``no_report``: why there is none,
        "" where reports were not asked for.
        """
        own = entries_of(model.key, self._standings.board)
        limits = board_tables.problems((each for entry in own for each in entry.problems), self._roots)
        title, slug = self._standings.titles[model.key], self._slugs[model.key]
        headlines = finding_words.headlines(own, self._standings)
        texts, warnings = about_model(own, facts := self._known.facts_of(model.name))
        self._pages.page(
            f"models/{slug}.html", "model.html", f"models/{slug}",
            model=model, title=title, limits=limits, links=links, report=report, no_report=no_report,
            sentence=finding_words.of_model(title, headlines),
            texts=texts, warnings=warnings, facts=facts, headlines=headlines,
            scores=scores(model.key, self._standings, links), entries=entries_table(own),
            digests=sorted({item for entry in own for item in entry.source.sha256.items()}),
        )  # fmt: skip


def about_model(own: Sequence[Entry], facts: ModelFacts) -> tuple[list[str], list[str]]:
    """What the board's facts say of a model and what its entries do, short texts; and those that limit its numbers."""
    versions = sorted({version for entry in own if (version := harness(entry))})
    judges = sorted({entry.judge.name for entry in own if entry.judge and not is_lexical(entry.judge.name)} - {"none"})
    by_words = any(is_by_words(entry, name) for entry in own for name in entry.main_metrics)
    unjudged = any(entry.judge and entry.judge.name == "none" for entry in own)
    signed = sorted({entry.source.signed_off_by for entry in own} - {""})
    levels = list(dict.fromkeys(entry.level for entry in own if entry.level))
    texts = [
        facts.family and f"family {facts.family}",
        facts.parameters_b and f"{facts.parameters_b:g} billion parameters",
        facts.licence and f"licence {facts.licence}",
        {True: "open weights", False: "closed weights", None: ""}[facts.open_weights],
        facts.released and f"released {facts.released}",
        f"runner {own[0].model.harness_model}" + (f", lmms-eval {' and '.join(versions)}" if versions else ""),
        f"judged by {', '.join(judges)}" if judges else "" if unjudged or by_words else "no judge needed",
        signed and f"submitted by {', '.join(signed)}",
        levels and f"verified: {', '.join(levels)}",
    ]
    apart = sum(not entry.ranked for entry in own)
    warnings = [f"{each} data" for each in sorted({entry.data for entry in own} - {"full"})]
    warnings += [f"{apart} of {len(own)} tasks not ranked"] if apart else []
    warnings += ["open answers not judged"] if unjudged else []
    warnings += [f"{LEXICAL} {BY_WORDS}"] if by_words else []
    return [str(text) for text in texts if text], warnings


def entries_of(model: str, board: Board) -> list[Entry]:
    """A model's entries, suites in the order of their pages."""
    places = suite_words.order(board.suites)
    return sorted(
        (entry for entry in board.entries if entry.model.key == model), key=lambda entry: places.index(entry.suite)
    )


def scores(model: str, standings: Standings, links: Links) -> Frame:
    """All measures of a model, those that stand in a ranking with their ranks."""
    rows = []
    own = entries_of(model, standings.board)
    for entry in own:
        for name in entry.metrics:
            shown = entry.scale(name)
            ranked = standings.of(entry.task, name) if entry.ranked and name in entry.main_metrics else {}
            standing = ranked.get(model)
            mean = standing.mean if standing else entry.interval(name, standings.resamples > 0)
            value, rank = standing_cells(standing, shown) if standing else (board_tables.cell(mean, shown), NONE)
            rows.append(
                FrameRow((Cell(entry.task, href=links.suite(entry.suite)), Cell(name),
                     standings.marked(value, entry, name), Cell(shown.unit), rank,
                     Cell(len(ranked)) if ranked else NONE, Cell(mean.n) if entry.is_mean(name) else NONE))
            )  # fmt: skip
    columns = (label("task"), label("measure"), FrameColumn("score", digits=2), label("unit"),
               count("rank"), count("of"), count("questions"))  # fmt: skip
    return Frame("scores", "Scores", columns, tuple(rows), (board_tables.intervals_note(own), SHORT), marks=RANK_MARKS)


def entries_table(own: Iterable[Entry]) -> Frame:
    """What each entry of a model is of: data, version, judge, harness."""
    rows = []
    for entry in own:
        judge = entry.judge.name if entry.judge else None
        told = (judge, harness(entry), entry.source.kind, entry.level or None, entry.source.date)
        texts = (entry.task, entry.version, entry.data, *told)
        rows.append(FrameRow((*map(Cell, texts), Cell(entry.counts.rows), board_tables.problem_codes(entry))))
    heads = ("task", "version", "data", "judge", "lmms-eval", "from a", "verified", "run")
    columns = (*map(label, heads), count("questions"), label("notes"))
    return Frame("entries", "What was run", columns, tuple(rows))
