"""Functions compiled by Numba. Importing this module imports Numba, so it is imported where compiled code is used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba


def compiled(function: Callable[..., None]) -> Any:
    """``function`` compiled when it is first called, without "fast math": the same bits on every processor.

    The machine code is kept on disk (beside the source, where NUMBA_CACHE_DIR says, or in the user's cache folder) and
    loaded by the next process; where no folder can be written, every process compiles it again.
    """
    # error_model: without it every division has a branch. nogil: strips of an image run at the same time.
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:  # Numba found no folder that it may write to
        return numba.njit(**options)(function)
