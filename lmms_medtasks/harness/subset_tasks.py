"""A run of a subset of the questions: the tasks keep the rows of drawn units, and their metadata describe the subset.

Tasks on one file of ours get the same units, whatever rows they make of the file (levels, formats, orders of options),
because the strata of the units are read from the file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lmms_medtasks.data import locate_split, sources, subsets
from lmms_medtasks.data.subsets import DataSubset, Strata
from lmms_medtasks.errors import UserError
from lmms_medtasks.harness import provenance
from lmms_medtasks.samples.degraded import METADATA, find_base_task
from lmms_medtasks.suites import registry
from lmms_medtasks.task_settings import task_settings

UNIT = "image_id"
"""The default column of the units that are drawn."""


def restrict_tasks(tasks: Sequence[Any], ours: Sequence[Any], limit: Any) -> None:
    """Restrict the tasks of the harness to the rows of the requested subset, if one is requested.

    A task's metadata get ``data: 1000 images of full``, another ``data_digest``, and ``subset``. Tasks with at most
    ``size`` units are left unchanged.

    Raises UserError for a task that is not ours, for --limit beside a subset, and for a subset that selects everything.
    """
    subset = subsets.requested_subset()
    if subset is None:
        return
    strange = [str(task.config.task) for task in tasks if not any(task is our_task for our_task in ours)]
    if strange:
        raise UserError(f"--subset draws from tasks of lmms-medtasks; {', '.join(strange)} is none. Use --limit there.")
    if limit is not None:
        raise UserError(
            f"--limit {limit} takes the first questions, --subset a sample of all of them: give one of both."
        )
    whole = [units for task in tasks if (units := _restrict_task(task, subset)) is not None]
    if len(whole) == len(tasks):
        raise UserError(
            f"--subset {subset.size} selects everything: the largest task has {max(whole)} {_unit_word(tasks[0])}s. "
            "Give a smaller number or omit --subset."
        )


def list_question_units(task: Any) -> list[str]:
    """The unit of each question of a task. Raises UserError if its documents lack the column."""
    split = task.config.test_split or task.config.validation_split
    unit, _ = _declared_columns(task.config, split)
    rows = task.dataset_no_image[split]
    if rows.column_names is None or unit not in rows.column_names:
        raise UserError(f"{task.config.task}: its documents have no column {unit!r}, which names the image.")
    return [str(value) for value in rows[unit]]


def _restrict_task(task: Any, subset: DataSubset) -> int | None:
    """Restrict a task. Returns the number of its units if all of them are drawn, else None."""
    from loguru import logger

    config = task.config
    split = config.test_split or config.validation_split
    unit, strata = _declared_columns(config, split)
    rows = task.dataset_no_image[split]
    unit_of_row = list_question_units(task)
    known = _of_files(config, split, unit, strata)
    if not known.keys() >= set(unit_of_row):
        # The task has other units than the file.
        columns = [[str(value) for value in rows[name]] for name in strata if name in rows.column_names]
        known = subsets.strata_of(
            zip(unit_of_row, zip(*columns, strict=True) if columns else [()] * len(unit_of_row), strict=True)
        )
    strata_of_unit = {name: known[name] for name in unit_of_row}
    if len(strata_of_unit) <= subset.size:
        logger.info(f"{config.task}: it has {len(strata_of_unit)} {_unit_word(task)}s, all are asked.")
        return len(strata_of_unit)
    drawn = subsets.draw_subset(strata_of_unit, subset)
    kept_rows = [row for row, name in enumerate(unit_of_row) if name in drawn]
    for dataset in (task.dataset, task.dataset_no_image):
        if len(dataset[split]) == len(unit_of_row):  # the two may be one object
            dataset[split] = dataset[split].select(kept_rows)
    task.task_docs = task.dataset[split]
    _note_subset(task, subset, len(strata_of_unit), len(unit_of_row))
    return None


def _note_subset(task: Any, subset: DataSubset, units: int, rows: int) -> None:
    config, word = task.config, _unit_word(task)
    metadata = dict(config.metadata)
    drawn_from = {"size": subset.size, "seed": subset.seed, "unit": word, "units": units, "questions": rows}
    label = f"{subset.size} {word}s of {metadata['data']}"
    digest = subsets.digest_of(metadata["data_digest"], subset)
    name = str(config.task_alias or config.task).removesuffix(provenance.format_data_label(metadata))
    config.metadata = {**metadata, "data": label, "data_digest": digest, "subset": drawn_from}
    config.task_alias = f"{name}{provenance.format_data_label(config.metadata)}"


def _unit_word(task: Any) -> str:
    """The word for a unit of the task: image, item, case."""
    metadata = task.config.metadata
    base = find_base_task(str(task.config.task), {"metadata": metadata})
    if base is not None:
        metadata = {key: value for key, value in metadata.items() if key != METADATA}
    settings = {"default": task_settings(task.config)}
    config = {"metadata": metadata, "lmms_eval_specific_kwargs": settings}
    suite = registry.find_suite(base or str(task.config.task), config)
    return suite.cluster if suite else "image"


def _declared_columns(config: Any, split: str) -> tuple[str, tuple[str, ...]]:
    """The columns of the units and of the strata in the data's declaration."""
    if cluster := task_settings(config).get("cluster"):
        return cluster, ()
    for suite, _ in _data_locations(config, split):
        source = sources.get(suite)
        return source.unit, source.strata
    return UNIT, ()


def _of_files(config: Any, split: str, unit: str, strata: Sequence[str]) -> Mapping[str, Strata]:
    """The strata of all units in the files of ours that the task reads; {} if it reads none."""
    import pyarrow.parquet as pq

    rows: list[tuple[str, Strata]] = []
    for suite, part in _data_locations(config, split):
        table = pq.read_table(locate_split(suite, part).path, columns=[unit, *strata])
        columns = [[str(value) for value in table.column(name).to_pylist()] for name in (unit, *strata)]
        rows += [(row[0], tuple(row[1:])) for row in zip(*columns, strict=True)]
    return subsets.strata_of(rows)


def _data_locations(config: Any, split: str) -> list[tuple[str, str]]:
    files = (config.dataset_kwargs or {}).get("data_files") or {}
    urls = files.get(split, []) if isinstance(files, Mapping) else files
    return provenance.list_data_locations({"dataset_kwargs": {"data_files": urls}})
