"""docs/citing.md: CITATION.cff as BibTeX."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

CITATION = Path(__file__).resolve().parents[2] / "CITATION.cff"


def citation() -> dict[str, Any]:
    """CITATION.cff."""
    found: dict[str, Any] = yaml.safe_load(CITATION.read_text("utf-8"))
    return found


def citing_page() -> str:
    """docs/citing.md."""
    cited = citation()
    lines = [
        "# How to cite",
        "",
        "Cite this package, and the paper of each benchmark that you report. State the data (full, or which",
    ]
    lines += [
        "part), the judge and the versions of package and tasks: the result file has them all. This page is made from"
    ]
    lines += ["[CITATION.cff](../CITATION.cff) by `python docs/site/build.py --write`.", ""]
    lines += ["## This package", "", "```bibtex", *_software(cited), "```", ""]
    for reference in cited["references"]:
        lines += [f"## {reference['abbreviation']}", "", "```bibtex", *_paper(reference), "```", ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _software(cited: Mapping[str, Any]) -> Iterator[str]:
    fields = {"title": cited["title"], "author": "{" + cited["authors"][0]["name"] + "}"}
    fields |= {"year": str(cited["date-released"])[:4], "version": cited["version"]}
    yield from _entry("software", "lmms_medtasks", fields)


def _paper(reference: Mapping[str, Any]) -> Iterator[str]:
    authors = " and ".join(f"{each['family-names']}, {each['given-names']}" for each in reference["authors"])
    [arxiv] = [each["value"].removeprefix("arXiv:") for each in reference["identifiers"]]
    fields = {"title": "{" + reference["title"] + "}", "author": authors, "year": str(reference["year"])}
    fields |= {"eprint": arxiv, "archivePrefix": "arXiv", "url": reference["url"]}
    if "conference" in reference:
        fields["note"] = reference["conference"]["name"]
    first = reference["authors"][0]["family-names"].lower()
    key = f"{first}{reference['year']}{re.sub('[^a-z]', '', reference['abbreviation'].lower())}"
    yield from _entry("misc", key, fields)


def _entry(kind: str, key: str, fields: Mapping[str, str]) -> Iterator[str]:
    yield f"@{kind}{{{key},"
    yield from (f"  {name} = {{{value}}}," for name, value in fields.items())
    yield "}"
