"""Why rows can't be compared: with the paper's, by their protocol, and with each other, by their questions.

The differences of a run's protocol from the paper's come from ``paper.yml`` and the run's record. Rows of a comparison
over other questions than most are marked, and a flag names them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from lmms_medtasks.report import about
from lmms_medtasks.report.document import PUBLISHED, Frame, FrameRow, ReportChapter, ReportNotice
from lmms_medtasks.report.views import ModelResults
from lmms_medtasks.samples import run_options
from lmms_medtasks.samples.result_files import ResultFile
from lmms_medtasks.samples.runs import make_printable
from lmms_medtasks.suites import paper
from lmms_medtasks.suites.suite import Suite


def add_paper_lines(suite: Suite, part: ReportChapter, sources: Sequence[ModelResults]) -> ReportChapter:
    """The part with :func:`paper_lines` below each of its tables that has published rows."""
    own = paper.find_paper_protocol(suite.name)
    if own is None:
        return part

    def with_paper_lines(table: Frame) -> Frame:
        if not any(row.kind in PUBLISHED for row in table.rows):
            return table
        return replace(table, published_notes=(*table.published_notes, *paper_lines(own, sources, table.key)))

    return part.with_tables(with_paper_lines)


def paper_lines(own: paper.PaperProtocol, sources: Sequence[ModelResults], table: str = "") -> Iterator[str]:
    """A line for all sources that differ from the paper in the same things; with their names where there are several.

    ``table``: the key of the table that it is for.
    """
    groups: dict[tuple[str, ...], list[str]] = {}
    for source in sources:
        groups.setdefault(tuple(paper_differences(own, source, table)), []).append(source.name)
    for found, names in groups.items():
        whose = f"{', '.join(names)}: " if len(groups) > 1 else ""
        said = "; ".join(found) if found else "none that is known"
        yield f"{whose}Differences from the paper's protocol: {said}."


def paper_differences(own: paper.PaperProtocol, source: ModelResults, table: str = "") -> list[str]:
    """The differences from the paper in how the tasks of a source were asked and scored, each once."""
    found: dict[str, None] = {}
    for run, tasks in source.asked:
        for task in tasks:
            config = run.content["configs"][task]
            facts = paper.facts_of(config)
            found |= dict.fromkeys(_of_run(run, task, paper.recorded_metadata(config), facts))
            there = (each for each in own.remaining(task, facts) if table not in each.not_in)
            found |= dict.fromkeys(each.said(facts) for each in there)
    return list(map(make_printable, found))


def _of_run(run: ResultFile, task: str, told: Mapping[str, Any], facts: paper.Facts) -> Iterator[str]:
    """Differences that any benchmark can have: data, their extent, prompt, judge, sampling, images."""
    data = str(told.get("data", "unknown"))
    kind = data.rpartition(" of ")[2]
    if kind != "full":
        yield f"{kind} data"
    if said := about.subset_text(told):
        yield f"a random sample ({said})"
    if any(effective < original for _, original, effective in about.question_counts(run, [task])):
        yield about.limit_text(run) or "only a part of the questions"
    if facts.get("setting.no_image"):
        yield "no image is shown"
    if wording := facts.get("setting.wording"):
        yield f"{wording} wording"
    if (own := told.get("own_prompt")) and isinstance(own, Mapping):
        yield f"the prompt is the file {own.get('name')} ({own.get('digest')})"
    yield from _judge_differences(told.get("judge"), facts.get("setting.judge_prompt"))
    yield from run_options.describe_changed_options(told)
    if encoding := told.get("image_encoding"):
        yield f"the runner re-encoded images ({encoding})"


def _judge_differences(judge: object, own_prompts: object) -> Iterator[str]:
    if not isinstance(judge, Mapping):
        return
    protocols = [each for each in judge.get("protocols") or [] if isinstance(each, Mapping)]
    for each in protocols if own_prompts else ():
        if not isinstance(own_prompts, Mapping) or {"", each.get("protocol")} & set(own_prompts):
            said = f"{each.get('protocol')} is the file {each.get('prompt')} ({each.get('digest')})"
            yield f"the judge's prompt of {said}"
    papers = dict.fromkeys(str(protocol.get("paper_judge")) for protocol in protocols)
    if judge.get("name", "none") == "none":
        yield "no judge"
    elif not judge.get("is_paper_judge"):
        from lmms_medtasks.judges import identity

        model = judge["name"].partition(":")[2]  # behind its provider
        if all(identity.is_named_after(model, paper) for paper in papers):
            yield f"judged by {judge['name']}, named like the paper's judge, at {judge.get('endpoint')}"
            return
        yield f"judged by {judge['name']}, the paper by {' and '.join(papers)}"


OTHER_QUESTIONS = "≠"
_MEANING = "Over other questions than most rows here: does not compare with them (the flags say how many)."
_MOST = 3
"""Tests of a row that the flag names."""

Asked = Mapping[Any, Mapping[str, frozenset[str]]]
"""Row -> the tests that its numbers are of, by name -> the ids of the questions that were asked in each.

A row that is a tuple is a model's (its first part) under a condition (the rest), such as a shift: tests of one name
under two conditions are two tests.
"""


def with_marks(
    part: ReportChapter,
    asked: Asked,
    row_of: Callable[[Frame, FrameRow], Hashable] = lambda table, row: row.cells[0].value,
) -> ReportChapter:
    """The comparison with :data:`OTHER_QUESTIONS` at each row that :func:`rows_with_other_questions` finds, and a flag
    that names them.

    ``row_of`` gives the key that a table's row has in ``asked``, its first cell by default; published rows, and rows of
    no such key, stay as they are.
    """
    found = rows_with_other_questions(asked)
    if not found:
        return part
    marked = part.with_tables(lambda table: _mark_rows(table, found, row_of))
    said = "; ".join(f"{' '.join(map(str, row)) if isinstance(row, tuple) else row}: {text}"
                     for row, text in found.items())  # fmt: skip
    text = f"Not all rows are over the same questions, and those marked {OTHER_QUESTIONS} do not compare. {said}."
    return replace(marked, flags=(ReportNotice("warning", text), *part.flags))


def rows_with_other_questions(asked: Asked) -> dict[Hashable, str]:
    """The rows that were asked other questions in a test than most rows that have it, and what they were asked.

    Where as many rows were asked one set of questions as another, the larger set is that of most.
    """
    tests: dict[tuple[Hashable, str], Counter[frozenset[str]]] = {}
    for row, own in asked.items():
        for test, ids in own.items():
            tests.setdefault((_row_condition(row), test), Counter())[ids] += 1
    usual = {test: max(counts, key=lambda ids: (counts[ids], len(ids), sorted(ids))) for test, counts in tests.items()}
    found = {}
    for row, own in asked.items():
        most = {test: usual[_row_condition(row), test] for test in own}
        other = [_describe_questions(test, ids, most[test]) for test, ids in own.items() if ids != most[test]]
        if other:
            more = [f"{len(other) - _MOST} more tests"] if len(other) > _MOST else []
            found[row] = ", ".join([*other[:_MOST], *more])
    return found


def _row_condition(row: Hashable) -> Hashable:
    return row[1:] if isinstance(row, tuple) else None


def _describe_questions(test: str, ids: frozenset[str], usual: frozenset[str]) -> str:
    shared = len(ids & usual)
    apart = f", {len(ids) - shared:,} of them others" if shared < len(ids) else ""
    return f"{test} {len(ids):,} questions{apart} (most rows: {len(usual):,})"


def _mark_rows(table: Frame, found: Mapping[Hashable, str], row_of: Callable[[Frame, FrameRow], Hashable]) -> Frame:
    rows = tuple(
        replace(row, cells=(replace(row.cells[0], mark=OTHER_QUESTIONS), *row.cells[1:]))
        if row.kind == "run" and row_of(table, row) in found
        else row
        for row in table.rows
    )
    if rows == table.rows:
        return table
    return replace(table, rows=rows, marks={**table.marks, OTHER_QUESTIONS: _MEANING})
