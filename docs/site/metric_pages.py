"""The pages of metrics: prose from docs/metrics.yml, everything else from the benchmarks' declarations."""

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

from lmms_medtasks.suites import registry
from lmms_medtasks.suites.estimates import Estimate
from lmms_medtasks.suites.suite import Metric, Suite
from lmms_medtasks.suites.templates import measures

PROSE = Path(__file__).resolve().parents[1] / "metrics.yml"
DIRECTIONS = {True: "higher", False: "lower", None: "no direction"}


class DeclaredMetric(NamedTuple):
    """A metric as a benchmark declares it.

    Attributes:
        benchmark: a link to its card, or to the page of templates. about: the metric's own sentence, else its
            measure's; "" where neither has one. better: a value of :data:`DIRECTIONS`.
        code: dotted name of the function or class that makes the number; "" where it is private.
    """

    name: str
    benchmark: str
    about: str
    better: str
    code: str


@functools.cache
def declared_metrics() -> tuple[DeclaredMetric, ...]:
    """Every metric of every installed benchmark and of the templates, in the order of the declarations."""
    found = []
    for suite in map(registry.get, registry.names()):
        link = f"[{suite.title}](../task_configs/{suite.name}/README.md)"
        found += [_declared(suite, metric, link) for metric in suite.metrics]
    on_templates = measures.suite("templates")
    link = "[tasks on a template](../docs/contributing/templates.md)"
    return (*found, *(_declared(on_templates, metric, link) for metric in on_templates.metrics))


def _declared(suite: Suite, metric: Metric, link: str) -> DeclaredMetric:
    measure = getattr(metric.estimate, "measure", None)
    about = metric.about or (suite.measure(measure).about if measure else "")
    return DeclaredMetric(metric.name, link, about, DIRECTIONS[metric.higher_is_better], code_of(metric.estimate))


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


def entries() -> list[dict[str, Any]]:
    """docs/metrics.yml."""
    found: list[dict[str, Any]] = yaml.safe_load(PROSE.read_text("utf-8"))
    return found


def of_entry(row: Mapping[str, Any]) -> list[DeclaredMetric]:
    """The declared metrics that an entry's patterns match."""
    return [metric for metric in declared_metrics() if any(re.fullmatch(each, metric.name) for each in row["metrics"])]


def slug(title: str) -> str:
    """The name of an entry's page, without its ending."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


def metric_pages() -> dict[str, str]:
    """File name -> page, one for each entry of metrics.yml, and an index of them."""
    lines = ["# Metrics", "", "| Metric | What it is | Benchmarks |", "|---|---|---|"]
    for row in entries():
        benchmarks = ", ".join(dict.fromkeys(metric.benchmark for metric in of_entry(row)))
        lines.append(f"| [{row['title']}]({slug(row['title'])}.md) | {_cell(row['definition'])} | {benchmarks} |")
    return {"index.md": "\n".join(lines) + "\n", **{f"{slug(row['title'])}.md": _page(row) for row in entries()}}


def _page(row: Mapping[str, Any]) -> str:
    declared = of_entry(row)
    lines = [f"# {row['title']}", "", row["definition"], ""]
    for heading, key in (("Formula", "formula"), ("Source", "source"), ("How to read it", "reading")):
        lines += [f"**{heading}.** {row[key]}", ""]
    lines += [f"**Pitfalls.** {row['pitfalls']}", "", *_table(declared), ""]
    code = list(dict.fromkeys([*filter(None, (metric.code for metric in declared)), *row.get("code", ())]))
    lines += ["## In the code", ""] if code else []
    for dotted in code:
        lines += [f"`{dotted}`", "", "```text", _docstring(dotted), "```", ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _table(declared: Iterable[DeclaredMetric]) -> Iterator[str]:
    """A row for the metrics of a benchmark of which the same is said."""
    yield from ("## In the benchmarks", "", "| Metric | Benchmark | What it is there | Better |", "|---|---|---|---|")
    for said, group in itertools.groupby(declared, key=lambda each: (each.benchmark, each.about, each.better)):
        names = ", ".join(f"`{metric.name}`" for metric in group)
        yield f"| {names} | {' | '.join(map(_cell, said))} |"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _docstring(dotted: str) -> str:
    module, _, name = dotted.rpartition(".")
    return inspect.getdoc(getattr(importlib.import_module(module), name)) or ""
