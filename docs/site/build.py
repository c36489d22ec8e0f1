#!/usr/bin/env python3
"""Build the documentation's site, without network, and fail on a dead link.

Usage: python docs/site/build.py FOLDER        (pip install -e ".[docs]" first)
       python docs/site/build.py --write       renews docs/python.md, docs/notebook.md, docs/notebook.ipynb, and
                                               docs/contributing/settings.md and templates.md
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from pathlib import Path

import links
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
    "python.md": python_page.python_page,
}
"""Pages in docs that are kept in the repository too, for readers without the site."""

_LINK = re.compile(r"!?\[([^\]]*)\]\(([^)#\s]+)(?:#[^)]*)?\)")


def write_made() -> list[Path]:
    """Write the pages that are kept."""
    folder = ROOT / "docs"
    texts = {name: make() for name, make in MADE.items()} | notebook.made()
    for name, text in texts.items():
        (folder / name).write_text(text, "utf-8")
    return [folder / name for name in texts]


def stage(folder: Path) -> None:
    """Put all pages into ``folder``, where they have their places in the repository."""
    for path in _documents():
        target = folder / ("index.md" if path == ROOT / "README.md" else path.relative_to(ROOT))
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(_relinked(path), "utf-8")
    for path in sorted((ROOT / "docs").glob("*.png")):
        shutil.copy(path, folder / "docs" / path.name)
    for name, made in (("metrics", metric_pages.metric_pages()), ("degradations", pages.degradation_pages())):
        (folder / name).mkdir()
        for file, text in made.items():
            (folder / name / file).write_text(text, "utf-8")
    pictures.draw(folder / "degradations")


def _documents() -> list[Path]:
    found = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
    found += sorted((ROOT / "docs").rglob("*.md"))
    return found + sorted((ROOT / "task_configs").glob("*/README.md"))


def _relinked(path: Path) -> str:
    """A document without links to files that are no pages: what they are called stays."""
    staged = {document.resolve() for document in _documents()}
    pictured = {each.resolve() for each in (ROOT / "docs").glob("*.png")}

    def turned(match: re.Match[str]) -> str:
        target = match[2]
        leads = (path.parent / target).resolve()
        if "://" in target or target.startswith("mailto:") or leads in pictured:
            return match[0]
        if leads in staged:
            return match[0] if leads != ROOT / "README.md" else match[0].replace("README.md", "index.md")
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
        config = load_config(
            str(configuration),
            docs_dir=str(staged),
            site_dir=str(target.resolve()),
            theme={"name": "mkdocs", "highlightjs": False},
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


def _navigation() -> list[dict[str, object]]:
    suites = {registry.get(name).title: name for name in registry.names()}
    guides = sorted(path.stem for path in (ROOT / "docs").glob("*.md"))
    metrics = [{row["title"]: f"metrics/{metric_pages.slug(row['title'])}.md"} for row in metric_pages.entries()]
    names = [name.removesuffix(".md") for name in pages.degradation_pages() if name != "index.md"]
    examples = sorted(path.parent.name for path in (ROOT / "docs" / "examples").glob("*/README.md"))
    return [
        {"Start": "index.md"},
        {"Suites": [{title: f"task_configs/{name}/README.md"} for title, name in suites.items()]},
        {"Guides": [{name.capitalize(): f"docs/{name}.md"} for name in guides]},
        {"Metrics": [{"Overview": "metrics/index.md"}, *metrics]},
        {
            "Degradations": [
                {"Overview": "degradations/index.md"},
                *({name: f"degradations/{name}.md"} for name in names),
            ]
        },
        {
            "Contributing": [
                {"From an empty folder to a pull request": "CONTRIBUTING.md"},
                {"Tables": "docs/contributing/tables.md"},
                {"Templates": "docs/contributing/templates.md"},
                {"Settings": "docs/contributing/settings.md"},
                {"Worked examples": "docs/examples/README.md"},
                *({name: f"docs/examples/{name}/README.md"} for name in examples),
            ]
        },
        {"Changelog": "CHANGELOG.md"},
    ]


def main() -> None:
    if len(sys.argv) != 2 or sys.argv[1] in ("-h", "--help"):
        raise SystemExit(__doc__)
    if sys.argv[1] == "--write":
        for path in write_made():
            print(path.relative_to(ROOT))
        return
    build(Path(sys.argv[1]))
    print(f"{sys.argv[1]}: {len(list(Path(sys.argv[1]).rglob('*.html')))} pages, no dead link")


if __name__ == "__main__":
    main()
