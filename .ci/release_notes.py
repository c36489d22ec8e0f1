#!/usr/bin/env python3
"""Print the release notes of a tag: CHANGELOG.md's section of its version.

Usage: python .ci/release_notes.py v1.2.3

Fails where the tag is not vX.Y.Z, is not the version of the package, or has no section with text.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def release_notes(tag: str, root: Path = ROOT) -> str:
    """The section of ``tag`` without its heading; SystemExit with what is wrong."""
    found = re.fullmatch(r"v(\d+\.\d+\.\d+(?:(?:a|b|rc)\d+)?)", tag)
    if not found:
        raise SystemExit(f"The tag is {tag!r}, wanted vX.Y.Z, such as v1.2.3 or v1.2.3rc1.")
    package = (root / "lmms_medtasks" / "__init__.py").read_text("utf-8")
    version = re.search(r'^__version__ = "(.+)"$', package, re.MULTILINE)
    if version is None or version[1] != found[1]:
        said = version[1] if version else "none"
        raise SystemExit(
            f"The tag is {tag}, the version in lmms_medtasks/__init__.py is {said}: tag v{said}, or change it."
        )
    sections = re.split(r"^## \[(.+?)\].*$", (root / "CHANGELOG.md").read_text("utf-8"), flags=re.MULTILINE)
    texts = dict(zip(sections[1::2], sections[2::2], strict=True))
    text = re.sub(r"^\[[^\]]+\]: .*$", "", texts.get(found[1], ""), flags=re.MULTILINE).strip()
    if not text:
        raise SystemExit(
            f"CHANGELOG.md has no section [{found[1]}] with text. Rename [Unreleased] to [{found[1]}] - DATE."
        )
    return text + "\n"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    sys.stdout.write(release_notes(sys.argv[1]))
