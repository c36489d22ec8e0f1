"""The harness's table of results without what the report, which ``lmms-medtasks run`` prints below it, stands for."""

from __future__ import annotations

import functools
import sys
from collections.abc import Mapping
from typing import Any

from lmms_medtasks.samples.degraded import find_base_task


def fold_tables(keeps_others: bool) -> None:
    """Let the harness's command line print the rows that :func:`fold_rows` keeps, or none, and no line of options."""
    for name in ("lmms_eval.__main__", "__main__"):
        module = sys.modules.get(name)
        original = getattr(module, "make_table", None)
        if callable(original) and not hasattr(module, "print"):
            folded = functools.partial(_make_folded_table, original, keeps_others)
            vars(module).update(make_table=folded, get_eval_banner=lambda **_: "", print=_print_rows)


def _make_folded_table(original: Any, keeps_others: bool, results: Any, column: str = "results", **kwargs: Any) -> str:
    folded = fold_rows(results) if keeps_others else {}
    rows = {name: folded[name] if column == "results" else results[column][name]
            for name in results[column] if name in folded}  # fmt: skip
    return str(original({**results, column: rows}, column, **kwargs)) if rows else ""


def _print_rows(*texts: Any, **options: Any) -> None:
    """As ``print``, without the harness's line of options before each table: the report names the run."""
    if texts and texts[0] and "), gen_kwargs: (" not in str(texts[0]):
        print(*texts, **options)


def fold_rows(results: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The rows of the harness's table, by task and group, that the first screen of a report does not stand for.

    Tasks that a report has are left out, and groups of those alone. Of their degraded copies the first main metric with
    a value is kept, of all other tasks everything.
    """
    from lmms_medtasks.suites import registry

    configs, groups = results.get("configs") or {}, results.get("group_subtasks") or {}
    rows: dict[str, Mapping[str, Any]] = {}
    for name, values in reversed(results["results"].items()):  # a group stands before its tasks
        config = configs.get(name) or {}
        base = find_base_task(name, config)
        suite = registry.find_suite(base or name, config)
        if suite is None and (not groups.get(name) or any(task in rows for task in groups[name])):
            rows[name] = values
        elif suite is not None and base is not None:
            known = {key.partition(",")[0] for key, value in values.items() if isinstance(value, int | float)}
            main = next((metric.name for metric in suite.main_metrics if metric.name in known), None)
            rows[name] = {key: value for key, value in values.items()
                          if key == "alias" or key.partition(",")[0].partition("_stderr")[0] == main}  # fmt: skip
    return dict(reversed(rows.items()))
