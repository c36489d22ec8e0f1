#!/usr/bin/env python3
"""Build the documentation's site, without network, and fail on a dead link.

Usage: python docs/site/build.py FOLDER        (pip install -e ".[docs]" first)
       python docs/site/build.py --write       renews docs/python.md, docs/citing.md, docs/notebook.ipynb,
                                               docs/contributing/settings.md and templates.md, and what is
                                               between marks in docs/choose_a_runner.md,
                                               docs/intervals_and_tests.md and the cards
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import citing_page
import links
import made_blocks
import metric_pages
import notebook
import pages
import pictures
import python_page

from lmms_medtasks.suites import registry

ROOT = pages.ROOT
MADE = {
    "contributing/settings.md": pages.settings_page,
    "contributing/templates.md": pages.templates_page,
    "python.md": python_page.names_page,
    "citing.md": citing_page.citing_page,
}
"""Pages in docs that are kept in the repository too, for readers without the site."""

GUIDE = ROOT / "docs" / "README.md"
"""The site's first page. Its sections and links are the site's navigation."""
PLACES = {GUIDE: "index.md", ROOT / "README.md": "about.md"}
"""Documents that have another place on the site than in the repository."""

_MAIN = """{% extends "base.html" %}
{% block extrahead %}<style id="hljs-light"></style><style id="hljs-dark"></style>{% endblock %}
"""
"""The theme's script for dark mode switches style sheets of highlight.js, which would be loaded from elsewhere."""

_LINK = re.compile(r"!?\[([^\]]*)\]\(([^)#\s]+)(?:#[^)]*)?\)")


def write_made() -> list[Path]:
    """Write the pages that are kept."""
    folder = ROOT / "docs"
    pages_of = {folder / name: make() for name, make in MADE.items()}
    pages_of |= {notebook.KEPT: notebook.ipynb(), **made_blocks.made()}
    for path, text in pages_of.items():
        path.write_text(text, "utf-8")
    return list(pages_of)


def stage(folder: Path) -> None:
    """Put all pages into ``folder``, where they have their places in the repository but for :data:`PLACES`."""
    places = {path.resolve(): _place(path) for path in _documents()}
    for path in _documents():
        target = folder / _place(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(_relinked(path, places), "utf-8")
    for path in _files():
        shutil.copy(path, folder / "docs" / path.name)
    for name, made in (("metrics", metric_pages.metric_pages()), ("degradations", pages.degradation_pages())):
        (folder / name).mkdir()
        for file, text in made.items():
            (folder / name / file).write_text(text, "utf-8")
    (folder / "python_reference.md").write_text(python_page.python_page(), "utf-8")
    for file, contents in notebook.page().items():
        (folder / "docs" / file).write_bytes(contents)
    pictures.draw(folder / "degradations")


def _documents() -> list[Path]:
    found = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
    found += sorted((ROOT / "docs").rglob("*.md"))
    found += [ROOT / "benchmarks" / "results" / f"{name}.md" for name in ("gpu", "inference", "reading")]
    return found + sorted((ROOT / "task_configs").glob("*/README.md"))


def _files() -> list[Path]:
    """What lies beside the pages of docs and is no page."""
    return sorted(path for ending in ("png", "svg", "ipynb") for path in (ROOT / "docs").glob(f"*.{ending}"))


def _place(path: Path) -> str:
    return PLACES.get(path) or str(path.relative_to(ROOT))


def _relinked(path: Path, places: Mapping[Path, str]) -> str:
    """A document whose links lead to the pages' places; of a link to a file that is no page its text stays."""
    known = {**places, **{each.resolve(): _place(each) for each in _files()}}

    def turned(match: re.Match[str]) -> str:
        target = match[2]
        if "://" in target or target.startswith("mailto:"):
            return match[0]
        leads = (path.parent / target).resolve()
        if leads in known:
            there = os.path.relpath(known[leads], Path(_place(path)).parent)
            return match[0].replace(f"]({target}", f"]({there}")
        if not leads.exists():
            raise SystemExit(f"{path.relative_to(ROOT)}: dead link {target!r}")
        return match[1]

    return _LINK.sub(turned, path.read_text("utf-8"))


def build(target: Path) -> None:
    """Build the site into ``target``; SystemExit with what is wrong with it."""
    from mkdocs.commands.build import build as mkdocs_build
    from mkdocs.config import load_config

    with tempfile.TemporaryDirectory() as work:
        staged = Path(work) / "pages"
        staged.mkdir()
        stage(staged)
        configuration = Path(work) / "mkdocs.yml"
        configuration.write_text("site_name: lmms-medtasks\n", "utf-8")
        theme = Path(work) / "theme"
        theme.mkdir()
        (theme / "main.html").write_text(_MAIN, "utf-8")
        config = load_config(
            str(configuration),
            docs_dir=str(staged),
            site_dir=str(target.resolve()),
            theme={"name": "mkdocs", "custom_dir": str(theme), "highlightjs": False, "color_mode": "auto"},
            plugins=["search"],
            use_directory_urls=False,
            nav=_navigation(),
            strict=True,
        )
        mkdocs_build(config)
    # mkdocs writes a page for addresses that there are none of, whose links start at the server's root.
    (target / "404.html").unlink(missing_ok=True)
    wrong = [f"dead link: {each}" for each in links.dead(target)]
    wrong += [f"loaded from elsewhere: {each}" for each in links.outside(target)]
    if wrong:
        raise SystemExit("\n".join(wrong))


def guides() -> Iterator[tuple[str, str, Path]]:
    """(section, title, document) for every page that the first page names, in its order, each once."""
    section, seen = "", set()
    for line in GUIDE.read_text("utf-8").splitlines():
        section = line.removeprefix("## ") if line.startswith("## ") else section
        if match := re.match(r"- \[([^\]]+)\]\(([^)]+\.md)\)", line):
            path = (GUIDE.parent / match[2]).resolve()
            if path not in seen:
                yield section, match[1], path
            seen.add(path)


def _navigation() -> list[dict[str, object]]:
    sections: dict[str, list[dict[str, str]]] = {}
    for section, title, path in guides():
        sections.setdefault(section, []).append({title: _place(path)})
    suites = {registry.get(name).title: name for name in registry.names()}
    metrics = [{group: f"metrics/{metric_pages.slug(group)}.md"} for group in metric_pages.group_titles()]
    names = [name.removesuffix(".md") for name in pages.degradation_pages() if name != "index.md"]
    return [
        {"Start": _place(GUIDE)},
        *({section[2:3].upper() + section[3:]: listed} for section, listed in sections.items()),
        {"Benchmarks": [{title: f"task_configs/{name}/README.md"} for title, name in suites.items()]},
        {"Python": [{"Reference": "python_reference.md"}, {"Notebook": "docs/notebook.md"}]},
        {"Metrics": [{"Overview": "metrics/index.md"}, *metrics]},
        {
            "Degradations": [
                {"Overview": "degradations/index.md"},
                *({name: f"degradations/{name}.md"} for name in names),
            ]
        },
        {"About": _place(ROOT / "README.md")},
    ]


def main() -> None:
    if len(sys.argv) != 2 or sys.argv[1] in ("-h", "--help"):
        raise SystemExit(__doc__)
    if sys.argv[1] == "--write":
        for path in write_made():
            print(path.relative_to(ROOT))
        return
    if importlib.util.find_spec("mkdocs") is None:
        raise SystemExit('The site needs mkdocs: pip install -e ".[docs]"')
    build(Path(sys.argv[1]))
    print(f"{sys.argv[1]}: {len(list(Path(sys.argv[1]).rglob('*.html')))} pages, no dead link")


if __name__ == "__main__":
    main()
