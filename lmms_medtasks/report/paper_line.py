"""Beside published rows: in what a run's protocol is not the paper's, from ``paper.yml`` and what it recorded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from lmms_medtasks.report import about
from lmms_medtasks.report.document import PUBLISHED, Frame, Part
from lmms_medtasks.report.views import Source
from lmms_medtasks.samples import run_options
from lmms_medtasks.samples.result_files import Run
from lmms_medtasks.samples.runs import printable
from lmms_medtasks.suites import paper
from lmms_medtasks.suites.suite import Suite


def with_lines(suite: Suite, part: Part, sources: Sequence[Source]) -> Part:
    """The part with :func:`lines` below each of its tables that has published rows."""
    own = paper.of(suite.name)
    if own is None:
        return part
    sections = tuple(
        replace(section, tables=tuple(_with(table, own, sources) for table in section.tables))
        for section in part.sections
    )
    return replace(part, sections=sections)


def _with(table: Frame, own: paper.Paper, sources: Sequence[Source]) -> Frame:
    if not any(row.kind in PUBLISHED for row in table.rows):
        return table
    return replace(table, published_notes=(*table.published_notes, *lines(own, sources, table.key)))


def lines(own: paper.Paper, sources: Sequence[Source], table: str = "") -> Iterator[str]:
    """A line for all sources that differ from the paper in the same things; with their names where there are several.

    ``table``: the key of the table that it is for.
    """
    groups: dict[tuple[str, ...], list[str]] = {}
    for source in sources:
        groups.setdefault(tuple(differences(own, source, table)), []).append(source.name)
    for found, names in groups.items():
        whose = f"{', '.join(names)}: " if len(groups) > 1 else ""
        said = "; ".join(found) if found else "none that is known"
        yield f"{whose}Differences from the paper's protocol: {said}."


def differences(own: paper.Paper, source: Source, table: str = "") -> list[str]:
    """In what the tasks of a source were not asked and scored as in the paper, each once."""
    found: dict[str, None] = {}
    for run, tasks in source.asked:
        for task in tasks:
            config = run.content["configs"][task]
            facts = paper.facts_of(config)
            found |= dict.fromkeys(_of_run(run, task, config.get("metadata") or {}, facts))
            there = (each for each in own.remaining(task, facts) if table not in each.not_in)
            found |= dict.fromkeys(each.said(facts) for each in there)
    return list(map(printable, found))


def _of_run(run: Run, task: str, told: Mapping[str, Any], facts: paper.Facts) -> Iterator[str]:
    """What is the same for all benchmarks: the data, how much of it, the prompt, the judge, sampling, pictures."""
    data = str(told.get("data", "unknown"))
    kind = data.rpartition(" of ")[2]
    if kind != "full":
        yield f"{kind} data"
    if said := about.subset(told):
        yield f"a random sample ({said})"
    if any(effective < original for _, original, effective in about.counts(run, [task])):
        yield about.limit(run) or "only a part of the questions"
    if facts.get("setting.no_image"):
        yield "no image is shown"
    if wording := facts.get("setting.wording"):
        yield f"{wording} wording"
    if (own := told.get("own_prompt")) and isinstance(own, Mapping):
        yield f"the prompt is the file {own.get('name')} ({own.get('digest')})"
    yield from _judge(told.get("judge"), facts.get("setting.judge_prompt"))
    yield from run_options.said(told)
    if encoding := told.get("image_encoding"):
        yield f"the runner re-encoded images ({encoding})"


def _judge(judge: object, own_prompts: object) -> Iterator[str]:
    if not isinstance(judge, Mapping):
        return
    protocols = [each for each in judge.get("protocols") or [] if isinstance(each, Mapping)]
    for each in protocols if own_prompts else ():
        if not isinstance(own_prompts, Mapping) or {"", each.get("protocol")} & set(own_prompts):
            said = f"{each.get('protocol')} is the file {each.get('prompt')} ({each.get('digest')})"
            yield f"the judge's prompt of {said}"
    papers = dict.fromkeys(str(each.get("paper_judge")) for each in protocols)
    if judge.get("name", "none") == "none":
        yield "no judge"
    elif not judge.get("is_paper_judge"):
        yield f"judged by {judge['name']}, the paper by {' and '.join(papers)}"
