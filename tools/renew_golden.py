"""Renews the golden records, or compares them with those of another commit. Run from the repository's root.

    python -m tools.renew_golden [SUITE ...]   record what is new, and each task whose metadata.version was raised;
                                               "degradations" is a suite, too, with the version of severity.yaml
    python -m tools.renew_golden --since main  fail where a record differs from the merge base's, and no version rose

A number that moves needs a higher ``metadata.version``: a task whose record differs at the recorded version is refused.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.metadata
import itertools
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lmms_medtasks.errors import UserError, unknown_name_error

FOLDER = Path("tests", "golden")
_ROOT = Path(__file__).resolve().parents[1]
_LIBRARIES = ("numba", "numpy", "pillow", "scipy")
"""Versions of these may move a grey level."""
_TOLERANCE = 1e-9
_WAY_OUT = (
    "Raise the version (metadata.version in the task's YAML; of degradations, that of degradations/severity.yaml), say "
    "in CHANGELOG.md what moved, then: python -m tools.renew_golden"
)
DEGRADATIONS = "degradations"
"""The name of the file whose records are of degradations, not of a suite's tasks."""

Records = dict[str, dict[str, Any]]
"""Task -> its golden record (:func:`tools.golden_records.record_of`) and the ``version`` that it was made at. Of
degradations: :func:`tools.golden_pixels.records`."""


def libraries() -> dict[str, str]:
    """The installed versions of the libraries that pixels depend on."""
    return {name: importlib.metadata.version(name) for name in _LIBRARIES}


def made(suite: str) -> Records:
    """The records as the code makes them now."""
    from lmms_medtasks.board import installed
    from tools import golden_pixels
    from tools.golden_records import TaskDefinitions, record_of

    if suite == DEGRADATIONS:
        return golden_pixels.records()
    definitions, found = TaskDefinitions(), {}
    for task in sorted(installed.installed_tasks()):
        known = installed.find_installed_task(task)
        if known and known.suite == suite:
            found[task] = {"version": known.version, **record_of(task, definitions)}
    return found


def written(records: Records, made_with: Mapping[str, str]) -> str:
    """The text of a file: a line a task and part, and a digest over all, so that no hand edits it unseen."""
    parts = [
        f' "{task}": {{\n' + ",\n".join(f"  {_json(name)}: {_json(each)}" for name, each in record.items()) + "\n }"
        for task, record in sorted(records.items())
    ]
    body = ",\n".join([f' "libraries": {_json(made_with)}', *parts])
    return f'{{\n "digest": "{_digest(records, made_with)}",\n{body}\n}}\n'


def read(text: str, where: str) -> tuple[Records, dict[str, str]]:
    """The records of a file's text, and the versions of libraries that they were made with.

    Raises UserError where the file was edited by hand.
    """
    try:
        records = json.loads(text)
        digest, made_with = records.pop("digest"), records.pop("libraries")
        edited = digest != _digest(records, made_with)
    except (ValueError, LookupError, AttributeError, TypeError):
        edited = True
    if edited:
        raise UserError(
            f"{where} is not as it was written: it was edited or merged by hand. Take it as it is at the merge base "
            f"(git checkout BASE -- {where}), then: python -m tools.renew_golden"
        )
    return records, made_with


def problems(recorded: Records, now: Records, with_pictures: bool = True) -> list[str]:
    """Where ``now`` is other than recorded, a sentence a task with the way out.

    ``with_pictures``: false where other versions of libraries may have moved a grey level.
    """
    found = []
    for task in sorted({*recorded, *now}):
        old, new = recorded.get(task), now.get(task)
        if old is None or new is None:
            found.append(f"{task}: {'has no golden record' if new else 'is there no more'}. Renew it.")
        elif old["version"] != new["version"]:
            found.append(f"{task}: recorded at version {old['version']}, is of version {new['version']}. Renew it.")
        elif parts := differences(old, new, with_pictures):
            found.append(f"{task}: at version {new['version']} other {'; '.join(parts)}. {_WAY_OUT}")
    return found


def differences(old: Mapping[str, Any], new: Mapping[str, Any], with_pictures: bool = True) -> list[str]:
    """What differs between two records of a task, the version apart: ``records (t3-01: A B against A A, …)``."""
    found = []
    for part in dict.fromkeys([*old, *new]):
        if part == "version" or (part == "pictures" and not with_pictures):
            continue
        one, other = old.get(part), new.get(part)
        if isinstance(one, dict) and isinstance(other, dict):
            moved = [name for name in dict.fromkeys([*one, *other]) if not _same(one.get(name), other.get(name))]
            if list(one) != list(other) and not moved:
                found.append(f"{part} (their order)")
            said = [f"{name}: {_moved(one.get(name), other.get(name))}" for name in moved[:2]]
            more = [f"and {len(moved) - 2} more"] if len(moved) > 2 else []
            found += [f"{part} ({', '.join([*said, *more])})"] if moved else []
        elif one != other:
            found.append(part)
    return found


def renew(suites: Sequence[str], root: Path = _ROOT) -> list[str]:
    """Write the files of these suites; what was refused, a sentence each: then nothing of that suite was written.

    Raises UserError where a file was edited by hand.
    """
    refused: list[str] = []
    for suite in suites:
        path = root / FOLDER / f"{suite}.json"
        content = path.read_text("utf-8", "replace") if path.is_file() else None
        recorded, made_with = ({}, {}) if content is None else read(content, str(FOLDER / path.name))
        now = made(suite)
        wrong = not_raised(recorded, now, made_with == libraries())
        refused += wrong
        if not wrong:
            path.write_text(written(now, libraries()), "utf-8")
    return refused


def not_raised(old: Records, new: Records, with_pictures: bool = True) -> list[str]:
    """The tasks of both whose record differs though the version is not higher, a sentence each."""
    found = []
    for task in sorted(old.keys() & new.keys()):
        # What was recorded of no version moved in none.
        one, other = old[task], {name: each for name, each in new[task].items() if name in old[task]}
        raised = _number(other["version"]) > _number(one["version"])
        if not raised and (parts := differences(one, other, with_pictures)):
            said = f"{task}: version {other['version']}, recorded at {one['version']}, and other {'; '.join(parts)}."
            found.append(f"{said} {_WAY_OUT}")
    return found


def since(base: str, root: Path = _ROOT) -> list[str]:
    """What the golden files of ``root`` have other than at the merge base with ``base`` without a higher version."""
    start = _git(root, "merge-base", base, "HEAD").strip()
    found = []
    for path in map(Path, _git(root, "ls-tree", "--name-only", start, f"{FOLDER.as_posix()}/").split()):
        if path.suffix == ".json" and (root / path).is_file():
            old, old_with = read(_git(root, "show", f"{start}:{path.as_posix()}"), f"{path} at {start[:12]}")
            new, new_with = read((root / path).read_text("utf-8", "replace"), str(path))
            found += not_raised(old, new, old_with == new_with)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suites", nargs="*", metavar="SUITE", help="all unless given")
    parser.add_argument("--since", metavar="REF", help="write nothing; compare with the merge base of REF and HEAD")
    given = parser.parse_args(arguments)
    try:
        if given.since:  # without the package's requirements
            said = since(given.since)
        else:
            with tempfile.TemporaryDirectory() as home:
                os.environ["MEDTASKS_HOME"] = home  # replies that no log may hold are kept there
                said = renew(_chosen(given.suites))
    except UserError as error:
        said = [str(error)]
    print("\n".join(said) or "All golden records fit their versions.", file=sys.stderr if said else sys.stdout)
    return int(bool(said))


def _chosen(suites: Sequence[str]) -> Sequence[str]:
    from lmms_medtasks.suites import registry

    known = [*registry.names(), DEGRADATIONS]
    for suite in suites:
        if suite not in known:
            raise unknown_name_error("suite", suite, known, "the golden records")
    return suites or known


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, check=False)
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise UserError(f"git {' '.join(arguments)} failed: {said} Fetch the whole history first.")
    return done.stdout.decode("utf-8", "replace")  # what was no text has another digest then


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)
    return bool(one == other)


def _moved(one: Any, other: Any) -> str:
    """What differs first of two texts, which may say what is read of each reply."""
    words = [str(each).split() for each in (one, other)]
    was, now = next(((was, now) for was, now in itertools.zip_longest(*words) if was != now), (one, other))
    return f"{was} became {now}"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _digest(records: Records, made_with: Mapping[str, str]) -> str:
    return hashlib.sha256(_json([made_with, records]).encode()).hexdigest()[:16]


if __name__ == "__main__":
    sys.exit(main())
