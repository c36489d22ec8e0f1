"""What there is: degradations, modalities and tasks, as data frames."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lmms_medtasks import degradations
from lmms_medtasks.degradations import modality_files
from lmms_medtasks.harness import plugin
from lmms_medtasks.suites import registry

if TYPE_CHECKING:
    from pandas import DataFrame


def list_degradations(modality: str | None = None) -> DataFrame:
    """The degradations, a row each.

    Args:
        modality: Only those for this modality; one of your own in a file: "oct/modalities.yml:OCT".

    Returns:
        Columns ``name``, ``category``, ``modalities`` (a list: those that it is for), ``source`` (where operator and
        numbers come from).

    Raises:
        UserError: An unknown modality.

    Example:
        >>> list_degradations("CT").name.tolist()[:3]
        ['limited_angle', 'sparse_view', 'object_rotation']
    """
    import pandas as pd

    known = modality_files.named(modality)
    names = degradations.names() if known is None else degradations.for_modality(known)
    rows = [
        (name, degradations.category(name), list(degradations.modalities_of(name)), degradations.source(name))
        for name in names
    ]
    return pd.DataFrame(rows, columns=["name", "category", "modalities", "source"])


def list_tasks() -> DataFrame:
    """The installed benchmarks' tasks and groups, a row each.

    The harness's own tasks are listed by ``lmms-eval --tasks list``.

    Returns:
        Columns ``name``, ``benchmark``, ``title`` (the benchmark's name for people), ``group`` (True for a group of
        tasks), ``file`` (its YAML).

    Example:
        >>> tasks = list_tasks()
        >>> tasks.columns.tolist()
        ['name', 'benchmark', 'title', 'group', 'file']
    """
    import pandas as pd

    titles = {name: registry.get(name).title for name in registry.names()}
    rows = []
    for name, entry in sorted(plugin.task_index().items()):
        benchmark = Path(entry["yaml_path"]).parent.name
        rows.append((name, benchmark, titles.get(benchmark, ""), entry["type"] == "group", entry["yaml_path"]))
    return pd.DataFrame(rows, columns=["name", "benchmark", "title", "group", "file"])
