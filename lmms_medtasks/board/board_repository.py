"""The repository of a public leaderboard: its files, and the exact package that its workflows install.

The files are those below ``repository/``: ``gitignore`` and ``github`` get their dot, ``@NAME@`` its value.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from lmms_medtasks import __version__
from lmms_medtasks.errors import UserError
from lmms_medtasks.writing import write_text_atomically

_NAME = "lmms-medtasks"
_TEMPLATES = Path(__file__).with_name("repository")
_REQUIREMENTS = Path(__file__).with_name("requirements.txt")
_BUILDER = "setuptools>=68"
"""What builds the package where it is no wheel."""
_RUNNER = ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64")
"""Wheels that GitHub's Linux runners take, whatever machine this is."""
_ACCOUNT = re.compile(r"@?[A-Za-z0-9][A-Za-z0-9-]*(/[\w.-]+)?")


def write_repository(
    folder: Path, keepers: Sequence[str], title: str, package: str = ""
) -> tuple[list[str], list[str]]:
    """Write the files that ``folder`` lacks; what is there stays. Returns the names of both, written and kept.

    ``keepers``: accounts ("ada") or teams ("org/team") that approve changes. ``title``: of the board, a line.
    ``package``: what pip installs (a release, a wheel's address, ``git+https://…@TAG``); default: what is installed.
    Raises UserError for another form of these, and if pip can't find the package or what it needs.
    """
    for keeper in keepers:
        if not _ACCOUNT.fullmatch(keeper):
            raise UserError(f"--keeper {keeper!r} is no account: expected 'ada', or 'organisation/team'.")
    if not title.strip() or not title.isprintable():
        raise UserError(f"--title {title!r}: expected a line of text.")
    values = {
        "KEEPERS": " ".join(f"@{keeper.removeprefix('@')}" for keeper in keepers),
        "TITLE": title.strip(),
        "PYTHON": f"{sys.version_info.major}.{sys.version_info.minor}",
    }
    texts = {
        _target_name(path): _fill_in(path.read_text("utf-8"), values)
        for path in sorted(_TEMPLATES.rglob("*"))
        if path.is_file()
    }
    pinned = ("package.txt", "requirements.txt")
    if any(not (folder / name).exists() for name in pinned):
        texts.update(zip(pinned, (_pin_package(package or find_installed_package()), _pin_requirements()), strict=True))
    kept = [name for name in sorted({*texts, *pinned}) if (folder / name).exists()]
    written = [name for name in sorted(texts) if name not in kept]
    for name in written:
        write_text_atomically(folder / name, texts[name])
    return written, kept


def find_installed_package() -> str:
    """What pip takes to install this very package elsewhere.

    Raises UserError if it was installed from a folder or file of this machine.
    """
    origin = json.loads(metadata.distribution(_NAME).read_text("direct_url.json") or "{}")
    address = str(origin.get("url", ""))
    _check_reachable(address, f"{_NAME} was installed from")
    if "vcs_info" in origin:
        return f"{origin['vcs_info']['vcs']}+{address}@{origin['vcs_info']['commit_id']}"
    return address or f"{_NAME}=={__version__}"


def _check_reachable(address: str, where: str) -> None:
    if address.startswith("file:"):
        raise UserError(
            f"{where} {address}, where no workflow can get it. Say with --package what they install: a release "
            f"('{_NAME}==X.Y.Z'), the address of a release's wheel, or 'git+https://HOST/OWNER/{_NAME}@vX.Y.Z'."
        )


def _target_name(template: Path) -> str:
    parts = template.relative_to(_TEMPLATES).parts
    return "/".join((f".{parts[0]}" if parts[0] in ("github", "gitignore") else parts[0], *parts[1:]))


def _fill_in(text: str, values: Mapping[str, str]) -> str:
    return re.sub(r"@([A-Z]+)@", lambda found: values[found[1]], text)


def _pin_package(package: str) -> str:
    """The package as a requirement that names its bytes: by a digest, or a commit."""
    resolved = list(_resolve(["--no-deps", package]))
    if len(resolved) != 1 or resolved[0]["metadata"]["name"] != _NAME:
        names = ", ".join(each["metadata"]["name"] for each in resolved) or "nothing"
        raise UserError(f"--package {package!r} is {names}; expected {_NAME}.")
    version, source = resolved[0]["metadata"]["version"], resolved[0]["download_info"]
    if version != __version__:
        raise UserError(
            f"--package {package!r} is version {version}, and this command is of {__version__}. Install that version "
            "here, and run it again: what a board needs may differ."
        )
    _check_reachable(source["url"], f"--package {package!r} is")
    if "vcs_info" in source:
        pinned = f"{source['vcs_info']['vcs']}+{source['url']}@{source['vcs_info']['commit_id']}#egg={_NAME}"
    else:
        pinned = f"{source['url']}#sha256={source['archive_info']['hashes']['sha256']}"
    return f"# {_NAME} {version}, by its digest or commit\n{pinned}\n"


def _pin_requirements() -> str:
    """What checking and publishing need, each with its version and the digest of its wheel."""
    platforms = [word for platform in _RUNNER for word in ("--platform", platform)]
    with tempfile.TemporaryDirectory() as unused:
        arguments = ["--only-binary", ":all:", *platforms, "--target", unused, "-r", str(_REQUIREMENTS), _BUILDER]
        lines = [
            f"{each['metadata']['name']}=={each['metadata']['version']} "
            f"--hash=sha256:{each['download_info']['archive_info']['hashes']['sha256']}"
            for each in _resolve(arguments)
        ]
    head = "# What checking and publishing need on GitHub's Linux runners, in the Python of the workflows\n"
    return head + "".join(f"{line}\n" for line in sorted(lines, key=str.lower))


def _resolve(arguments: Sequence[str]) -> Iterator[dict[str, Any]]:
    """What pip would install: metadata and origin of each. Raises UserError with pip's complaint."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        command = [sys.executable, "-m", "pip", "--no-input", "install", "-q", "--dry-run", "--ignore-installed"]
        done = subprocess.run(
            [*command, "--report", str(report), *arguments], capture_output=True, text=True, check=False
        )
        if done.returncode:
            errors = re.findall(r"(?:ERROR|fatal): (.*)|(.*No module named pip)", done.stderr)
            complaint = "; ".join(dict.fromkeys("".join(each) for each in errors)) or done.stderr.strip()[-500:]
            if "from versions: " in complaint:
                raise UserError(
                    f"There is no such release there ({complaint}). Name one, or give --package an address."
                )
            raise UserError(
                f"pip could not find what the workflows install ({complaint}). It needs the network or an index, and "
                "pip 23 or newer in this environment (python -m ensurepip --upgrade)."
            )
        yield from json.loads(report.read_text("utf-8"))["install"]
