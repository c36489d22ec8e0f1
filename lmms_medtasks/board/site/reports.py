"""The reports of a board's runs: a page for each model, and the comparison of a suite's models."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lmms_medtasks.board import packs
from lmms_medtasks.board.entries import LeaderboardEntry
from lmms_medtasks.board.site import suite_words
from lmms_medtasks.board.site.file_names import without_folders_above
from lmms_medtasks.board.site.pages import PageBody
from lmms_medtasks.build_cache import NO_CACHE, BuildCache
from lmms_medtasks.errors import UserError
from lmms_medtasks.report import report_page
from lmms_medtasks.report.document import PUBLISHED, ReportChapter, ReportNotice
from lmms_medtasks.report.first_screen import ReportDocument
from lmms_medtasks.report.report_options import RESAMPLES, ReportOptions
from lmms_medtasks.report.reported_suites import report_document, report_of, reported_suites, runs_holding
from lmms_medtasks.report.suite_report import suite_report
from lmms_medtasks.samples import result_files as results
from lmms_medtasks.samples.result_files import ResultFile
from lmms_medtasks.samples.runs import model_name
from lmms_medtasks.suites import registry

_FAILED = (UserError, *packs.UNCOMPUTABLE)
"""Errors of making a report: strangers' logs may hold anything, and only the parts of an entry were checked."""


@dataclass(frozen=True)
class ModelReport:
    """The parts of a comparison, or the reason why there are none."""

    parts: tuple[PageBody, ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class SuiteReports:
    """Makes the reports of a board's runs.

    ``titles``: model key -> its name on all pages. ``roots``: folders whose names are left out of paths. ``cache``:
    keeps tables of logs and reports.
    """

    titles: Mapping[str, str]
    resamples: int = RESAMPLES
    roots: tuple[Path, ...] = ()
    cache: BuildCache = field(default_factory=lambda: NO_CACHE)

    def page(self, own: Sequence[LeaderboardEntry], home: str) -> str:
        """The report of a model's runs, as ``lmms-medtasks report`` writes it; ``own``: all its entries.

        Benchmarks without a report are left out, and the page says why. ``home``: the page that it links back to.
        Raises UserError if there is no report.
        """
        if not any(entry.source.samples for entry in own):
            raise UserError("a submission has a score for each question, not what a report is made from.")
        made_of = ["report", home, self._title_of(own), *self._made_of(own)]
        return self._cache_of(own).kept(made_of, lambda: self._page(own, home), str.encode, bytes.decode)

    def _page(self, own: Sequence[LeaderboardEntry], home: str) -> str:
        try:
            return self._written(self._document(own), home)
        except _FAILED:
            reasons = self._reasons_by(own, lambda entry: entry.suite)
        failed = tuple(
            f"{suite_words.suite_texts(suite).title}: {reason}" for suite, reason in reasons.items() if reason
        )
        sound = [entry for entry in own if reasons.get(entry.suite) == ""]
        if not sound:
            raise UserError(" ".join(failed))
        return self._written(replace(self._document(sound), unread=failed), home)

    def _reasons_by(
        self, entries: Iterable[LeaderboardEntry], group_of: Callable[[LeaderboardEntry], str]
    ) -> dict[str, str]:
        """Group -> why there is no report of its entries, "" if there is one."""
        groups: dict[str, list[LeaderboardEntry]] = {}
        for entry in entries:
            if entry.source.samples:
                groups.setdefault(group_of(entry), []).append(entry)
        reasons = dict.fromkeys(groups, "")
        for name, own in groups.items():
            try:
                self._document(own)
            except _FAILED as error:
                reasons[name] = self._reason(error)
        return reasons

    def _document(self, own: Sequence[LeaderboardEntry]) -> ReportDocument:
        options = ReportOptions(resamples=self.resamples, cache=self._cache_of(own))
        return report_document(self._runs_of(own), options)

    def _written(self, document: ReportDocument, home: str) -> str:
        # Published rows are on the suite's page, once for all models.
        document = replace(document, parts=tuple(part.without(*PUBLISHED) for part in document.parts))
        if document.first:
            others = tuple(without_folders_above(other, self.roots) for other in document.first.others)
            document = replace(document, first=replace(document.first, others=others))
        return report_page.render_html(document, home)

    def comparison(
        self, suite: str, entries: Sequence[LeaderboardEntry], body: Callable[[ReportChapter], PageBody]
    ) -> ModelReport:
        """The comparison of a suite's models, of their ranked entries; ``body``: renders a part as HTML.

        Entries that are not ranked, and models without a report, do not keep the others from being compared.
        """
        compared = [entry for entry in entries if entry.ranked and entry.source.samples]
        if not _are_several(compared):
            reason = "Models are compared where at least two have runs here. A submission has scores only."
            return ModelReport(reason=reason)
        made_of = ["comparison", suite, [self.titles[entry.model.key] for entry in entries], *self._made_of(entries)]
        try:
            make = functools.partial(self._sound, suite, compared, body)
            return self._cache_of(entries).kept(made_of, make, _report_bytes, _report_of)
        except _FAILED as error:
            return ModelReport(reason=self._reason(error))

    def _sound(
        self, suite: str, entries: Sequence[LeaderboardEntry], body: Callable[[ReportChapter], PageBody]
    ) -> ModelReport:
        """The comparison of all models, or if it fails of those with a report."""
        try:
            return ModelReport(tuple(map(body, self._parts(suite, entries))))
        except _FAILED:
            reasons = self._reasons_by(entries, lambda entry: entry.model.key)
            sound = [entry for entry in entries if not reasons[entry.model.key]]
            if len(sound) == len(entries) or not _are_several(sound):
                raise
        left_out = "; ".join(self.titles[key] for key, reason in reasons.items() if reason)
        note = ReportNotice("note", f"Not in this comparison, since there is no report of it: {left_out}.")
        parts = self._parts(suite, sound)
        return ModelReport(tuple(body(replace(part, flags=(*part.flags, note))) for part in parts))

    def _parts(self, suite: str, entries: Sequence[LeaderboardEntry]) -> list[ReportChapter]:
        ours, runs = reported_suites(), self._runs_of(entries)
        # A contributed benchmark may have several declarations, with the suite's name as their title.
        declared_runs = [
            (name, each)
            for name, each in runs_holding(runs).items()
            if suite == (name if name in ours else each[0].title)
        ]
        made: list[ReportChapter] = []
        for name, (declared, task_runs) in declared_runs:
            prefix = f"{name if len(declared_runs) > 1 else suite}-"
            options = ReportOptions(resamples=self.resamples, prefix=prefix, cache=self._cache_of(entries))
            made += [make() for make in suite_report(declared, report_of(declared), task_runs, options).comparisons]
        return made

    def _runs_of(self, entries: Iterable[LeaderboardEntry]) -> list[ResultFile]:
        """The runs of these entries, each once, with only their tasks; packs have none."""
        entries_by_run: dict[Path, list[LeaderboardEntry]] = {}
        for entry in entries:
            if entry.source.samples is not None:
                entries_by_run.setdefault(entry.source.results, []).append(entry)
        return [
            _restrict_run(results.read_result_file(path), [entry.task for entry in group], self._title_of(group))
            for path, group in sorted(entries_by_run.items())
        ]

    def _title_of(self, own: Sequence[LeaderboardEntry]) -> str:
        return self.titles[own[0].model.key]

    def _made_of(self, entries: Iterable[LeaderboardEntry]) -> list[Any]:
        """The cache key of reports of these entries."""
        files = [
            [without_folders_above(str(entry.source.results), self.roots), entry.task, entry.ranked,
             *entry.source.sha256.items()]
            for entry in entries
        ]  # fmt: skip
        return [self.resamples, files]

    def _cache_of(self, entries: Iterable[LeaderboardEntry]) -> BuildCache:
        # The cache key does not cover the code of contributed benchmarks.
        return self.cache if {entry.suite for entry in entries} <= set(registry.names()) else NO_CACHE

    def _reason(self, error: BaseException) -> str:
        if isinstance(error, UserError):
            return without_folders_above(str(error), self.roots)
        return f"It can't be made of what the log holds ({error!r:.200})."


def _restrict_run(run: ResultFile, tasks: Sequence[str], title: str) -> ResultFile:
    """The run with these tasks only, and with the board's name of its model, which shows no local folder."""
    config = run.content.get("config") or {}
    arguments = config.get("model_args") or {}
    if not isinstance(arguments, Mapping):
        arguments = dict(part.partition("=")[::2] for part in str(arguments).split(","))
    name = model_name(run.content)
    others = {key: value for key, value in arguments.items() if str(value) != name}
    config = {**config, "model_args": {**others, "pretrained": title}}
    configs = {name: each for name, each in run.content.get("configs", {}).items() if name in tasks}
    return ResultFile(run.path, {**run.content, "configs": configs, "config": config})


def _are_several(entries: Sequence[LeaderboardEntry]) -> bool:
    return len({entry.model.key for entry in entries}) > 1


def _report_bytes(report: ModelReport) -> bytes:
    return json.dumps([[part.html, part.files] for part in report.parts]).encode()


def _report_of(content: bytes) -> ModelReport:
    return ModelReport(tuple(PageBody(html, files) for html, files in json.loads(content)))
