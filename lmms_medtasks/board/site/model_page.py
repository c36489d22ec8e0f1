"""The page of a model: its finding, what it is, a chart a benchmark, what it is good and bad at, and its reports."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path

from lmms_medtasks.board.entries import Entry, Model
from lmms_medtasks.board.model_facts import KnownModels
from lmms_medtasks.board.site import board_tables, bullets, failures, model_tables, model_words, strengths
from lmms_medtasks.board.site.board_tables import Links, Standings
from lmms_medtasks.board.site.bullets import Headline
from lmms_medtasks.board.site.model_words import GroupSentence
from lmms_medtasks.board.site.pages import Pages
from lmms_medtasks.board.site.reports import Report


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
        self._verdicts = functools.cache(self._verdicts_of)

    def write(self, model: Model, links: Links, reports: Mapping[str, Report], *, questions: bool) -> None:
        """Write a model's page. ``reports``: by suite. ``questions``: whether the site has pages of questions."""
        board = self._standings.board
        own = model_tables.entries_of(model.key, board)
        limits = board_tables.problems((each for entry in own for each in entry.problems), self._roots)
        title, slug = self._standings.titles[model.key], self._slugs[model.key]
        headlines = bullets.headlines(own, self._standings)
        findings = [found for report in reports.values() if (found := report.finding)]
        best, worst, looked = self._extremes(model.key, headlines, own, questions)
        self._pages.page(
            f"models/{slug}.html", "model.html", f"models/{slug}",
            model=model, title=title, limits=limits, reports=list(reports.values()), links=links,
            sentence=model_words.sentence(title, headlines, findings),
            about=model_words.about_model(own, facts := self._known.facts_of(model.name)), facts=facts,
            headlines=headlines, strongest=best, weakest=worst, looked=looked, least=strengths.LEAST_CLUSTERS,
            failures=self._failures(model.key, own),
            scores=model_tables.scores(model.key, self._standings, links), entries=model_tables.facts(own),
            digests=sorted({item for entry in own for item in entry.source.sha256.items()}),
        )  # fmt: skip

    def _extremes(
        self, model: str, headlines: Sequence[Headline], own: Sequence[Entry], questions: bool
    ) -> tuple[list[GroupSentence], list[GroupSentence], int]:
        """The strongest and the weakest groups in words, and the number of groups that were looked at."""
        by_task = {each.task: each for each in headlines}
        groups = [group for each in headlines for group in self._groups(each.task, each.metric).get(model, ())]
        found = strengths.extremes(groups)
        entries = {entry.task: entry for entry in own if entry.ranked}

        def said(group: strengths.Group) -> GroupSentence:
            head, entry = by_task[group.task], entries[group.task]
            return model_words.group_sentence(
                group,
                strengths.interval(group, entry, head.metric),
                entry.scale(head.metric),
                head.title,
                lambda group: f"../questions/{head.suite}.html" if questions else "",
            )

        return [said(each) for each in found.strongest], [said(each) for each in found.weakest], found.looked

    def _groups_of(self, task: str, metric: str) -> Mapping[str, list[strengths.Group]]:
        ranked = [entry for entry in self._standings.board.of(task=task, ranked=True) if metric in entry.metrics]
        return strengths.of_task(ranked, metric) if ranked else {}

    def _failures(self, model: str, own: Sequence[Entry]) -> list[failures.Failure]:
        found = {name: self._verdicts(name).failures(model) for name in dict.fromkeys(entry.suite for entry in own)}
        return failures.chosen({name: each for name, each in found.items() if each})

    def _verdicts_of(self, suite: str) -> failures.SuiteVerdicts:
        return failures.SuiteVerdicts(suite, self._standings.board.of(suite=suite, ranked=True))
