"""The pages of metrics, one for each group: prose from docs/metrics.yml, everything else from the declarations."""

from __future__ import annotations

import functools
import importlib
import inspect
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from lmms_medtasks import folders
from lmms_medtasks.suites import registry
from lmms_medtasks.suites.estimates import Contrast, Estimate, Fraction, Macro, MacroContrast, Mean, Units
from lmms_medtasks.suites.suite import Metric, Suite
from lmms_medtasks.suites.templates import measures
from lmms_medtasks.task_yaml.chain import installed_chains

PROSE = Path(__file__).resolve().parents[1] / "metrics.yml"
DIRECTIONS = {True: "higher", False: "lower", None: "no direction"}
TEMPLATES = "templates"


class DeclaredMetric(NamedTuple):
    """A metric as a benchmark declares it.

    Attributes:
        suite: name of the benchmark, "templates" for tasks on a template. benchmark: a link to its card, or to the page
            of templates. about: the metric's own sentence, else its measure's; "" where neither has one.
        tasks: the tasks that print it, in short; "" for templates. range: lowest and highest value with its unit, ""
            where the declaration does not say it. better: a value of :data:`DIRECTIONS`.
        code: dotted name of the function or class that makes the number; "" where it is private.
    """

    name: str
    suite: str
    benchmark: str
    about: str
    tasks: str
    range: str
    better: str
    code: str


@functools.cache
def declared_metrics() -> tuple[DeclaredMetric, ...]:
    """Every metric of every installed benchmark and of the templates, in the order of the declarations."""
    found = []
    for suite in map(registry.get, registry.names()):
        link, tasks = f"[{suite.title}](../task_configs/{suite.name}/README.md)", tasks_by_kind(suite)
        found += [_declared(suite, metric, link, tasks) for metric in suite.metrics]
    on_templates = measures.contributed_suite(TEMPLATES)
    link = "[tasks on a template](../docs/contributing/templates.md)"
    kinds = {kind: [f"template {kind}"] for kind in on_templates.tasks}
    return (*found, *(_declared(on_templates, metric, link, kinds) for metric in on_templates.metrics))


def _declared(suite: Suite, metric: Metric, link: str, tasks: Mapping[str, list[str]]) -> DeclaredMetric:
    measure = getattr(metric.estimate, "measure", None)
    return DeclaredMetric(
        metric.name,
        suite.name,
        link,
        metric.about or (suite.measure(measure).about if measure else ""),
        _short(name for kind, names in suite.tasks.items() if metric.name in names for name in tasks[kind])
        or "where the YAML names it under `metrics`",
        declared_range(suite, metric),
        DIRECTIONS[metric.higher_is_better],
        code_of(metric.estimate),
    )


def tasks_by_kind(suite: Suite) -> dict[str, list[str]]:
    """Kind of task -> its tasks: those whose scoring hook is of it."""
    folder = registry.folder_of(suite.name)
    found: dict[str, list[str]] = {kind: [] for kind in suite.tasks}
    for chain in installed_chains(sorted(name for name, path in folders.task_files().items() if path.parent == folder)):
        _, kind = registry.scored_by(str(chain.value("process_results"))) or (None, "")
        if kind in found:
            found[kind].append(chain.path.stem)
    return {kind: sorted(names) for kind, names in found.items()}


def _short(names: Iterable[str]) -> str:
    """Up to four tasks by name, of more the first three and how many others there are."""
    shown = [name if name.startswith("template ") else f"`{name}`" for name in dict.fromkeys(names)]
    return ", ".join(shown) if len(shown) <= 4 else f"{', '.join(shown[:3])} and {len(shown) - 3} more"


def declared_range(suite: Suite, metric: Metric) -> str:
    """Lowest and highest value, with its unit, where the estimate's kind and its measure say them; else ""."""
    estimate, unit = metric.estimate, suite.unit(metric)
    if isinstance(estimate, Units | Fraction):
        return "0 to 1"
    if unit == "count":
        return "a count"
    if not isinstance(estimate, Mean | Macro | Contrast | MacroContrast):
        return ""
    low, high = suite.measure(estimate.measure).range
    if isinstance(estimate, Contrast) and estimate.main == "ratio":
        return "0 or more, a ratio"
    if isinstance(estimate, Contrast | MacroContrast):
        low, high = low - high, high - low
    return f"{low:g} to {high:g}" + ("" if unit in ("%", "", "points") or unit.startswith("of ") else f" {unit}")


def code_of(estimate: Estimate) -> str:
    """Dotted name of the public function that an estimate is made with, else of its class; "" of a private function."""
    maker: Callable[..., Any] = (
        getattr(estimate, "function", None) or getattr(estimate, "units", None) or type(estimate)
    )
    while isinstance(maker, functools.partial):
        maker = maker.func
    if not (inspect.isfunction(maker) or inspect.isclass(maker) or inspect.isbuiltin(maker)):
        maker = type(maker)
    public = maker.__qualname__.isidentifier() and not maker.__qualname__.startswith("_")
    return f"{maker.__module__}.{maker.__qualname__}" if public and maker.__module__ != "builtins" else ""


def groups() -> list[dict[str, Any]]:
    """docs/metrics.yml."""
    found: list[dict[str, Any]] = yaml.safe_load(PROSE.read_text("utf-8"))
    return found


def group_titles() -> list[str]:
    """The titles of the groups, in the order of their pages."""
    return [group["group"] for group in groups()]


def entries() -> list[dict[str, Any]]:
    """Every explanation of docs/metrics.yml, in the order of the groups."""
    return [row for group in groups() for row in group["metrics"]]


def of_entry(row: Mapping[str, Any]) -> list[DeclaredMetric]:
    """The declared metrics that an entry's patterns match."""
    return [each for each in declared_metrics() if any(matches(name, each) for name in row["names"])]


def matches(pattern: str, metric: DeclaredMetric) -> bool:
    """Whether a pattern of metrics.yml matches the whole name, with the benchmark before it where the pattern has one.

    Two benchmarks may give one name two meanings, such as ``consistency``.
    """
    return bool(re.fullmatch(pattern, f"{metric.suite}/{metric.name}" if "/" in pattern else metric.name))


def slug(title: str) -> str:
    """The name of a group's page without its ending, and the anchor of a metric on it."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower().replace("'", "")).strip("-")


def metric_pages() -> dict[str, str]:
    """File name -> page, one for each group of metrics.yml, and an index of them."""
    lines = [
        "# Metrics",
        "",
        "What each number says, how it is made, and where it can mislead. Two pages go with them:",
    ]
    lines += ["[Intervals and tests](../docs/intervals_and_tests.md) and"]
    lines += ["[How replies are read](../docs/how_replies_are_read.md).", ""]
    for group in groups():
        page = f"{slug(group['group'])}.md"
        lines += [f"## [{group['group']}]({page})", "", group["about"], "", "| Metric | What it says |", "|---|---|"]
        for row in group["metrics"]:
            lines.append(f"| [{row['title']}]({page}#{slug(row['title'])}) | {_cell(row['definition'])} |")
        lines.append("")
    return {"index.md": "\n".join(lines), **{f"{slug(each['group'])}.md": _page(each) for each in groups()}}


def _page(group: Mapping[str, Any]) -> str:
    lines = [f"# {group['group']}", "", group["about"], ""]
    lines += ["In tables of the harness a share is 0 to 1; reports show it in percent.", ""]
    code: dict[str, None] = {}
    for row in group["metrics"]:
        declared = of_entry(row)
        lines += [f"## {row['title']}", "", row["definition"], "", "| | |", "|---|---|", *_facts(row), ""]
        lines += [*_table(row, declared), ""]
        code |= dict.fromkeys([*filter(None, (metric.code for metric in declared)), *row.get("code", ())])
    lines += ["## In the code", ""] if code else []
    for dotted in code:
        lines += [f"`{dotted}`", "", "```text", _docstring(dotted), "```", ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _facts(row: Mapping[str, Any]) -> Iterator[str]:
    for heading, key in (("Formula", "formula"), ("Source", "source"), ("How to read it", "reading")):
        yield f"| {heading} | {_cell(row[key])} |"
    yield f"| Where it can mislead | {_cell(row['pitfalls'])} |"
    if "differs" in row:
        yield f"| Where we differ from the paper | {' '.join(map(_difference, row['differs']))} |"


def _difference(name: str) -> str:
    """A difference from a paper, as the benchmark's paper.yml has it."""
    suite, _, key = name.partition("/")
    found = folders.read_yaml(registry.folder_of(suite) / "paper.yml")["differences"][key]
    link = f"[{registry.get(suite).title}](../task_configs/{suite}/README.md#where-we-differ-from-the-paper)"
    return f"{link}: {_cell(found['line'])}."


def _table(row: Mapping[str, Any], declared: Iterable[DeclaredMetric]) -> Iterator[str]:
    """A line for the metrics of a benchmark of which the same is said."""
    yield from ("| Metric | Benchmark | What it is there | Range | Better | Tasks |", "|---|---|---|---|---|---|")
    for said, group in itertools.groupby(declared, key=lambda each: each._replace(name="", code="")):
        names = ", ".join(f"`{metric.name}`" for metric in group)
        limits = row.get("range") or said.range
        yield f"| {names} | {' | '.join(map(_cell, (said.benchmark, said.about, limits, said.better, said.tasks)))} |"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _docstring(dotted: str) -> str:
    module, _, name = dotted.rpartition(".")
    return inspect.getdoc(getattr(importlib.import_module(module), name)) or ""
