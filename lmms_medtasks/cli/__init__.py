"""The ``lmms-medtasks`` command: a thin layer over the library, a module a command."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line. A user's mistake ends with one message on stderr and status 2, never a traceback.

    So does a command that needs a package of ours that is not installed, where only a board is checked and published
    (``lmms_medtasks/board/requirements.txt``).
    """
    from lmms_medtasks import redacting
    from lmms_medtasks.cli.app import build_app
    from lmms_medtasks.errors import UserError
    from lmms_medtasks.visible_text import replace_invisible

    redacting.redact_streams(redacting.secrets_of_command(sys.argv[1:]))
    try:
        build_app()()
    except UserError as error:
        print(replace_invisible(f"lmms-medtasks: {error}"), file=sys.stderr)
        raise SystemExit(2) from None
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if not _is_required(package):
            raise
        print(
            f"lmms-medtasks: This command needs {package}, which is not installed here. Install everything that "
            "lmms-medtasks needs (pip install lmms-medtasks): this environment has a part of it.",
            file=sys.stderr,
        )
        raise SystemExit(2) from None


def _is_required(package: str) -> bool:
    """Whether a package that could not be imported is one that pip installs with ours."""
    import re
    from importlib import metadata

    try:
        requirements = metadata.requires("lmms-medtasks") or []
    except metadata.PackageNotFoundError:  # a copy of the source that is not installed
        return False
    names = {re.split(r"[^\w.-]", requirement)[0].replace("-", "_").lower() for requirement in requirements}
    return package.lower() in names
