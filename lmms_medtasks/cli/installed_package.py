"""The harness is started with the package that is installed, also where the working folder has a copy of its source."""

from __future__ import annotations

import sys
from pathlib import Path

import lmms_medtasks
from lmms_medtasks.errors import UserError


def variables(folder: Path) -> dict[str, str]:
    """Environment variables for ``python -m`` in ``folder``, which puts it before what is installed.

    A copy of the source there (a working copy, as in CI) is not whole: its task_configs and judges lie beside it. Where
    it is the installed package itself (an editable installation), nothing is set.
    """
    copy, own = folder / "lmms_medtasks", Path(lmms_medtasks.__file__).parent
    if not (copy / "__init__.py").is_file() or copy.samefile(own):
        return {}
    if sys.version_info < (3, 11):  # the variable is new in 3.11
        raise UserError(
            f"{folder} has a copy of lmms_medtasks, which Python 3.10 would take for the installed one ({own}). Run "
            "from another folder, or install the copy: pip install -e ."
        )
    return {"PYTHONSAFEPATH": "1"}
