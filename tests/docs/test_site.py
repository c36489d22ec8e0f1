"""The documentation's site: built without network, whole, and without dead links."""

from __future__ import annotations

import functools
import importlib
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from lmms_medtasks import degradations, folders
from lmms_medtasks.errors import UserError
from lmms_medtasks.suites import estimates, registry
from lmms_medtasks.suites.templates import measures

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "docs" / "site"
GROUPS = yaml.safe_load((ROOT / "docs" / "metrics.yml").read_text("utf-8"))
ENTRIES = [row for group in GROUPS for row in group["metrics"]]


@pytest.fixture(scope="module")
def modules():
    sys.path.insert(0, str(SITE))
    try:
        import citing_page
        import links
        import made_blocks
        import metric_pages
        import pages
        import python_page

        yield {
            "pages": pages,
            "links": links,
            "metrics": metric_pages,
            "python": python_page,
            "citing": citing_page,
            "blocks": made_blocks,
        }
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
    for path in folders.suites_root().glob("*/README.md"):
        assert (site / "task_configs" / path.parent.name / "index.html").is_file()
    for name in degradations.names():
        text = (site / "degradations" / f"{name}.html").read_text("utf-8")
        assert f'src="{name}.png"' in text and (site / "degradations" / f"{name}.png").is_file()
        assert "<th>Parameter</th>" in text
    for group in GROUPS:
        text = (site / "metrics" / f"{modules['metrics'].slug(group['group'])}.html").read_text("utf-8")
        assert all(f'id="{modules["metrics"].slug(row["title"])}"' in text for row in group["metrics"])


def test_the_site_starts_with_the_guides_by_reader(site):
    text = (site / "index.html").read_text("utf-8")
    assert "<title>lmms-medtasks</title>" in text
    assert 'href="docs/run_a_model.html"' in text and 'href="CONTRIBUTING.html"' in text
    assert 'src="docs/report.png"' in (site / "about.html").read_text("utf-8")


def test_the_first_page_of_the_documentation_names_every_guide():
    named = set(re.findall(r"\]\(([\w/.]+)\)", (ROOT / "docs" / "README.md").read_text("utf-8")))
    guides = [*(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "start").glob("*.md")]
    assert {str(path.relative_to(ROOT / "docs")) for path in guides} - {"README.md"} <= named


def test_documents_that_the_repository_names_are_there():
    """A guide that got another name is found wherever code, cards or messages name it."""
    folders = ("lmms_medtasks", "task_configs", "judges", "degradations", "tools", "benchmarks", "tests", ".github")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in NAMING]
    assert len(files) > 300
    missing = {
        (str(path.relative_to(ROOT)), name)
        for path in files
        for name in re.findall(r"(?<![\w/.-])(?:\.\./)*(docs/[\w/]+\.md)", path.read_text("utf-8"))
        if not (ROOT / name).is_file()
    }
    assert missing == set()


def test_a_dead_link_is_found(tmp_path, modules):
    (tmp_path / "a.html").write_text('<a href="b.html#there">x</a><a href="#here">y</a><p id="here">', "utf-8")
    (tmp_path / "b.html").write_text('<h1 id="there">b</h1>', "utf-8")
    assert modules["links"].dead(tmp_path) == []
    (tmp_path / "b.html").write_text('<img src="none.png"><script src="https://example.org/x.js"></script>', "utf-8")
    assert modules["links"].dead(tmp_path) == ["a.html: b.html#there", "b.html: none.png"]
    assert modules["links"].outside(tmp_path) == ["b.html: script https://example.org/x.js"]


NAMING = (".py", ".yml", ".yaml", ".html", ".md", ".js")
BENCHMARKS = [registry.get(name) for name in registry.names()]


def test_every_declared_metric_is_explained_once(modules):
    pages = modules["metrics"]
    declared = pages.declared_metrics()
    assert {each.name for each in declared} >= set(measures.template_metrics()) | {
        m.name for s in BENCHMARKS for m in s.metrics
    }
    for metric in declared:
        assert len([row for row in ENTRIES if metric in pages.of_entry(row)]) == 1, (metric.suite, metric.name)


@pytest.mark.parametrize("row", ENTRIES, ids=lambda row: row["title"])
def test_an_explanation_is_whole_and_of_metrics_that_there_are(row, modules):
    for pattern in row["names"]:
        assert any(modules["metrics"].matches(pattern, each) for each in modules["metrics"].declared_metrics()), pattern
    wanted = {"title", "names", "definition", "formula", "source", "reading", "pitfalls"}
    assert wanted <= set(row) <= wanted | {"code", "range", "differs"}
    assert all(row.values())


@pytest.mark.parametrize("row", ENTRIES, ids=lambda row: row["title"])
def test_each_metric_has_a_range_and_the_tasks_that_print_it(row, modules):
    for metric in modules["metrics"].of_entry(row):
        assert row.get("range") or metric.range
        assert metric.tasks


def test_the_range_of_a_metric_follows_from_its_declaration(modules):
    ranges = {(each.suite, each.name): each.range for each in modules["metrics"].declared_metrics()}
    assert ranges["medq_deg", "accuracy_l1"] == "0 to 1"
    assert ranges["medq_deg", "drop_l1"] == "-1 to 1"
    assert ranges["sure_vqa", "open_iid"] == "1 to 5 stars"
    assert ranges["sure_vqa", "open_rr"] == "0 or more, a ratio"
    assert ranges["med_cmr", "total"] == "0 to 100"
    assert ranges["med_cmr", "failed_requests"] == "a count"


@pytest.mark.parametrize("row", ENTRIES, ids=lambda row: row["title"])
def test_what_the_page_of_a_metric_shows_of_the_code_exists_and_is_written_once(row, modules):
    """The page shows docstrings; what follows from the declarations stands in no list."""
    declared = {metric.code for metric in modules["metrics"].of_entry(row)} - {""}
    for dotted in {*declared, *row.get("code", ())}:
        module, _, name = dotted.rpartition(".")
        assert inspect.getdoc(getattr(importlib.import_module(module), name))
    assert not declared & set(row.get("code", ()))


@pytest.mark.parametrize("suite", BENCHMARKS, ids=lambda suite: suite.name)
def test_the_pages_have_every_metric_of_a_benchmark_as_it_is_declared(suite, modules):
    rows = [line for page in modules["metrics"].metric_pages().values() for line in page.splitlines()]
    words = {True: "higher", False: "lower", None: "no direction"}
    for metric in suite.metrics:
        (row,) = [row for row in rows if f"`{metric.name}`" in row and f"| [{suite.title}](" in row]
        assert f"| {words[metric.higher_is_better]} | `" in row
        assert metric.about in row and "| | " not in row


def test_the_code_of_a_metric_is_its_function_or_class(modules):
    def public(rows):
        return None

    code_of = modules["metrics"].code_of
    assert code_of(estimates.Macro()) == "lmms_medtasks.suites.estimates.Macro"
    shared = estimates.Count(function=functools.partial(measures.shared_images))
    assert code_of(shared) == "lmms_medtasks.suites.templates.measures.shared_images"
    # What can't be looked up by its name: built-in, nested, private.
    for function in (len, public, measures._confidence_draw):
        assert code_of(estimates.Count(function=function)) == ""


def test_the_readme_has_a_row_for_every_benchmark():
    cards = re.findall(
        r"^\|.*\]\(task_configs/(\w+)/README\.md\) \|$", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE
    )
    assert sorted(cards) == list(registry.names())


def test_what_pages_and_cards_say_of_declarations_and_data_is_fresh(modules):
    made = modules["blocks"].made()
    assert len(made) == len(BENCHMARKS) + 2
    stale = [str(path.relative_to(ROOT)) for path, text in made.items() if path.read_text("utf-8") != text]
    assert stale == [], "python docs/site/build.py --write"


def test_no_number_of_the_runners_is_written_by_hand():
    text = (ROOT / "docs" / "choose_a_runner.md").read_text("utf-8")
    by_hand = re.sub(r"<!-- Made by.*?<!-- End", "", text, flags=re.DOTALL)
    number = re.compile(r"JPEG (?:quality )?\d+|multiples of \d+|\d+ MB|lmms-eval \d|(?:twelve|\d+) runners")
    assert number.search(text) and not number.search(by_hand)


def test_a_card_without_a_mark_is_told(tmp_path, modules):
    card = tmp_path / "README.md"
    card.write_text("# Card\n<!-- Made by docs/site/build.py: x -->\n", "utf-8")
    with pytest.raises(UserError, match="expected the lines .*End: x"):
        modules["blocks"].with_part(card, "x", iter(["line"]))


@pytest.mark.parametrize("name", ["settings", "templates"])
def test_the_pages_that_are_kept_are_fresh(name, modules):
    made = getattr(modules["pages"], f"{name}_page")()
    kept = (ROOT / "docs" / "contributing" / f"{name}.md").read_text("utf-8")
    assert made == kept, "python docs/site/build.py --write"


def test_the_reference_of_the_python_interface_is_fresh_and_has_every_name(modules):
    import lmms_medtasks

    page = modules["python"].names_page()
    assert page == (ROOT / "docs" / "python.md").read_text("utf-8"), "python docs/site/build.py --write"
    named = [name for _, names in modules["python"].CHAPTERS for name in names]
    assert sorted([*named, "__version__"]) == dir(lmms_medtasks)
    whole = modules["python"].python_page()
    assert all(f"| `mt.{name}` | " in page and f"mt.{name}(" in whole for name in named if name != "UserError")


def test_the_citation_is_of_this_version_and_has_a_paper_for_each_suite(modules):
    import lmms_medtasks

    cited = modules["citing"].citation()
    assert cited["version"] == lmms_medtasks.__version__
    assert sorted(each["abbreviation"] for each in cited["references"]) == sorted(each.title for each in BENCHMARKS)
    keys = {"cff-version", "message", "type", "title", "abstract", "authors", "version", "date-released", "license"}
    assert set(cited) == keys | {"keywords", "references"}


@pytest.mark.parametrize("suite", BENCHMARKS, ids=lambda suite: suite.name)
def test_a_paper_is_cited_as_its_card_names_it(suite, modules):
    [paper] = [each for each in modules["citing"].citation()["references"] if each["abbreviation"] == suite.title]
    card = (registry.folder_of(suite.name) / "README.md").read_text("utf-8")
    row = re.search(r"^\| Paper \| (.*) \|$", card, re.MULTILINE)[1]
    assert f"*{paper['title']}*" in row
    [identifier] = paper["identifiers"]
    assert identifier["value"] in row and paper["url"].endswith(identifier["value"].removeprefix("arXiv:"))


def test_the_page_on_citing_is_fresh(modules):
    page = modules["citing"].citing_page()
    assert page == (ROOT / "docs" / "citing.md").read_text("utf-8"), "python docs/site/build.py --write"
    assert page.count("@misc{") == len(BENCHMARKS)
