"""What a contributed task says, made known to its hooks.

The harness gives a task's settings to the hooks that make prompt and pictures, and to no other. When the plugin reads a
task that is built on a template, it has its YAML checked (:mod:`lmms_medtasks.task_yaml.keys`), fills in the template's
own settings, and hands them to the adapter (``process_docs``) and to the scoring (``process_results``) too.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmms_medtasks import folders
from lmms_medtasks.data import adapter, picture_checks, sources, text_tables
from lmms_medtasks.data.rotated_options import rotations
from lmms_medtasks.errors import UserError
from lmms_medtasks.harness.template_hooks import degraded_documents, own_binding, task_pictures
from lmms_medtasks.judges import registry as protocols
from lmms_medtasks.judges.own_scales import is_rubric
from lmms_medtasks.suites import own_parts, templates
from lmms_medtasks.suites.templates import including, measures
from lmms_medtasks.task_yaml import keys
from lmms_medtasks.task_yaml import settings as schema

if TYPE_CHECKING:
    from datasets import Dataset

MODALITIES = "modalities.yml"
"""A file beside the YAML: :mod:`lmms_medtasks.degradations.own_modalities`."""
FIRST = ("questions",)
JUDGED = {"choice": (), "open": ("judged",)}
"""Metrics that every task has, before and after those it names: a mean says nothing without what it is over."""
_ASKING = "lmms_medtasks.harness.template_hooks.prompt_hooks"


class Bound(functools.partial):  # type: ignore[type-arg]
    """A hook with what it knows of its task.

    The harness writes hooks into the result file as Python shows them: this one without folders of this machine.
    """

    def __repr__(self) -> str:
        return f"{self.func.__module__}.{self.func.__qualname__} with {', '.join(self.keywords)}"


def bound(config: dict[str, Any], yaml_path: str | Path | None) -> dict[str, Any]:
    """``config`` as it is, or a copy whose hooks know the settings, for a task on a template in ``yaml_path``.

    Raises:
        UserError: what the YAML says of a task on a template is wrong, or its settings do not fit the template.
    """
    folder = Path(yaml_path).resolve().parent if yaml_path else None
    if folder is not None:
        _give_own(folder)
    if templates.is_on_template(config.get("process_results")) and yaml_path and Path(yaml_path).is_file():
        keys.check_file(Path(yaml_path))
        config = {**config, **including.read_joined(Path(yaml_path).resolve())}
    template = templates.template_of(config)
    if template is None:
        return _with_folder(config, folder) if folder else config
    config, tables = text_tables.with_text_cells(config, _name(config))
    settings = settings_of(config, template, folder)
    from lmms_medtasks.harness.scoring import CLUSTER, metric_entry

    settings, parts = own_binding.resolved(settings, template, folder)
    scoring_settings = {**settings, **parts.scoring}
    hook = config["process_results"]
    process_results = Bound(hook, settings=scoring_settings)
    if hasattr(hook, "metrics_of"):
        process_results.metrics_of = Bound(hook.metrics_of, settings=scoring_settings)  # type: ignore[attr-defined]
    shown = {key: value for key, value in settings.items() if key != "metrics"}
    if parts.described:
        config = {**config, "metadata": {**(config.get("metadata") or {}), own_parts.KEY: parts.described}}
    return {
        **config,
        "process_docs": Bound(
            prepared,
            adapt=_adapter(config, settings, folder),
            settings=settings,
            tables=tables,
            folder=folder,
            training_split=str(config.get("training_split") or ""),
            own=parts.scoring,
        ),
        "doc_to_visual": task_pictures.of_task(config, settings, folder) if folder else config.get("doc_to_visual"),
        "generation_kwargs": _generation(config, template),
        "process_results": process_results,
        "metric_list": [metric_entry(parts.suite.metric(name)) for name in settings["metrics"]],
        "cluster_key": CLUSTER,
        "lmms_eval_specific_kwargs": {"default": shown},
    }


def _give_own(folder: Path) -> None:
    """Make the modalities and the data sets known that a task's folder brings."""
    if (folder / sources.FILE).is_file():
        sources.give([folder])
    if (folder / MODALITIES).is_file():
        from lmms_medtasks.degradations import modality_files

        modality_files.give([folder / MODALITIES])


def _generation(config: Mapping[str, Any], template: templates.Template) -> dict[str, Any]:
    """The template's ``generation_kwargs`` with the task's own keys above them."""
    template_generation = including.template_generation(including.text_of(template.name))
    return {**template_generation, **(config.get("generation_kwargs") or {})}


def _with_folder(config: dict[str, Any], folder: Path) -> dict[str, Any]:
    """``config``, for a task that is scored by a hook of its own: its folder for our adapter, its prompt for ours."""
    given = config.get("lmms_eval_specific_kwargs") or {}
    own = given.get("default") or {}
    changed: dict[str, Any] = {}
    if not folder.is_relative_to(folders.folder().resolve()) and config.get("doc_to_visual") is not None:
        changed["doc_to_visual"] = task_pictures.of_task(config, own, folder)
    if isinstance(config.get("process_docs"), adapter.Columns):
        config, tables = text_tables.with_text_cells(_located(config, folder), _name(config))
        adapt = config["process_docs"].in_folder(folder)
        training = str(config.get("training_split") or "")
        changed["process_docs"] = Bound(
            prepared,
            adapt=adapt,
            settings=own,
            tables=tables,
            folder=folder,
            training_split=training,
        )
    if getattr(config.get("doc_to_text"), "__module__", "") == _ASKING and own.get("prompt"):
        prompt = prompt_of(str(own["prompt"]), folder)
        changed["lmms_eval_specific_kwargs"] = {**given, "default": {**own, "prompt": prompt}}
    if any(isinstance(name, str) and is_rubric(name) for name in judges_of(own)):
        given = changed.get("lmms_eval_specific_kwargs") or given
        named = [protocols.get(str(name), folder).name for name in judges_of(own)]
        default = {**given["default"], "judge": named if isinstance(own["judge"], list) else named[0]}
        changed["lmms_eval_specific_kwargs"] = {**given, "default": default}
    return {**config, **changed} if changed else config


def judges_of(settings: Mapping[str, Any]) -> list[Any]:
    """The judge protocols that settings name."""
    named = settings.get("judge") or []
    return named if isinstance(named, list) else [named]


def _located(config: dict[str, Any], folder: Path) -> dict[str, Any]:
    """``config`` with the data files of a loader that the harness does not know as those in the task's folder."""
    kwargs = config.get("dataset_kwargs")
    if config.get("dataset_path") not in including.LOCAL or not isinstance(kwargs, dict) or "data_files" not in kwargs:
        return config
    return {**config, "dataset_kwargs": {**kwargs, "data_files": including.located(kwargs["data_files"], folder)}}


def tables_of(config: Mapping[str, Any]) -> tuple[Path, ...]:
    """The tables in the folder of a bound task that its data are read from."""
    found: tuple[Path, ...] = getattr(config.get("process_docs"), "keywords", {}).get("tables", ())
    return found


def settings_of(config: Mapping[str, Any], template: templates.Template, folder: Path | None = None) -> dict[str, Any]:
    """The template's settings with the task's own above them, checked; ``prompt`` is the text, ``metrics`` a list."""
    where = _name(config)
    given = config.get("lmms_eval_specific_kwargs") or {}
    own = given.get("default") or {}
    schema.check(own, where)
    merged = {**template.settings, **own}
    named = merged.get("metrics") or template.metrics
    names = [named] if isinstance(named, str) else list(named)
    schema.check_fit({**merged, "metrics": names}, template, where)
    rotated = measures.ROTATION_METRICS if merged.get("rotate_options") else ()
    merged["metrics"] = list(
        dict.fromkeys([*FIRST, *names, *rotated, *JUDGED[template.kind], *templates.ALWAYS[template.kind]])
    )
    merged["prompt"] = prompt_of(str(merged["prompt"]), folder)
    return merged


def prompt_of(name: str, folder: Path | None) -> str:
    """The prompt's text: a file in ``folder``, the built-in prompt of that name, or what :mod:`.hooks` makes of it."""
    from lmms_medtasks.prompt_files import prompt_text

    if "{question}" in name:
        return name
    if folder is not None and (folder / name).is_file():
        text = (folder / name).read_text("utf-8").removesuffix("\n")
    else:
        text = templates.prompt(name) if name in templates.prompts() else _prompt_of_ours(name, folder, prompt_text)
    if "{question}" not in text:
        raise UserError(f"The prompt {name!r} has no {{question}} in it: the question would not be asked.")
    return text


def _prompt_of_ours(name: str, folder: Path | None, read: Any) -> str:
    try:
        return str(read(name))
    except UserError as error:
        raise UserError(
            f"No prompt {name!r}: no such file in {folder}, none of the built-in prompts "
            f"({', '.join(templates.prompts())}), no file of ours in task_configs."
        ) from error


def prepared(
    dataset: Dataset,
    *,
    adapt: Any,
    settings: Mapping[str, Any],
    training_split: str = "",
    tables: tuple[Path, ...] = (),
    folder: Path | None = None,
    own: Mapping[str, Any] | None = None,
) -> Dataset:
    """The documents of a task: adapted, with the side of the shift and the degradation drawn where it asks for them.

    Every picture that is shown is decoded once. ``tables``: where the data come from; one of them is named in messages.
    Those of the training split are only adapted; where there is a shift, what is out of distribution is left out.
    """
    from lmms_medtasks.errors import user_errors
    from lmms_medtasks.harness.hooks import RENDERED, TRIALS

    with user_errors():  # the harness would try again for seconds, and tell the cause in a traceback
        used = adapt.columns_used(dataset.column_names) if isinstance(adapt, adapter.Columns) else dataset.column_names
        text_tables.check_not_guessed(dataset, used)
        with _told_with(tables):
            documents = adapt(dataset)
        if not hasattr(documents, "column_names"):
            raise UserError(f"process_docs gives a {type(documents).__name__}, expected a datasets.Dataset.")
        adapter.check_answers(documents)
        if training_split and str(dataset.split) == training_split:
            return _without_ood(documents, settings["shift"]) if settings.get("shift") else documents
        degraded_documents.check(documents, settings, folder)
        _check_single_answers(documents, settings)
        _check_several(adapt, settings)
        if own:
            own_binding.check_documents(own, settings, documents)
        if not settings.get("no_image"):
            with _told_with(tables):
                picture_checks.check(documents, folder)
        if settings.get("shift"):
            documents = _with_sides(documents, settings["shift"])
        if settings.get("degradation") == templates.DRAWN:
            documents = degraded_documents.with_draws(documents, settings, folder)
        if settings.get("rotate_options"):
            documents = rotations(documents)
    ids = list(documents["id"])
    TRIALS.reset(ids)
    RENDERED.reset(ids)
    return documents


@contextmanager
def _told_with(tables: Sequence[Path]) -> Iterator[None]:
    """Name the table in a :class:`UserError`, where there is only one."""
    try:
        yield
    except UserError as error:
        if len(tables) != 1:
            raise
        raise UserError(f"{tables[0].name}: {error}") from error


def _check_single_answers(documents: Dataset, settings: Mapping[str, Any]) -> None:
    """Refuse several right letters where one is read: no reply could be right."""
    if settings.get("parser") not in ("option", "letter") or "answer" not in documents.column_names:
        return
    for row, answer in enumerate(documents["answer"]):
        if isinstance(answer, str) and len(answer) > 1:
            raise UserError(
                f"Row {row + 1} (id {documents[row]['id']!r}) has several right answers, {answer!r}, and the parser "
                f"{settings['parser']!r} has one right answer. In the YAML say `parser: several_letters` where all of "
                "them must be named, `parser: any_letter` where any of them is right."
            )


def _check_several(adapt: Any, settings: Mapping[str, Any]) -> None:
    """Refuse an adapter and a parser that mean different things by several right letters."""
    several = adapt.several if isinstance(adapt, adapter.Columns) else ""
    for parser, other in (("several_letters", "any"), ("any_letter", "all")):
        if settings.get("parser") == parser and several == other:
            means = {"all": "all of them must be named", "any": "any of them is right"}
            raise UserError(
                f'several="{several}" in adapter.py says that {means[several]}, and `parser: {parser}` that '
                f"{means['all' if other == 'any' else 'any']}. Change one of them."
            )


def _with_sides(documents: Dataset, shift: Mapping[str, Any]) -> Dataset:
    """The rows of both tests, with the column ``set``: "iid" or "ood"."""
    if shift["column"] not in documents.column_names:
        raise UserError(f"shift.column: the data has no column {shift['column']!r}, it has {documents.column_names}.")
    side_of = {value: side for side, values in schema.sides(shift).items() for value in values}
    values = [str(value) for value in documents[shift["column"]]]
    rows = [row for row, value in enumerate(values) if value in side_of]
    for side, wanted in schema.sides(shift).items():
        if not set(wanted) & set(values):
            raise UserError(
                f"shift.{side}: no row has {' or '.join(map(repr, wanted))} in {shift['column']!r}. There are: "
                f"{', '.join(sorted(set(values))[:20])}."
            )
    if len(rows) < len(values):
        from loguru import logger  # the harness's log

        logger.info(f"{len(values) - len(rows)} of {len(values)} questions are in neither test and left out.")
    chosen = documents.select(rows)
    return chosen.add_column("set", [side_of[values[row]] for row in rows])


def _without_ood(documents: Dataset, shift: Mapping[str, Any]) -> Dataset:
    """Training documents without those whose value of the shift's column is out of distribution, where it is told."""
    if shift["column"] not in documents.column_names:
        return documents
    ood = schema.sides(shift)["ood"]
    return documents.select([row for row, value in enumerate(documents[shift["column"]]) if str(value) not in ood])


def _adapter(config: Mapping[str, Any], settings: Mapping[str, Any], folder: Path | None) -> Any:
    adapt = config.get("process_docs") or adapter.documents
    if not isinstance(adapt, adapter.Columns):
        return adapt
    tags = [settings["shift"]["column"]] if settings.get("shift") else []
    return adapt.in_folder(folder, tags) if folder else adapt


def _name(config: Mapping[str, Any]) -> str:
    return f"Task {config.get('task')!r}"
