"""Check that a task's version was raised if its prompt or data changed since a revision of its repository."""

from __future__ import annotations

import io
import subprocess
import tarfile
import tempfile
from pathlib import Path
from typing import Any

from lmms_medtasks.errors import UserError
from lmms_medtasks.suites import templates
from lmms_medtasks.task_yaml.chain import IncludeChain, is_file, read_include_chain
from lmms_medtasks.task_yaml.problems import ValidationLog

_NO_DATA = ("README.md", "prompts.json", templates.FILE)
"""Files that are compared elsewhere, or have no effect."""


def check_versions(folder: Path, chains: list[IncludeChain], base: str, log: ValidationLog) -> None:
    """Compare each task of ``folder`` with the revision ``base``; a task that did not exist there is new.

    Raises:
        UserError: the folder is in no git repository, or it has no such revision.
    """
    with tempfile.TemporaryDirectory() as name:
        before = Path(name)
        _extract_folder(folder, base, before)
        files = _changed_files(before, folder)
        for chain in chains:
            path = before / chain.path.name
            if is_file(path):
                _check_version(
                    chain, read_include_chain(path, before, ValidationLog()) or IncludeChain(path), files, base, log
                )
            else:
                log.told.append(f"{chain.path.stem}: new since {base}")


def _extract_folder(folder: Path, base: str, to: Path) -> None:
    """Write the folder as it was at ``base`` to ``to``; nothing if it did not exist."""
    _run_git(folder, "rev-parse", "--verify", "--quiet", f"{base}^{{commit}}")
    if _run_git(folder, "ls-tree", base, "./"):
        with tarfile.open(fileobj=io.BytesIO(_run_git(folder, "archive", base)), errorlevel=0) as content:
            content.extractall(to, filter="data")  # links that lead out are left out


def _changed_files(before: Path, folder: Path) -> list[str]:
    """The first changed or deleted file, and the number of others; [] if there is none.

    Compiled Python files are ignored: each run may make them anew.
    """
    names = [name.relative_to(before) for name in sorted(before.rglob("*")) if name.is_file()]
    names = [name for name in names if name.name not in _NO_DATA and name.suffix not in (".yaml", ".pyc")]
    names += [] if Path("adapter.py") in names or not (folder / "adapter.py").is_file() else [Path("adapter.py")]
    changed = [name.as_posix() for name in names if _read_content(before / name) != _read_content(folder / name)]
    return [changed[0] + (f" and {len(changed) - 1} more" if len(changed) > 1 else "")] if changed else []


def _check_version(chain: IncludeChain, before: IncludeChain, files: list[str], base: str, log: ValidationLog) -> None:
    keys = sorted({*before.entries, *chain.entries} - {"metadata", "task_alias", "tag"})
    changed = [key for key in keys if before.value(key) != chain.value(key)] + files
    new, old = _version_of(chain), _version_of(before)
    entry = chain.entries.get("metadata")
    problem = ""
    if changed and (new is None or old is None or new <= old):
        problem = (
            f"still the version at {base}, but {', '.join(changed)} changed since: raise it, and say why in the card's "
            "changelog"
        )
    elif old is not None and (new is None or new < old):
        problem = f"below the version at {base}, {old}"
    elif not changed and new != old:
        log.told.append(f"{chain.path.stem}: version {old} -> {new}, nothing else changed")
    if problem:
        log.add(entry.file if entry else chain.path, problem, key="metadata.version",
                line=entry.line if entry else None, value=str(new))  # fmt: skip


def _version_of(chain: IncludeChain) -> float | None:
    metadata: Any = chain.value("metadata")
    version = metadata.get("version") if isinstance(metadata, dict) else None
    return float(version) if isinstance(version, int | float) else None


def _read_content(path: Path) -> bytes | None:
    return path.read_bytes().replace(b"\r\n", b"\n") if path.is_file() else None


def _run_git(folder: Path, *arguments: str) -> bytes:
    try:
        done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, check=False)
    except FileNotFoundError as error:
        raise UserError("--base wants git, which is not installed.") from error
    if done.returncode:
        reason = (
            done.stderr.decode(errors="replace").strip() or f"no such revision: {arguments[-1].partition('^')[0]!r}"
        )
        raise UserError(f"--base: {reason} (in {folder})")
    return done.stdout
