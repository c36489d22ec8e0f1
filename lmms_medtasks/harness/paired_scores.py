"""A score a question, of any task's metric, so that a degraded task can be paired with its clean one.

A metric's name says nothing of what is logged under it: some tasks log a record under several names, of which each
aggregation takes its part. So a number counts as a question's score only where the mean of all of them is the value
that the harness reports:

1. the number that is logged, if it is one (or the one number in a list or a mapping);
2. else what the task's own aggregation makes of one question's record alone;
3. else the metric has totals only.

Aggregations of others may write files, or ask a judge. One is called on single records only where its code, as far as
it is the task's, does nothing of that sort.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import io
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import CodeType, FunctionType
from typing import Any

TOTALS = "totals only"
LOGGED = "logged"
ONE_BY_ONE = "aggregated one by one"
_KEYS = ("score", "is_correct", "correct", "acc", "accuracy", "hit", "match", "exact_match")
_CLOSE = 1e-6
_SECONDS = 10.0
_KNOWN = ("lmms_medtasks.", "lmms_eval.api.")
_WRITES_OR_ASKS = frozenset(
    "open dump to_json to_csv to_excel to_parquet savetxt savefig save write write_text write_bytes writelines "
    "makedirs mkdir remove unlink rename rmtree copy2 generate_submission_file save_result_to_path system Popen "
    "check_call check_output urlopen requests post OpenAI AzureOpenAI Anthropic get_server get_chat_response get_eval "
    "get_judge_response evaluate_binary evaluate_with_rubric evaluate_comparative generate chat completions "
    "from_pretrained "
    "eval exec".split()
)


def scores(values: Sequence[Any], aggregation: Callable[..., Any], reported: Any) -> tuple[list[float] | None, str]:
    """A score for each of ``values``, a metric's records of one task, and how it was found; None with totals only.

    ``reported``: what the harness reports of them.
    """
    total = _number(reported)
    if total is None or not values:
        return None, TOTALS
    found = _matching([_logged(each) for each in values], total)
    if found is not None:
        return found, LOGGED
    if not _is_quiet(aggregation):
        return None, TOTALS
    single: list[float | None] = []
    started = time.perf_counter()
    for each in values:
        single.append(_of_one(aggregation, each))
        slow = (time.perf_counter() - started) / len(single) * len(values) > _SECONDS
        if single[-1] is None or slow:
            return None, TOTALS
    found = _matching(single, total)
    return (found, ONE_BY_ONE) if found is not None else (None, TOTALS)


def _matching(values: Sequence[float | None], total: float) -> list[float] | None:
    """The values in the unit of ``total``, if that is their mean, as it is or in percent; None if it is not."""
    known = [each for each in values if each is not None]
    if len(known) < len(values):
        return None
    mean = math.fsum(known) / len(known)
    for scale in (1.0, 100.0):
        if abs(mean * scale - total) <= _CLOSE * max(1.0, abs(total)):
            return [each * scale for each in known]
    return None


def _logged(value: Any) -> float | None:
    if isinstance(value, Mapping):
        value = next((value[key] for key in _KEYS if _number(value.get(key)) is not None), None)
    elif isinstance(value, list | tuple) and len(value) == 1:
        value = value[0]
    return _number(value)


def _number(value: Any) -> float | None:
    if isinstance(value, str | bytes) or not hasattr(value, "__float__"):
        return None
    try:
        found = float(value)
    except (TypeError, ValueError):
        return None
    return found if math.isfinite(found) else None


def _of_one(aggregation: Callable[..., Any], value: Any) -> float | None:
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            return _number(aggregation([value]))
        except Exception:  # noqa: BLE001 (whatever others' code makes of one record: then it has totals only)
            return None


@functools.cache
def _is_quiet(aggregation: Callable[..., Any]) -> bool:
    """Whether an aggregation does nothing but count, as far as its task's own code tells."""
    function = aggregation.func if isinstance(aggregation, functools.partial) else aggregation
    module = getattr(function, "__module__", None) or ""
    if module.startswith(_KNOWN):
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
        held = [each.__globals__.get(name) for name in names]
        left += [found for found in held if isinstance(found, FunctionType) and found.__module__ != "builtins"]
    return True


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _names(each)
