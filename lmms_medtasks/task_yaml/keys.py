"""The allowed keys of a task's or group's YAML, as lmms-eval 0.7.3 reads them: each key is defined here only.

A model defines keys, their types and values, and constraints between them. Whether the files
and functions that a YAML names are there is checked elsewhere: contribute/references.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, ConfigDict, Field, PlainValidator, WrapValidator, model_validator

from lmms_medtasks.data import text_tables
from lmms_medtasks.errors import UserError, nearest_name
from lmms_medtasks.samples.run_options import parse_given_tags
from lmms_medtasks.suites import templates
from lmms_medtasks.task_yaml import settings as schema
from lmms_medtasks.task_yaml import strict_model
from lmms_medtasks.task_yaml.chain import IncludeChain, on_template, read_include_chain
from lmms_medtasks.task_yaml.nodes import FUNCTION, LOCAL, SETTINGS, FunctionTag, iter_nodes, locate_data_files
from lmms_medtasks.task_yaml.problems import ValidationLog, ValidationProblem
from lmms_medtasks.task_yaml.settings import TaskSettings
from lmms_medtasks.task_yaml.strict_model import OPTIONAL, KeyMistake, OneOf, StrictModel, Texts, validation_error

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


@dataclass(frozen=True)
class ArgumentRange:
    """The least and the largest number of arguments that a function is called with."""

    least: int
    most: int


def _check_function_or_text(value: Any) -> Any:
    if not isinstance(value, FunctionTag | str):
        raise strict_model.wrong_type(value, "!function and a dotted name, or a text")
    return value


def _check_name(value: str) -> str:
    if not _NAME.fullmatch(value):
        message = "expected letters, digits and _ . - only: --tasks could not name it"
        raise validation_error(KeyMistake(message, (), value))
    return value


def _check_no_secret(value: Any) -> Any:
    if isinstance(value, str):
        raise validation_error(KeyMistake("is a secret, and this file is for others: set HF_TOKEN instead"))
    return value


def _check_tags(value: Any) -> Any:
    try:
        parse_given_tags(value, "")
    except UserError:
        message = "no list of pairs of marks, expected [[OPENING, CLOSING]]"
        raise validation_error(KeyMistake(message, (), value)) from None
    return value


DECLARED = FunctionTag("lmms_medtasks.harness.scoring.DECLARED")
"""Placeholder for the metrics that a task's benchmark or template declares."""


def _check_declared(value: Any) -> Any:
    if value != DECLARED:
        message = "of a task on a template the setting `metrics` names them, where they are not the template's own"
        raise validation_error(
            KeyMistake(f"expected !function {DECLARED}: {message}", (), None if value is None else "a list")
        )
    return value


FunctionOrText = Annotated[FunctionTag | str, PlainValidator(_check_function_or_text)]
Name = Annotated[str, AfterValidator(_check_name)]


class GenerationKwargs(StrictModel):
    """How replies are generated."""

    temperature: Annotated[float, Field(ge=0)] = OPTIONAL
    top_p: float = OPTIONAL
    top_k: int = OPTIONAL
    do_sample: bool = OPTIONAL
    num_beams: int = OPTIONAL
    max_new_tokens: Annotated[int, Field(ge=1)] = OPTIONAL
    until: Texts = OPTIONAL
    seed: int = OPTIONAL

    @model_validator(mode="before")
    @classmethod
    def _check_nothing_is_null(cls, values: Any) -> Any:
        empty = [key for key, value in values.items() if value is None] if isinstance(values, Mapping) else []
        if empty:
            message = (
                "the harness or the model would put a value of its own there. Say which one you want; `until: []` is "
                "no stop text, `top_k: 0` and `top_p: 1.0` no limit"
            )
            raise validation_error(*(KeyMistake(message, (key,), "null") for key in empty))
        return values


class MetadataKeys(StrictModel):
    """The task's version and template; further keys are the contributor's."""

    model_config = ConfigDict(extra="allow")

    version: Annotated[
        float, Field(gt=0, allow_inf_nan=False, title="1.0 for a new task, more when prompt or data change")
    ]
    template: Annotated[str, AfterValidator(OneOf("no such template", templates.names))] = OPTIONAL


class DatasetKwargs(StrictModel):
    """What the loader of the data is given; further keys are the loader's own."""

    model_config = ConfigDict(extra="allow")

    data_files: Annotated[dict[str, Texts], Field(title="split -> file; the harness fails without a split")] = OPTIONAL
    load_from_disk: bool = OPTIONAL
    trust_remote_code: bool = OPTIONAL
    token: Annotated[Any, AfterValidator(_check_no_secret)] = OPTIONAL


class FilterKeys(StrictModel):
    """A filter applied to replies before scoring; further keys of a step belong to its function."""

    name: str
    filter: list[dict[str, Any]]


class MetricRow(StrictModel):
    """A metric and the function that aggregates the questions' values."""

    metric: str
    aggregation: Annotated[FunctionOrText, ArgumentRange(1, 1)]
    higher_is_better: bool | None


class GroupKeys(StrictModel):
    """The keys of a group of tasks."""

    group: Name
    group_alias: str = OPTIONAL
    task: list[Any]
    aggregate_metric_list: list[Any] = OPTIONAL
    metadata: MetadataKeys


class TaskKeys(StrictModel):
    """The keys of a task with hooks of its own."""

    task: Name
    task_alias: str = OPTIONAL
    tag: Texts = OPTIONAL
    dataset_path: str
    dataset_name: str = OPTIONAL
    dataset_kwargs: DatasetKwargs = OPTIONAL
    test_split: str
    training_split: str = OPTIONAL
    validation_split: str = OPTIONAL
    fewshot_split: str = OPTIONAL
    num_fewshot: int = OPTIONAL
    full_docs: bool = OPTIONAL
    process_docs: Annotated[FunctionTag, ArgumentRange(1, 1)] = OPTIONAL
    process_results_use_image: bool = OPTIONAL
    doc_to_visual: Annotated[FunctionTag, ArgumentRange(1, 2)]
    doc_to_text: Annotated[FunctionOrText, ArgumentRange(1, 2)]
    doc_to_target: Annotated[FunctionOrText, ArgumentRange(1, 1)]
    doc_to_choice: Annotated[FunctionOrText, ArgumentRange(1, 1)] = OPTIONAL
    doc_to_messages: Annotated[FunctionTag, ArgumentRange(1, 2)] = OPTIONAL
    process_results: Annotated[FunctionTag, ArgumentRange(2, 2)]
    description: str = OPTIONAL
    metric_list: Annotated[
        list[MetricRow], WrapValidator(lambda value, check: value if value == DECLARED else check(value))
    ]
    output_type: Annotated[str, AfterValidator(OneOf("not allowed", ("generate_until",)))]
    generation_kwargs: GenerationKwargs
    repeats: Annotated[int, Field(ge=1)] = 1
    filter_list: list[FilterKeys] = OPTIONAL
    cluster_key: str = OPTIONAL
    score_key: str = OPTIONAL
    reasoning_tags: Annotated[Any, AfterValidator(_check_tags)] = OPTIONAL
    auto_strip_thinking: bool = OPTIONAL
    metadata: MetadataKeys
    lmms_eval_specific_kwargs: dict[str, Any] = OPTIONAL
    model_specific_generation_kwargs: dict[str, Any] = OPTIONAL
    model_specific_target_kwargs: dict[str, Any] = OPTIONAL

    def relations(self) -> Iterator[KeyMistake]:
        yield from self._of_data()
        taken = [step.get("k") for step in self.filter_steps if step.get("function") == "take_first_k"]
        if any(k != self.repeats for k in taken):
            message = f"take_first_k takes {taken[0]} of {self.repeats} replies (repeats): the two must be the same"
            yield KeyMistake(message, ("filter_list",))
        names = [] if self.metric_list == DECLARED else [row.metric for row in self.metric_list]
        for index, name in enumerate(names):
            if name in names[:index]:
                yield KeyMistake("the metric is listed twice", ("metric_list", index, "metric"), name)

    def _of_data(self) -> Iterator[KeyMistake]:
        kwargs = self.dataset_kwargs or DatasetKwargs()
        at: tuple[str, ...] = ("dataset_kwargs", "data_files")
        if "/" not in self.dataset_path and self.dataset_path not in LOCAL and not kwargs.load_from_disk:
            yield KeyMistake("no loader of that name, and no hub's owner/name", ("dataset_path",), self.dataset_path,
                        LOCAL, nearest_name(self.dataset_path, LOCAL))  # fmt: skip
        if self.dataset_path in text_tables.OPTIONS:
            for name in text_tables.refused_options(self.dataset_path, kwargs.model_extra or {}):
                yield KeyMistake(text_tables.AS_TEXT, ("dataset_kwargs", name), (kwargs.model_extra or {})[name],
                            text_tables.OPTIONS[self.dataset_path])  # fmt: skip
        if kwargs.data_files is None:
            if self.dataset_path in LOCAL:
                yield KeyMistake(f"is missing: {self.dataset_path} reads files", at)
            return
        for key, split in (("test_split", self.test_split), ("training_split", self.training_split)):
            splits = sorted(kwargs.data_files)
            if split is not None and split not in splits:
                message = f"has no split {split!r}, the task's {key}"
                yield KeyMistake(message, at, splits, near=nearest_name(split, splits))

    @property
    def filter_steps(self) -> list[dict[str, Any]]:
        """The steps of all filters."""
        return [step for row in self.filter_list or () for step in row.filter]


class OurSettings(StrictModel):
    """Settings read by one of our hooks; further keys are settings of single models."""

    model_config = ConfigDict(extra="allow")

    default: TaskSettings


class TaskWithOurHooks(TaskKeys):
    """The keys of a task that uses one of our hooks which read the settings."""

    lmms_eval_specific_kwargs: OurSettings = OPTIONAL  # type: ignore[assignment]


class TemplateSettings(StrictModel):
    """The settings of a task on a template."""

    UNKNOWN_KEY: ClassVar[str] = schema.ONLY_DEFAULT

    default: TaskSettings


class TaskOnTemplate(TaskKeys):
    """The keys of a task scored by a template's hook; keys that scoring relies on are fixed."""

    metric_list: Annotated[Any, PlainValidator(_check_declared)]
    cluster_key: Annotated[
        str, AfterValidator(OneOf("not in the records: name the column in the setting `cluster`", ("cluster",)))
    ] = OPTIONAL
    lmms_eval_specific_kwargs: TemplateSettings = OPTIONAL  # type: ignore[assignment]

    def relations(self) -> Iterator[KeyMistake]:
        yield from super().relations()
        if self.num_fewshot:
            message = "expected 0: a run would end in the harness, whose examples have no images"
            yield KeyMistake(message, ("num_fewshot",), self.num_fewshot)
        functions = [step.get("function") for step in self.filter_steps]
        if self.filter_list is not None and functions != ["take_first_k"]:
            message = "expected the template's one filter, take_first_k: its scoring reads whole replies"
            yield KeyMistake(message, ("filter_list",), functions)
        module = self.process_results.name.rpartition(".")[0]
        template, plain = templates.of_hook(module, {"template": self.metadata.template}), templates.of_hook(module)
        if template is None or plain is None or template.kind != plain.kind:
            yield KeyMistake(f"is not scored by {module}, its hook", ("metadata", "template"), self.metadata.template)
            return
        kwargs = self.lmms_eval_specific_kwargs
        settings = kwargs.default.model_dump(exclude_unset=True) if kwargs else {}
        try:
            schema.check_fit({**template.settings, **settings}, template, "")
        except UserError as error:
            yield KeyMistake(str(error).removeprefix(": "), (SETTINGS, "default"))


def keys_model(values: Mapping[str, Any]) -> type[StrictModel]:
    """The model that fits the content of a YAML."""
    if isinstance(values.get("task"), list):
        return GroupKeys
    if on_template(values.get("process_results")):
        return TaskOnTemplate
    hooks = [values.get(key) for key in ("doc_to_text", "doc_to_visual", "process_results")]
    ours = any(isinstance(hook, FunctionTag) and hook.name.startswith("lmms_medtasks.") for hook in hooks)
    return TaskWithOurHooks if ours else TaskKeys


def reads_settings(chain: IncludeChain) -> bool:
    """Whether one of our hooks reads the task's settings."""
    return issubclass(keys_model(chain.plain), TaskOnTemplate | TaskWithOurHooks)


def task_key_problems(chain: IncludeChain) -> list[ValidationProblem]:
    """All problems of a YAML and its includes, with file and line."""
    values = chain.plain
    return strict_model.model_problems(keys_model(values), values, chain.place)


def template_of(chain: IncludeChain) -> templates.TaskTemplate | None:
    """The template of a YAML, see :func:`lmms_medtasks.suites.templates.of_hook`."""
    return templates.of_hook(str(chain.value("process_results")).rpartition(".")[0], chain.value("metadata"))


def read_joined(path: Path) -> dict[str, Any]:
    """Check the YAML of a task on a template, and read its joined mappings; data files get the folder that has them.

    Raises:
        UserError: the YAML does not fit its model, or a function is named in a mapping.
    """
    log = ValidationLog()
    chain = read_include_chain(path, path.parent, log)
    if chain is not None:
        log.problems += task_key_problems(chain)
    for name, entry in chain.joined.items() if chain else ():
        if any(node.tag == FUNCTION for node in iter_nodes(entry.node)):
            log.add(entry.file, "expected plain values, got a !function", line=entry.line, key=name)
    if chain is None or log.errors:
        raise UserError("\n".join(map(str, log.errors)))
    config = {name: entry.value for name, entry in chain.joined.items()}
    file, _ = chain.place(("dataset_kwargs", "data_files"))
    return locate_data_files({"dataset_path": chain.value("dataset_path"), **config}, file.parent)
