"""docs/notebook.md and docs/notebook.ipynb, made of docs/site/notebook_cells.txt by running its cells.

A cell is a block of Python. What its last line gives stands below it, as in a notebook; a figure as a picture in the
.ipynb, by its name in the .md.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

SOURCE = Path(__file__).with_name("notebook_cells.txt")
_CELL = re.compile(r"```python\n(.*?)```\n", re.DOTALL)
_OF_THIS_RUN = re.compile(r"^\d{4}-\d\d-\d\d \d\d:.*\n| at 0x[0-9A-Fa-f]+", re.MULTILINE)
"""Lines of the log, and addresses."""
_SETTINGS = {"MEDTASKS_DATA": "mini", "HF_HUB_OFFLINE": "1"}


class Cell(NamedTuple):
    """Prose, or code with what it gave: its last value, and that as plain text."""

    text: str
    is_code: bool
    value: Any = None
    shown: str = ""


def made() -> dict[str, str]:
    """File name in docs -> its text."""
    cells = list(run_cells())
    return {"notebook.md": markdown(cells), "notebook.ipynb": ipynb(cells)}


def run_cells() -> Iterator[Cell]:
    """Every piece of the source, its code run in one namespace, in an empty folder, on the mini data."""
    import pandas as pd

    own: dict[str, Any] = {"__name__": "__main__"}
    parts = _CELL.split(SOURCE.read_text("utf-8"))
    with tempfile.TemporaryDirectory() as folder, _within(folder), pd.option_context("display.width", 110):
        for number, text in enumerate(parts):
            if number % 2 == 0:
                if text.strip():
                    yield Cell(text.strip(), False)
                continue
            value, printed = _run(text, own)
            shown = printed + ("" if value is None else repr(value))
            yield Cell(text.rstrip(), True, value, _OF_THIS_RUN.sub("", shown).rstrip())


def _run(text: str, own: dict[str, Any]) -> tuple[Any, str]:
    """What the last line of a cell gives, None where it is no expression; and what was printed."""
    tree = ast.parse(text)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
        exec(compile(tree, "<cell>", "exec"), own)  # noqa: S102 (our own page)
        value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), own) if last else None  # noqa: S307
    return value, printed.getvalue()


@contextlib.contextmanager
def _within(folder: str) -> Iterator[None]:
    before, variables = os.getcwd(), {name: os.environ.get(name) for name in _SETTINGS}
    os.environ.update(_SETTINGS)
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
        for name, value in variables.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


def markdown(cells: list[Cell]) -> str:
    """The page: what a cell gives in a block of text below it."""
    lines = []
    for cell in cells:
        lines += [f"```python\n{cell.text}\n```" if cell.is_code else cell.text, ""]
        lines += [f"```text\n{cell.shown}\n```", ""] if cell.shown else []
    return "\n".join(lines).rstrip() + "\n"


def ipynb(cells: list[Cell]) -> str:
    """The notebook, as format 4.5: what a cell gives as text, and as HTML or a picture where it shows itself so."""
    found, count = [], 0
    for number, cell in enumerate(cells):
        count += cell.is_code
        about = {"id": f"cell-{number}", "metadata": {}, "source": cell.text.splitlines(keepends=True)}
        if not cell.is_code:
            found.append({"cell_type": "markdown", **about})
            continue
        output = {"output_type": "execute_result", "execution_count": count, "metadata": {}, "data": _data(cell)}
        outputs = [output] if cell.shown else []
        found.append({"cell_type": "code", "execution_count": count, "outputs": outputs, **about})
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    notebook = {"cells": found, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def _data(cell: Cell) -> dict[str, Any]:
    data: dict[str, Any] = {"text/plain": cell.shown.splitlines(keepends=True)}
    picture = _png(cell.value)
    if hasattr(cell.value, "_repr_svg_"):
        data["image/svg+xml"] = str(cell.value._repr_svg_()).splitlines(keepends=True)
    elif picture is not None:
        data["image/png"] = picture
    elif hasattr(cell.value, "_repr_html_") and len(page := str(cell.value._repr_html_())) < 20_000:
        data["text/html"] = page.splitlines(keepends=True)  # a report's page is too long for a repository
    return data


def _png(value: Any) -> str | None:
    """A figure or a picture as base64 of a PNG; None for anything else."""
    buffer = io.BytesIO()
    if hasattr(value, "savefig"):
        value.savefig(buffer, format="png", dpi=80, metadata={"Software": None})
    elif hasattr(value, "getbands"):
        value.save(buffer, "PNG")
    else:
        return None
    return base64.b64encode(buffer.getvalue()).decode()
