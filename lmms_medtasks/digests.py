"""Digests of everything that determines a task's numbers: the package's files, the prompt, custom code.

Results carry them, to distinguish runs of modified code. The golden records of the tests ensure that an unmodified
release keeps its numbers as long as ``metadata.version`` stays.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import importlib.metadata
import importlib.util
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from lmms_medtasks import prompt_files

OF_PACKAGE = ("package", "degradations")
"""The digests that may change with the package's version although no number changes."""

_PACKAGE = "lmms_medtasks"
_DEGRADATIONS = f"{_PACKAGE}/degradations/"
_APART = ("degradations", "judges", "task_configs")
"""Subpackages whose folders lie elsewhere in a working copy."""

_NO_NUMBERS = {"agreement", "board", "checks", "cli", "contribute", "interface", "judge_checks", "reference", "report"}
"""Folders that are used only after scoring."""

_ENDINGS = (".json", ".py", ".txt", ".yaml", ".yml", "_yaml")
_DIGITS = 12


def content_digest(*contents: bytes) -> str:
    """The first 12 hexadecimal digits of a SHA-256 over ``contents``, each with its length."""
    total = hashlib.sha256()
    for content in contents:
        total.update(len(content).to_bytes(8, "little") + content)
    return total.hexdigest()[:_DIGITS]


def of_files(files: Iterable[Path]) -> str:
    """Digest of the names and contents of files."""
    return content_digest(*(content for file in files for content in (file.name.encode(), file.read_bytes())))


def of_settings(settings: Mapping[str, Any]) -> dict[str, str]:
    """Digests of the package and, by a task's ``settings``, of prompt and degradations. UserError: no prompt."""
    digests = {"package": package_digest()}
    if settings.get("prompt"):
        digests["prompt"] = content_digest(prompt_files.prompt_text(str(settings["prompt"])).encode())
    if not settings.get("rendered") and settings.get("severity") != 0:
        digests["degradations"] = degraded_pixels()
    return dict(sorted(digests.items()))


def of_package(found: Mapping[str, str]) -> dict[str, str]:
    """The digests that may change with the package's version although no number changes."""
    return {name: value for name, value in found.items() if name in OF_PACKAGE}


def of_task(found: Mapping[str, str]) -> dict[str, str]:
    """The digests that stay the same as long as the task's version does."""
    return {name: value for name, value in found.items() if name not in OF_PACKAGE}


@functools.cache
def package_digest() -> str:
    """Digest of all code and data that can change a number; equal for a wheel and a working copy."""
    return _of_package("")


@functools.cache
def degradations_digest() -> str:
    """Digest of the degradations' code and data, for cached degraded images."""
    return _of_package(_DEGRADATIONS)


@functools.cache
def degraded_pixels() -> str:
    """Digest of how degraded images look: of the version of severity.yaml, or of the code if it was modified."""
    if any(name.startswith(_DEGRADATIONS) for name in _changed_files() or ()):
        return degradations_digest()
    path = dict(_number_files())[f"{_DEGRADATIONS}severity.yaml"]
    version = next(line for line in path.read_text("utf-8").splitlines() if line.startswith("version:"))
    return content_digest(version.encode())


def is_modified() -> bool | None:
    """Whether such a file differs from the installed one, or git's in a working copy; None if unknown."""
    changed = _changed_files()
    return None if changed is None else bool(changed)


@functools.cache
def _changed_files() -> frozenset[str] | None:
    try:
        files = importlib.metadata.files("lmms-medtasks") or ()
    except importlib.metadata.PackageNotFoundError:
        files = ()
    recorded = {file.as_posix(): file.hash.value for file in files if file.hash and _can_move_numbers(file.as_posix())}
    recorded_as = _recorded_as
    if not recorded:
        recorded, recorded_as = _committed_digests(), _committed_as
    if not recorded:
        return None
    now = {name: recorded_as(path) for name, path in _number_files()}
    return frozenset(name for name, _ in recorded.items() ^ now.items())


def _committed_digests() -> dict[str, str]:
    """Git's digests of such files in the checked-out commit; {} if this is not our working copy."""
    command = ["git", "-C", str(Path(__file__).parent), "ls-tree", "-rz", "--full-tree", "HEAD", _PACKAGE, *_APART]
    try:
        listing = subprocess.run(command, capture_output=True, check=True).stdout.decode()
    except (OSError, subprocess.CalledProcessError):
        return {}
    rows = (row.partition("\t") for row in listing.split("\0") if row)
    named_rows = ((name if name.startswith(f"{_PACKAGE}/") else f"{_PACKAGE}/{name}", about) for about, _, name in rows)
    return {name: about.split()[2] for name, about in named_rows if _can_move_numbers(name)}


def _of_package(start: str) -> str:
    files = (entry for entry in _number_files() if entry[0].startswith(start))
    return content_digest(*(content for name, path in files for content in (name.encode(), path.read_bytes())))


def _number_files() -> list[tuple[str, Path]]:
    folders = {_PACKAGE: Path(__file__).parent}
    for name in _APART:
        spec = importlib.util.find_spec(f"{_PACKAGE}.{name}")
        if spec and spec.origin:
            folders[f"{_PACKAGE}/{name}"] = Path(spec.origin).parent
    return sorted(
        {name: path for start, folder in folders.items() for name, path in _files_in_folder(start, folder)}.items()
    )


def _files_in_folder(start: str, folder: Path) -> Iterator[tuple[str, Path]]:
    for path in folder.rglob("*"):
        name = f"{start}/{path.relative_to(folder).as_posix()}"
        if _can_move_numbers(name) and path.is_file():
            yield name, path


def _can_move_numbers(name: str) -> bool:
    *folders, file = name.split("/")
    is_ours = folders[:1] == [_PACKAGE] and file.endswith(_ENDINGS)
    return is_ours and not (_NO_NUMBERS & {*folders} or file.startswith(("report_", "report.")))


def _recorded_as(path: Path) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(path.read_bytes()).digest()).rstrip(b"=").decode()


def _committed_as(path: Path) -> str:
    content = path.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
