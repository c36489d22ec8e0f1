"""The documentation's site: built without network, whole, and without dead links."""

from __future__ import annotations

import importlib
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from lmms_medtasks import degradations
from lmms_medtasks.harness.plugin import task_folder
from lmms_medtasks.suites.templates import measures

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "docs" / "site"
ENTRIES = yaml.safe_load((ROOT / "docs" / "metrics.yml").read_text("utf-8"))
DIRECTIONS = {"higher": "true", "lower": "false", "neither": "null"}


@pytest.fixture(scope="module")
def modules():
    sys.path.insert(0, str(SITE))
    try:
        import links
        import pages

        yield {"pages": pages, "links": links}
    finally:
        sys.path.remove(str(SITE))


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    pytest.importorskip("mkdocs", reason="pip install -e '.[docs]'")
    folder = tmp_path_factory.mktemp("site") / "site"
    # A proxy that leads nowhere: anything that went to the network would fail.
    blocked = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
    environment = {**os.environ, **blocked}
    done = subprocess.run(
        [sys.executable, str(SITE / "build.py"), str(folder)],
        env=environment, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "no dead link" in done.stdout
    return folder


def test_every_suite_metric_and_degradation_has_its_page(site, modules):
    for path in task_folder().glob("*/README.md"):
        assert (site / "task_configs" / path.parent.name / "index.html").is_file()
    for name in degradations.names():
        text = (site / "degradations" / f"{name}.html").read_text("utf-8")
        assert f'src="{name}.png"' in text and (site / "degradations" / f"{name}.png").is_file()
        assert "<th>Parameter</th>" in text
    for row in ENTRIES:
        assert (site / "metrics" / f"{modules['pages'].slug(row['title'])}.html").is_file()


def test_a_dead_link_is_found(tmp_path, modules):
    (tmp_path / "a.html").write_text('<a href="b.html#there">x</a><a href="#here">y</a><p id="here">', "utf-8")
    (tmp_path / "b.html").write_text('<h1 id="there">b</h1>', "utf-8")
    assert modules["links"].dead(tmp_path) == []
    (tmp_path / "b.html").write_text('<img src="none.png"><script src="https://example.org/x.js"></script>', "utf-8")
    assert modules["links"].dead(tmp_path) == ["a.html: b.html#there", "b.html: none.png"]
    assert modules["links"].outside(tmp_path) == ["b.html: script https://example.org/x.js"]


def listed() -> dict[str, set[str]]:
    """The metrics of all tasks and templates, each with the directions that YAMLs give it."""
    found: dict[str, set[str]] = {}
    pattern = re.compile(r"metric: ([a-z_0-9]+)\n\s+aggregation:.*\n\s+higher_is_better: (\w+)")
    texts = [path.read_text("utf-8") for path in task_folder().rglob("*yaml") if path.is_file()]
    for name, direction in (pair for text in texts for pair in pattern.findall(text)):
        found.setdefault(name, set()).add(direction)
    words = {True: "true", False: "false", None: "null"}
    for name, row in measures.metrics().items():
        found.setdefault(name, set()).add(words[row.higher_is_better])
    return found


@pytest.mark.parametrize(("name", "directions"), sorted(listed().items()))
def test_every_metric_is_explained_once_with_its_direction(name, directions):
    fitting = [row for row in ENTRIES if any(re.fullmatch(each, name) for each in row["metrics"])]
    assert len(fitting) == 1, [row["title"] for row in fitting]
    assert directions == {DIRECTIONS[fitting[0]["better"]]}


def test_no_explanation_is_of_a_metric_that_there_is_none_of():
    names = set(listed())
    for row in ENTRIES:
        for each in row["metrics"]:
            assert any(re.fullmatch(each, name) for name in names), each
        assert all(row[key] for key in ("definition", "formula", "source", "reading", "pitfalls"))


@pytest.mark.parametrize("dotted", sorted({dotted for entry in ENTRIES for dotted in entry["code"]}))
def test_the_code_of_a_metric_exists_and_says_what_it_does(dotted):
    """The pages show its docstring; the site itself is only built where its tools are installed."""
    module, _, name = dotted.rpartition(".")
    assert inspect.getdoc(getattr(importlib.import_module(module), name))


@pytest.mark.parametrize("name", ["settings", "templates"])
def test_the_pages_that_are_kept_are_fresh(name, modules):
    made = getattr(modules["pages"], f"{name}_page")()
    kept = (ROOT / "docs" / "contributing" / f"{name}.md").read_text("utf-8")
    assert made == kept, "python docs/site/build.py --write"
