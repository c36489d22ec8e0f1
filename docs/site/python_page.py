"""The reference of ``import lmms_medtasks as mt``, made from signatures and docstrings: whole on the site, and
docs/python.md, which has a line for each name."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

import lmms_medtasks
from lmms_medtasks.interface import estimates, evaluation, runs
from lmms_medtasks.report import run_report

CHAPTERS = (
    ("Images", ("degrade", "Degrade", "list_degradations")),
    ("Replies", ("parse", "count_outcomes")),
    ("Estimates", ("accuracy", "mean", "difference", "cohen_kappa", "krippendorff_alpha")),
    ("Runs", ("list_tasks", "evaluate", "read_runs", "report", "compare")),
    ("Errors", ("UserError",)),
)
RESULTS = (
    estimates.EstimateResult, estimates.DifferenceResult, evaluation.EvaluationResult,
    run_report.RunReport, run_report.SvgChart, runs.RunComparison,
)  # fmt: skip
"""Classes whose objects functions give; nobody makes them."""

_HEADS = ("Args", "Attributes", "Returns", "Raises", "Source", "Note", "Example")
_ROLE = re.compile(r":\w+:`~?(?:[\w.]*\.)?(\w+)`")
_CODE = re.compile(r"``([^`]+)``")
_OURS = re.compile(rf"(?<![\w.'])({'|'.join(name for name in lmms_medtasks.__all__ if name[0] != '_')})(?=\()")


def names_page() -> str:
    """docs/python.md: each name with the first sentence of its docstring, and the columns of ``read_runs``."""
    lines = [
        "# Python interface",
        "",
        "`import lmms_medtasks as mt` in a notebook or a script: [Write Python](start/write_python.md) begins with it.",
        "`help(mt.degrade)` prints all of a name: arguments, ranges, errors, its source, an example. A mistake of the",
        "caller raises `mt.UserError`, a `ValueError`. The page is made by `python docs/site/build.py --write`.",
        "",
        "| Name | What it does |",
        "|---|---|",
    ]
    for _, names in CHAPTERS:
        lines += [f"| `mt.{name}` | {_first_sentence(_documented(name))} |" for name in names]
    return "\n".join([*lines, "", *_column_lines()]) + "\n"


def _first_sentence(value: Any) -> str:
    about = _inline(" ".join((inspect.getdoc(value) or "").split("\n\n")[0].split()))
    return re.split(r"(?<=[.]) (?=[A-Z])", about)[0]


def _column_lines() -> Iterator[str]:
    yield from ("## Columns of `read_runs`", "", "| Column | What it holds |", "|---|---|")
    yield from (f"| `{name}` | {about} |" for name, about in runs.COLUMNS.items())


def python_page() -> str:
    """The site's page: everything."""
    lines = ["# Python reference", ""]
    for title, names in CHAPTERS:
        links = ", ".join(f"[`{name}`](#{_heading(name).lower().replace(' ', '-')})" for name in names)
        lines.append(f"- **{title}**: {links}")
    for title, names in CHAPTERS:
        lines += ["", f"## {title}"]
        for name in names:
            lines += ["", f"### {_heading(name)}", "", *_entry(f"mt.{name}", _documented(name))]
    lines += ["", "## What functions give"]
    for each in RESULTS:
        lines += ["", f"### {each.__name__}", "", *_text(inspect.getdoc(each) or ""), *_members(each)]
    return "\n".join([*lines, "", *_column_lines()]) + "\n"


def _heading(name: str) -> str:
    """Two headings that differ in case only would have one address."""
    return f"{name} transform" if name == "Degrade" else name


def _documented(name: str) -> Any:
    return run_report.report if name == "report" else getattr(lmms_medtasks, name)


def _entry(shown: str, value: Any) -> Iterator[str]:
    if inspect.isclass(value) and issubclass(value, Exception):
        yield from _text(inspect.getdoc(value) or "")
        return
    yield from ("```python", _signature(shown, value), "```", "")
    yield from _text(inspect.getdoc(value) or "")
    if inspect.isclass(value):
        yield from _members(value)


def _signature(shown: str, value: Any) -> str:
    """The call with defaults, without types (the text has them), a line a parameter where it is long."""
    found = inspect.signature(value)
    bare = [each.replace(annotation=each.empty) for each in found.parameters.values()]
    text = str(found.replace(parameters=bare, return_annotation=found.empty))
    text = re.sub(r"<factory>|=<[^>]+>", "", text)
    line = f"{shown}{text}"
    if len(line) <= 100:
        return line
    return f"{shown}(\n    " + ",\n    ".join(re.split(r", (?=[\w*])(?![^(\[]*[)\]].)", text[1:-1])) + ",\n)"


def _members(of: type) -> Iterator[str]:
    """Public properties and methods of a class, with the first paragraph of each."""
    yield ""
    for name, value in vars(of).items():
        about = inspect.getdoc(value)
        if name.startswith("_") or not about or not (inspect.isfunction(value) or hasattr(value, "__get__")):
            continue
        call = "" if not inspect.isfunction(value) else "(…)" if len(inspect.signature(value).parameters) > 1 else "()"
        yield f"- `{name}{call}`: {_inline(' '.join(about.split(chr(10) * 2)[0].split()))}"


def _text(docstring: str) -> Iterator[str]:
    """A docstring as Markdown: headings in bold, the items of a list as such, examples as code."""
    head, code = "", False
    for line in docstring.splitlines():
        title = line.rstrip(":")
        if not line.startswith(" ") and title in _HEADS and line.endswith(":"):
            head = title
            yield from (f"**{title}**", "")
            if title == "Example":
                code = True
                yield "```pycon"
            continue
        if not line.startswith(" ") and line and code:
            code = False
            yield "```"
        if code:
            yield _OURS.sub(r"mt.\1", re.sub(r"\s*# doctest:.*", "", line[4:]))
        elif head in ("Args", "Attributes", "Raises") and re.match(r"    \S", line):
            name, _, about = line.strip().partition(": ")
            yield f"- {', '.join(f'`{each}`' for each in name.split(', '))}: {_inline(about)}"
        elif head and line.startswith("    "):
            yield _inline(line[4:] if head in ("Returns", "Source", "Note") else line[6:])
        else:
            yield _inline(line)
    if code:
        yield "```"


def _inline(text: str) -> str:
    return _CODE.sub(r"`\1`", _ROLE.sub(r"`\1`", text))
