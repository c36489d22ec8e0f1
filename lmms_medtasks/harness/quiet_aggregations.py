"""Calling others' aggregations again, after the run: only those that count and do nothing else.

Aggregations of others may write files for a challenge's server, or ask a judge. So that they do not do so a second
time, :func:`is_quiet` reads the code of an aggregation, as far as it is the task's, and says no where it names anything
that writes or asks; such a one is not called.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import io
import logging
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

_KNOWN = ("lmms_medtasks.", "lmms_eval.api.")
_LIBRARIES = frozenset("numpy scipy sklearn pandas torch nltk evaluate datasets PIL loguru tqdm rapidfuzz".split())
"""Beside the standard library: their functions are not followed."""
_WRITES_OR_ASKS = frozenset(
    "open dump to_json to_csv to_excel to_parquet savetxt savefig save write write_text write_bytes writelines "
    "makedirs mkdir remove unlink rename rmtree copy2 generate_submission_file save_result_to_path system Popen "
    "check_call check_output urlopen requests post OpenAI AzureOpenAI Anthropic get_server get_chat_response get_eval "
    "get_judge_response evaluate_binary evaluate_with_rubric evaluate_comparative generate chat completions "
    "from_pretrained Thread ThreadPoolExecutor ProcessPoolExecutor Pool eval exec".split()
)


@functools.cache
def is_quiet(aggregation: Callable[..., Any]) -> bool:
    """Whether an aggregation does nothing but count, as far as its task's own code tells."""
    function = aggregation.func if isinstance(aggregation, functools.partial) else aggregation
    if (getattr(function, "__module__", None) or "").startswith(_KNOWN):
        return True
    if not isinstance(function, FunctionType) or "args" in inspect.signature(function).parameters:
        return False
    seen: set[Any] = set()
    left: list[Any] = [function]
    while left:
        each = left.pop()
        if each in seen:
            continue
        seen.add(each)
        names = set(_names(each.__code__))
        if names & _WRITES_OR_ASKS:
            return False
        left += _functions_of(each, names)
    return True


def value_of(aggregation: Callable[..., Any], values: Sequence[Any]) -> float | None:
    """What an aggregation that :func:`is_quiet` makes of records, as a finite number; None for anything else.

    To be called within :func:`silenced`.
    """
    try:
        return number(aggregation(list(values)))
    except (Exception, SystemExit):  # whatever others' code makes of part of its records: then there is no number
        return None


def number(value: Any) -> float | None:
    """``value`` as a float if it is a finite number, of Python, NumPy or torch; None for anything else."""
    if isinstance(value, str | bytes) or not hasattr(value, "__float__"):
        return None
    try:
        found = float(value)
    except (TypeError, ValueError):
        return None
    return found if math.isfinite(found) else None


def _functions_of(function: FunctionType, names: set[str]) -> list[FunctionType]:
    """The task's own functions that a function may call: by its names, in modules, classes and closures."""
    held = [function.__globals__.get(name) for name in names]
    held += [cell.cell_contents for cell in function.__closure__ or () if _is_filled(cell)]
    held += [sys.modules.get(name) for name in names]  # imported where it is used
    found: list[FunctionType] = []
    for each in held:
        if isinstance(each, ModuleType):
            members = [vars(each).get(name) for name in names] if _is_own(each.__name__) else []
        elif isinstance(each, type):
            members = list(vars(each).values())
        elif isinstance(each, FunctionType | MethodType | functools.partial):
            members = [each]
        else:  # an object: a client, a table
            members = [getattr(type(each), name, None) for name in names] if _is_own(type(each).__module__) else []
        found += [own for member in members if (own := _plain(member)) is not None]
    return found


def _plain(member: Any) -> FunctionType | None:
    """The task's own function in a method, a partial or a decorated one; None for anything else."""
    member = getattr(member, "func", member) if isinstance(member, functools.partial) else member
    member = member.__func__ if isinstance(member, MethodType | staticmethod | classmethod) else member
    return member if isinstance(member, FunctionType) and _is_own(member.__module__ or "") else None


def _is_own(module: str) -> bool:
    top = module.partition(".")[0]
    return top not in sys.stdlib_module_names and top not in _LIBRARIES


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _names(each)


@contextlib.contextmanager
def silenced(aggregation: Callable[..., Any]) -> Iterator[None]:
    """Drop what an aggregation, which may be called thousands of times, prints and logs, until the end."""
    from loguru import logger

    loud = {(getattr(aggregation, "__module__", None) or "").partition(".")[0], "lmms_eval"} - {""}
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    for name in loud:
        logger.disable(name)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            yield
    finally:
        for name in loud:
            logger.enable(name)
        logging.disable(before)
