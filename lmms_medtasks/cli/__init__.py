"""The ``lmms-medtasks`` command: a thin layer over the library, a module a command."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line. A user's mistake ends with one message on stderr and status 2, never a traceback."""
    from lmms_medtasks.cli.app import build
    from lmms_medtasks.errors import UserError
    from lmms_medtasks.visible_text import visible

    try:
        build()()
    except UserError as error:
        print(visible(f"lmms-medtasks: {error}"), file=sys.stderr)
        raise SystemExit(2) from None
