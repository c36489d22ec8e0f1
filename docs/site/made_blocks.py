"""The parts of pages and cards that are made from data and declarations, between two marks each."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

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
    found = {runner_page: with_part(runner_page, "runners that change images", image_lines())}
    found[runner_page] = with_part(runner_page, "how runners are called", call_lines(), found[runner_page])
    tests_page = ROOT / "docs" / "intervals_and_tests.md"
    found[tests_page] = with_part(tests_page, "main metrics", main_metric_lines())
    for suite in map(registry.get, registry.names()):
        card, own = ROOT / "task_configs" / suite.name / "README.md", paper.find_paper_protocol(suite.name)
        found[card] = with_part(card, "metrics of each task", metric_lines(suite))
        if own is not None:
            found[card] = with_part(card, "differences from the paper", card_lines(own), found[card])
    return found


def with_part(path: Path, name: str, lines: Iterator[str], text: str | None = None) -> str:
    """The page's text, or ``text``, with these lines between the marks of the part called ``name``."""
    begin, end = BEGIN.format(name), END.format(name)
    before, found, rest = (text or path.read_text("utf-8")).partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise UserError(f"{path}: expected the lines {begin!r} and {end!r}.")
    return f"{before}{begin}\n\n" + "\n".join(lines) + f"\n\n{end}{after}"


def image_lines() -> Iterator[str]:
    """What runners.yaml says of runners that change images, and of which version of the harness: a row a change."""
    known = runners.load_runners()
    yield f"This page is about lmms-eval {known['read_in']}. Of others, reports say that their runners are not known."
    yield ""
    yield from ("| Images | `--model` |", "|---|---|")
    yield from _rows("re-encoded as {}", known["lossy"])
    yield from _rows("sides rounded to multiples of {} pixels", known["resampled"])
    yield from _rows("scaled down where larger than {}", known["shrunk_above"])


def call_lines() -> Iterator[str]:
    """How this plugin calls runners that need care, from runners.yaml: a row a reason."""
    known = runners.load_runners()
    yield from ("| How it is called | `--model` |", "|---|---|")
    for how, group in (("at batch size 1, for tasks that sample", True), ("always", False)):
        why = {name: each["does"] for name, each in known["one_request_a_call"].items() if ("trials" in each) is group}
        yield from _rows(f"one request a call, {how}: it {{}}", why)
    yield from _rows("one call a run: {}", known["one_call_a_run"])
    yield from _rows("one call a run, with tools: {}", known["one_call_a_run_with_tools"])


def _rows(text: str, told: Mapping[str, object]) -> Iterator[str]:
    """A row for each thing that is told of runners, put into ``text``, with all of which it is told."""
    named: dict[str, list[str]] = {}
    for module, what in told.items():
        kind, _, name = module.partition(".")
        shown = (
            f"`{name}`"
            if kind == (runners.find_runner_kind(name, False) or kind)
            else f"`{name}` with `--force_simple`"
        )
        named.setdefault(text.format(what), []).append(shown)
    yield from (f"| {what} | {', '.join(names)} |" for what, names in sorted(named.items()))


def metric_lines(suite: Suite) -> Iterator[str]:
    """The metrics that the tasks print, in the order of their tables: a row for each kind of tasks."""
    yield from ("| Tasks | Metrics, in the order of the harness's table |", "|---|---|")
    for kind, tasks in metric_pages.tasks_by_kind(suite).items():
        yield f"| {', '.join(f'`{each}`' for each in tasks)} | {', '.join(f'`{each}`' for each in suite.tasks[kind])} |"


def main_metric_lines() -> Iterator[str]:
    """The main metrics of all benchmarks: those of which the same is said in one row."""
    yield from ("| Benchmark | Main metrics | Better | Test |", "|---|---|---|---|")
    mains = {(suite.name, each.name): each.estimate
             for suite in map(registry.get, registry.names()) for each in suite.main_metrics}  # fmt: skip
    declared = [each for each in metric_pages.declared_metrics() if (each.suite, each.name) in mains]
    rows: dict[tuple[str, ...], list[str]] = {}
    for each in declared:
        estimate = mains[each.suite, each.name]
        smooth = isinstance(estimate, Fraction | Custom) or estimate.main == "ratio"
        said = registry.get(each.suite).title, each.better, "asymptotic" if smooth else "exact"
        rows.setdefault(said, []).append(f"`{each.name}`")
    for (title, *said), names in rows.items():
        yield f"| {title} | {', '.join(names)} | {' | '.join(said)} |"


def card_lines(own: paper.PaperProtocol) -> Iterator[str]:
    """The card's list: each difference, whose it is, and whether the papers' settings leave it."""
    for each in own.differences:
        line = each.said(own.ours)
        parts = [f"- **{each.title}**: {line}{f' ({each.place})' if each.place else ''}."]
        parts += [each.more] if each.more else []
        names = [name for name, settings in own.settings.items() if each.gone and _leaves(each, settings)]
        parts += [f"Not so with {_options(names)}."] if names else []
        if each.only:
            held = [name for name, settings in own.settings.items() if paper.has_facts(each.only, _facts(settings))]
            parts += [f"Only with {_options(held)}."] if held else []
        yield from _wrapped(" ".join(parts))


def _leaves(difference: paper.PaperDifference, settings: paper.PaperSettings) -> bool:
    return any(paper.has_facts(each, _facts(settings)) for each in difference.gone)


def _facts(settings: paper.PaperSettings) -> dict[str, Any]:
    return {
        **paper.facts_of({"lmms_eval_specific_kwargs": {"default": settings.default}}),
        **{f"generation.{name}": value for name, value in settings.generation.items()},
        "settings": settings.name,
    }


def _options(names: Sequence[str]) -> str:
    return " or ".join(f"`--settings {name}`" for name in names)


def _wrapped(text: str) -> Iterator[str]:
    yield from textwrap.wrap(text, 120, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
