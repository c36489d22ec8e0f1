"""The page of a model: its finding, what it is, a chart a benchmark, what it is good and bad at, and its reports."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from lmms_medtasks.board.entries import Entry, Model
from lmms_medtasks.board.model_facts import KnownModels
from lmms_medtasks.board.site import (
    board_tables,
    bullets,
    finding_words,
    model_tables,
    model_words,
    strengths,
    suite_words,
)
from lmms_medtasks.board.site.board_tables import Links, Standings
from lmms_medtasks.board.site.bullets import ModelHeadline
from lmms_medtasks.board.site.model_words import GroupSentence
from lmms_medtasks.board.site.pages import Body, Pages
from lmms_medtasks.board.site.question_addresses import list_address
from lmms_medtasks.board.site.reports import Report
from lmms_medtasks.build_cache import BuildCache
from lmms_medtasks.report.document import PUBLISHED, Figure, Part, Section
from lmms_medtasks.report.suite_report import Planned


class ModelPages:
    """Writes the pages of a board's models."""

    def __init__(
        self,
        pages: Pages,
        standings: Standings,
        slugs: Mapping[str, str],
        known: KnownModels,
        roots: Sequence[Path],
    ) -> None:
        """``slugs``: by the model's key. ``known``: facts. ``roots``: folders whose names are left out of paths."""
        self._pages = pages
        self._standings = standings
        self._slugs = slugs
        self._known = known
        self._roots = roots
        # Of all models at once: most of the work is the same for each.
        self._groups = functools.cache(self._groups_of)

    def write(self, model: Model, links: Links, reports: Mapping[str, Report], *, questions: bool) -> None:
        """Write a model's page. ``reports``: by suite. ``questions``: whether the site has pages of questions."""
        board = self._standings.board
        own = model_tables.entries_of(model.key, board)
        limits = board_tables.problems((each for entry in own for each in entry.problems), self._roots)
        title, slug = self._standings.titles[model.key], self._slugs[model.key]
        headlines = bullets.headlines(own, self._standings)
        for part in (part for report in reports.values() for part in report.parts):
            self._pages.write_files(part)
        texts, warnings = model_words.about_model(own, facts := self._known.facts_of(model.name))
        best, worst, looked = self._extremes(model.key, headlines, own, questions)
        self._pages.page(
            f"models/{slug}.html", "model.html", f"models/{slug}",
            model=model, title=title, limits=limits, links=links,
            reports=list(reports.values()),
            sentence=finding_words.of_model(title, headlines),
            texts=texts, warnings=warnings, facts=facts,
            headlines=headlines, strongest=best, weakest=worst, looked=looked, least=strengths.LEAST_CLUSTERS,
            others=any(each.quartiles for each in headlines),
            scores=model_tables.scores(model.key, self._standings, links), entries=model_tables.facts(own),
            digests=sorted({item for entry in own for item in entry.source.sha256.items()}),
        )  # fmt: skip

    def body(
        self, model: str, suite: str, planned: Planned, made_of: Any, cache: BuildCache, *, questions: bool
    ) -> Body:
        """A part of a model's report as HTML, with charts whose cells lead to the model's questions behind them."""
        slug = self._slugs[model]

        def made() -> Part:
            # Published rows stand on the suite's page, once for all models.
            part = replace(planned.make().without(*PUBLISHED), title=planned.title)
            return _linked(part, suite, slug) if questions else part

        made_of = [questions, made_of]
        return self._pages.body(f"models/{slug}.html", replace(planned, make=made), "body", made_of, cache)

    def _extremes(
        self, model: str, headlines: Sequence[ModelHeadline], own: Sequence[Entry], questions: bool
    ) -> tuple[list[GroupSentence], list[GroupSentence], int]:
        """The strongest and the weakest groups in words, and the number of groups that were looked at."""
        # What compares words is no score, and so shows no strength; of who guesses, groups differ by their options.
        scored = [each for each in headlines if not (each.number.cell.mark or each.number.guessing)]
        entries = {entry.task: entry for entry in own if entry.ranked}
        beside = ((each, entries[each.task].mean_beside(each.metric)) for each in scored if each.task in entries)
        by_task = {each.task: replace(each, metric=mean) for each, mean in beside if mean is not None}
        groups = [group for each in by_task.values() for group in self._groups(each.task, each.metric).get(model, ())]
        found = strengths.extremes(
            groups,
            lambda group: strengths.questions(group, entries[group.task], by_task[group.task].metric),
            lambda group, level: strengths.beats_guessing(
                group, entries[group.task], by_task[group.task].metric, level
            ),
        )

        def said(group: strengths.Group) -> GroupSentence:
            head, entry = by_task[group.task], entries[group.task]
            about, heads = suite_words.about(head.suite), {(each.task, each.metric) for each in headlines}
            if (head.task, head.metric) not in heads:  # of another number than the headline it is said
                about = replace(about, title=f"{about.title}, {about.heading_of(head.task, head.metric)}")
            return model_words.group_sentence(
                group,
                strengths.interval(group, entry, head.metric),
                entry.scale(head.metric),
                about,
                lambda group: (
                    list_address(
                        head.suite,
                        task=group.task,
                        tags=strengths.filters(group, entry, head.metric),
                        model=self._slugs[model],
                    )
                    if questions
                    else ""
                ),
            )

        return [said(each) for each in found.strongest], [said(each) for each in found.weakest], found.looked

    def _groups_of(self, task: str, metric: str) -> Mapping[str, list[strengths.Group]]:
        ranked = [entry for entry in self._standings.board.of(task=task, ranked=True) if metric in entry.metrics]
        return strengths.of_task(ranked, metric) if ranked else {}


def _linked(part: Part, suite: str, model: str) -> Part:
    """The part with charts whose cells lead to the model's questions behind them."""

    def figure(found: Figure) -> Figure:
        where = f"../{list_address(suite, model=model)}"
        return replace(found, svg=found.linked(lambda query: f"{where}&{query}")) if found.linked else found

    def section(found: Section) -> Section:
        return replace(found, figures=tuple(map(figure, found.figures)))

    return replace(part, sections=tuple(map(section, part.sections)))
