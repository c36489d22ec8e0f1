"""docs/notebook.ipynb, made of docs/site/notebook_cells.txt by running its cells, and its page on the site.

A cell is a block of Python. What its last line gives stands below it, a figure as a picture.
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
KEPT = Path(__file__).resolve().parents[1] / "notebook.ipynb"
_CELL = re.compile(r"```python\n(.*?)```\n", re.DOTALL)
_OF_THIS_RUN = re.compile(r"^\d{4}-\d\d-\d\d \d\d:.*\n| at 0x[0-9A-Fa-f]+", re.MULTILINE)
"""Lines of the log, and addresses."""
_FIGURES = {"image/svg+xml", "image/png"}
_SETTINGS = {
    "MEDTASKS_DATA": "mini",
    "HF_HUB_OFFLINE": "1",
    "GIT_CEILING_DIRECTORIES": str(Path(__file__).resolve().parents[2]),  # what is not committed yet is not told
}


class Cell(NamedTuple):
    """Prose, or code with what it gave: its last value, and that as plain text."""

    text: str
    is_code: bool
    value: Any = None
    shown: str = ""


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


def page() -> dict[str, bytes]:
    """File name -> its contents: the kept notebook as a page, and its figures beside it."""
    lines, files = [], {}
    for cell in json.loads(KEPT.read_text("utf-8"))["cells"]:
        text = "".join(cell["source"])
        lines += [f"```python\n{text}\n```" if cell["cell_type"] == "code" else text, ""]
        for output in cell.get("outputs", ()):
            data = output["data"]
            if found := _FIGURES & set(data):
                [kind] = found
                name = f"notebook-{len(files) + 1}.{'svg' if 'svg' in kind else 'png'}"
                contents = "".join(data[kind])
                files[name] = contents.encode() if "svg" in kind else base64.b64decode(contents)
                lines += [f"![What the cell above gives]({name})", ""]
            else:
                lines += [f"```text\n{''.join(data['text/plain'])}\n```", ""]
    return {"notebook.md": ("\n".join(lines).rstrip() + "\n").encode(), **files}


def ipynb() -> str:
    """The notebook, as format 4.5: what a cell gives as text, and as HTML or a picture where it shows itself so."""
    found, count = [], 0
    for number, cell in enumerate(run_cells()):
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
    value = cell.value
    if hasattr(value, "_repr_svg_"):  # a chart of ours
        data["image/svg+xml"] = str(value._repr_svg_()).splitlines(keepends=True)
    elif hasattr(value, "getbands"):  # an image
        buffer = io.BytesIO()
        value.save(buffer, "PNG")
        data["image/png"] = base64.b64encode(buffer.getvalue()).decode()
    elif hasattr(value, "_repr_html_") and len(shown := str(value._repr_html_())) < 20_000:
        data["text/html"] = shown.splitlines(keepends=True)  # a report's page is too long for a repository
    return data
