"""``lmms-medtasks fingerprint``: for maintainers, after a change of prompt, parser, hooks or degradations."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from lmms_medtasks.writing import write_text

_LINE = re.compile(r"^  fingerprint:.*\n(?:    .*\n)*", re.MULTILINE)


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command()(fingerprint)


def fingerprint(
    write: Annotated[bool, typer.Option("--write", help="Write the digests into the YAMLs.")] = False,
) -> None:
    """Compare the fingerprints recorded in our task YAMLs with the code as it is; exit with 1 if any is stale.

    A stale fingerprint means that scores may have moved: decide whether they did, bump metadata.version if so, add a
    line to CHANGELOG.md, then run this with --write.
    """
    stale = {path: actual for path, recorded, actual in recorded_and_actual() if recorded != actual}
    for path, actual in stale.items():
        typer.echo(f"{path.name}: {'written' if write else 'stale'}, now {actual}")
        if write:
            _write(path, actual)
    if not stale:
        typer.echo("All fingerprints are up to date.")
    elif not write:
        raise typer.Exit(1)


def recorded_and_actual() -> list[tuple[Path, dict[str, str] | None, dict[str, str]]]:
    """For each task YAML of ours: its path, the fingerprint it records, and the one its code has now."""
    from lmms_eval.utils import load_yaml_config

    from lmms_medtasks import fingerprints
    from lmms_medtasks.contribute.templates import binding
    from lmms_medtasks.harness.plugin import task_folder

    found = []
    for path in sorted(task_folder().rglob("*.yaml")):
        config = load_yaml_config(str(path))
        # Tasks on a template record none: every run computes theirs.
        if "task" in config and isinstance(config["task"], str) and binding.template_of(config) is None:
            recorded = (config.get("metadata") or {}).get("fingerprint")
            found.append((path, recorded, fingerprints.of_task(config)))
    return found


def _write(path: Path, actual: dict[str, str]) -> None:
    lines = "".join(f"    {key}: {value!r}\n" for key, value in actual.items())
    block = f"  fingerprint:\n{lines}"
    text = path.read_text("utf-8")
    text = _LINE.sub(block, text) if _LINE.search(text) else text.replace("metadata:\n", f"metadata:\n{block}", 1)
    write_text(path, text)
