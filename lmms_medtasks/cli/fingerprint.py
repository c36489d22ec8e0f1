"""``lmms-medtasks fingerprint``: for maintainers, after a change of prompt, parser, hooks or degradations."""

from __future__ import annotations

from typing import Annotated

import typer


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
    from lmms_medtasks.harness.recorded_fingerprints import record, recorded_and_actual

    stale = {path: actual for path, recorded, actual in recorded_and_actual() if recorded != actual}
    for path, actual in stale.items():
        typer.echo(f"{path.name}: {'written' if write else 'stale'}, now {actual}")
        if write:
            record(path, actual)
    if not stale:
        typer.echo("All fingerprints are up to date.")
    elif not write:
        raise typer.Exit(1)
