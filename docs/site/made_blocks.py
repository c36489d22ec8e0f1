"""The parts of pages and cards that are made from data and declarations, between two marks each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import metric_pages

from lmms_medtasks.errors import UserError
from lmms_medtasks.harness import runners
from lmms_medtasks.suites import paper, registry
from lmms_medtasks.suites.estimates import Custom, Fraction
from lmms_medtasks.suites.suite import Suite

ROOT = Path(__file__).resolve().parents[2]
BEGIN, END = "<!-- Made by docs/site/build.py: {} -->", "<!-- End: {} -->"


def made() -> dict[Path, str]:
    """Each page and card with its parts made anew. Raises UserError where a mark is not there."""
    runner_page = ROOT / "docs" / "choose_a_runner.md"
    found = {runner_page: with_part(runner_page, "runners that re-encode images", lossy_lines())}
    tests_page = ROOT / "docs" / "intervals_and_tests.md"
    found[tests_page] = with_part(tests_page, "main metrics", main_metric_lines())
    for suite in map(registry.get, registry.names()):
        card, own = ROOT / "task_configs" / suite.name / "README.md", paper.of(suite.name)
        found[card] = with_part(card, "metrics of each task", metric_lines(suite))
        if own is not None:
            found[card] = with_part(card, "differences from the paper", paper.card_lines(own), found[card])
    return found


def with_part(path: Path, name: str, lines: Iterator[str], text: str | None = None) -> str:
    """The page's text, or ``text``, with these lines between the marks of the part called ``name``."""
    begin, end = BEGIN.format(name), END.format(name)
    before, found, rest = (text or path.read_text("utf-8")).partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise UserError(f"{path}: expected the lines {begin!r} and {end!r}.")
    return f"{before}{begin}\n\n" + "\n".join(lines) + f"\n\n{end}{after}"


def lossy_lines() -> Iterator[str]:
    """runners.yaml's lossy runners: a row for each way of encoding."""
    named: dict[str, list[str]] = {}
    for module, encoding in runners.table()["lossy"].items():
        kind, _, name = module.partition(".")
        shown = f"`{name}`" if kind == (runners.kind(name, False) or kind) else f"`{name}` with `--force_simple`"
        named.setdefault(encoding, []).append(shown)
    yield from ("| Images become | `--model` |", "|---|---|")
    yield from (f"| {encoding} | {', '.join(names)} |" for encoding, names in sorted(named.items()))


def metric_lines(suite: Suite) -> Iterator[str]:
    """The metrics that the tasks print, in the order of their tables: a row for each kind of tasks."""
    yield from ("| Tasks | Metrics, in the order of the harness's table |", "|---|---|")
    for kind, tasks in metric_pages.tasks_by_kind(suite).items():
        yield f"| {', '.join(f'`{each}`' for each in tasks)} | {', '.join(f'`{each}`' for each in suite.tasks[kind])} |"


def main_metric_lines() -> Iterator[str]:
    """The main metrics of all benchmarks: those of which the same is said in one row."""
    yield from ("| Benchmark | Main metrics | Better | Test | What they are |", "|---|---|---|---|---|")
    mains = {(suite.name, each.name): each.estimate
             for suite in map(registry.get, registry.names()) for each in suite.main_metrics}  # fmt: skip
    declared = [each for each in metric_pages.declared_metrics() if (each.suite, each.name) in mains]
    rows: dict[tuple[str, ...], list[str]] = {}
    for each in declared:
        estimate = mains[each.suite, each.name]
        smooth = isinstance(estimate, Fraction | Custom) or estimate.main == "ratio"
        said = registry.get(each.suite).title, each.better, "asymptotic" if smooth else "exact", each.about
        rows.setdefault(said, []).append(f"`{each.name}`")
    for (title, *said), names in rows.items():
        yield f"| {title} | {', '.join(names)} | {' | '.join(said)} |"
