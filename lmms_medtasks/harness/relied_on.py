"""The parts of the harness that we rely on, in one table, and what happens if a version of the harness lacks one.

Our plugin is loaded in every ``lmms-eval`` of its environment. When it joins (:mod:`lmms_medtasks.harness.plugin`), it
checks once that all of :data:`POINTS` exist. If one is missing:

- if a number of ours could be wrong without it (``wrong``), what needs it (``part``) refuses to run, with one message:
  our tasks, or only our degraded tasks, our tasks with ``--use_cache``, and so on;
- otherwise a feature is off, and one warning says so, with the version of the harness.

Other people's tasks always run. A signature does not show a changed meaning: ``tests/harness/test_relied_on.py``
compares the numbers of a small evaluation with the installed version.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import inspect
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType
from typing import Any, Literal

from lmms_medtasks.errors import UserError
from lmms_medtasks.harness import runners

TASKS, DEGRADED, JUDGED = "our tasks", "degraded tasks", "judged tasks"
CACHE, PROCESSES = "our tasks with --use_cache", "our tasks in several processes"
MODELS, PYTHON, RESCORING = "our models", "lmms_medtasks.evaluate", "scoring from logs"

Kind = Literal["callable", "object", "value", "only", "text"]
"""callable: a function, method or class with these arguments; object: a class whose instances have these attributes;
value: a name in a module; only: a class whose methods that take ``requests`` are these and no others; text: a constant
in a function's code."""


@dataclass(frozen=True)
class HarnessPoint:
    """A part of the harness that we rely on.

    ``name``: ``module:name`` or ``module:Class.name``; ``takes``: see :data:`Kind`; ``why``: its use; ``without``: what
    is off, or wrong, without it; ``part``: what needs it; ``wrong``: whether numbers could be wrong without it.
    """

    name: str
    kind: Kind
    takes: tuple[str, ...]
    why: str
    without: str
    part: str = TASKS
    wrong: bool = True

    @property
    def module(self) -> str:
        return self.name.partition(":")[0]

    @property
    def short(self) -> str:
        """``TaskManager.match_tasks(task_list)``, for messages."""
        name = self.name.partition(":")[2]
        return f"{name}({', '.join(self.takes)})" if self.kind == "callable" else name


_TASKS, _EVALUATOR, _MODEL = "lmms_eval.tasks:", "lmms_eval.evaluator:", "lmms_eval.api.model:lmms"
_UNCHECKED = "data, judge and chosen settings go unchecked"

POINTS = (
    # --- The index of tasks, and how they are loaded (plugin) ---
    HarnessPoint(f"{_TASKS}TaskManager.initialize_tasks", "callable", (), "lists our tasks",
          "our tasks are found with --include_path \"$(lmms-medtasks path)\" only", wrong=False),
    HarnessPoint(f"{_TASKS}TaskManager.match_tasks", "callable", ("task_list",), "checks the tasks asked for",
          _UNCHECKED),
    HarnessPoint(f"{_TASKS}TaskManager.load_task_or_group", "callable", ("task_list", "task_type"),
          "tells chat from simple runners, and keeps a task's own generation settings", "--gen_kwargs go unnoted"),
    HarnessPoint(f"{_TASKS}TaskManager._load_individual_task_or_group", "callable",
          ("name_or_config", "task_type", "parent_name", "update_config"), "loads degraded tasks",
          "tasks are shown undegraded", DEGRADED),
    HarnessPoint(f"{_TASKS}TaskManager.load_config", "callable", ("config",), "loads tasks given as files",
          "a contributed task is run without its settings"),
    HarnessPoint(f"{_TASKS}TaskManager._get_config", "callable", ("name",),
          "gives hooks their settings, and the result file the digests of data and code",
          f"metric lists are not ours, {_UNCHECKED}"),
    HarnessPoint(f"{_TASKS}TaskManager", "object", ("task_index", "all_tasks", "include_path", "model_name"),
          "tells which tasks are ours", _UNCHECKED),
    HarnessPoint(f"{_TASKS}get_task_dict", "callable", ("task_name_list", "task_manager"),
          "loads tasks for their sizes", "the sizes of tasks are not known", PYTHON),
    # --- The evaluation (evaluating, calls, journal, subset_tasks) ---
    HarnessPoint(f"{_EVALUATOR}evaluate", "callable", ("lm", "task_dict", "limit", "offset", "write_out",
          "system_instruction", "apply_chat_template", "cli_args", "response_cache"),
          "is given a model and tasks, after all checks", "tasks are mixed in one call, replies are not counted"),
    HarnessPoint(f"{_EVALUATOR}simple_evaluate", "callable", ("model", "model_args", "task_manager", "num_fewshot",
          "force_simple", "apply_chat_template", "system_instruction"), "has the options before a model is loaded",
          "mistakes in options are told after the model is loaded", wrong=False),
    HarnessPoint(f"{_EVALUATOR}_enable_reentrant_filelocks", "callable", (), "loads data before the model is",
          "degraded tasks may wait for a lock of their own data", wrong=False),
    HarnessPoint(_MODEL, "only", ("generate_until", "generate_until_multi_round", "generate_visual_cot",
          "loglikelihood"), "is asked one task a call",
          "a model is asked several tasks in one call, and batches mix them"),
    HarnessPoint(f"{_MODEL}.generate_until", "callable", ("requests",), "gives the replies", "replies are not counted"),
    HarnessPoint(_MODEL, "object", ("is_simple", "task_dict"), "tells a runner's kind, and has the documents",
          "images are shown by another runner's rules"),
    HarnessPoint("lmms_eval.api.instance:Instance", "object", ("request_type", "arguments", "args", "metadata",
          "task_name", "doc_id", "repeats", "resps", "filtered_resps", "raw_filtered_resps", "token_counts"),
          "is a request: which task's, document's and trial's", "requests are taken for another task's"),
    HarnessPoint("lmms_eval.api.instance:unwrap_generation_output", "callable", ("output",), "reads a reply's text",
          "failed requests count as wrong answers"),
    HarnessPoint("lmms_eval.api.instance:GenerationResult", "callable", ("text", "token_counts"),
          "is a reply with its tokens", "replies that are kept lose their tokens"),
    HarnessPoint("lmms_eval.api.task:ConfigurableTask.build_all_requests", "callable", ("limit", "rank", "world_size"),
          "fills up each process's requests", "processes ask for each other's tasks", PROCESSES),
    HarnessPoint("lmms_eval.api.task:ConfigurableTask.apply_filters", "callable", (),
          "comes before judging and scoring", "open answers are not judged, padding is scored"),
    HarnessPoint("lmms_eval.api.task:ConfigurableTask", "object", ("config", "instances", "dataset", "dataset_no_image",
          "task_docs", "eval_docs_no_media", "lmms_eval_specific_kwargs"), "has a task's documents and requests",
          "checks of the data are left out"),
    HarnessPoint("lmms_eval.api.task:TaskConfig", "callable", ("task", "task_alias", "dataset_kwargs", "test_split",
          "validation_split", "training_split", "process_docs", "doc_to_visual", "doc_to_text", "doc_to_target",
          "doc_to_messages", "process_results", "metric_list", "output_type", "generation_kwargs", "repeats",
          "filter_list", "cluster_key", "num_fewshot", "metadata"), "is a task's YAML", "metric lists are not ours"),
    HarnessPoint(f"{_EVALUATOR}_clone_padding_request", "text", ("__padding_only__",), "marks padding",
          "padding is scored", PROCESSES),
    HarnessPoint("lmms_eval.caching.response_cache:ResponseCache._is_valid_response", "callable", ("response",
          "request_type"), "keeps failed requests out of the cache", "failed requests are given back as replies",
          CACHE),
    HarnessPoint("lmms_eval.caching.response_cache:ResponseCache._lookup", "callable", ("cache_key",),
          "finds no failed requests in the cache", "failed requests are given back as replies", CACHE),
    HarnessPoint("lmms_eval.api.reasoning:parse_reasoning_tags_config", "callable", ("cli_value", "task_value"),
          "tells what of a reply is reasoning", "a judge is shown another text than is scored", JUDGED),
    HarnessPoint("lmms_eval.api.reasoning:strip_reasoning_tags", "callable", ("text", "tag_pairs"),
          "takes reasoning off", "a judge is shown another text than is scored", JUDGED),
    HarnessPoint("lmms_eval.models.model_utils.usage_metrics:is_budget_exceeded", "callable", (),
          "tells a used-up budget", "requests without a reply count as wrong answers"),
    HarnessPoint("lmms_eval.utils:simple_parse_args_string", "callable", ("args_string",), "reads --model_args",
          "a run that was cut off is taken for another model's"),
    # --- Degraded tasks ---
    HarnessPoint("lmms_eval.api.task:ConfigurableTask", "object", ("_config", "_filters", "OUTPUT_TYPE"),
          "is copied for a degraded task", "a degraded task shares its base's settings", DEGRADED),
    HarnessPoint("lmms_eval.api.task:ConfigurableMessagesTask.doc_to_messages", "callable", ("doc",),
          "shows images in chats", "tasks are shown undegraded", DEGRADED),
    HarnessPoint("lmms_eval.api.group:ConfigurableGroup", "object", ("_config", "group", "group_alias"),
          "is copied for a degraded group", "a degraded group has its base's name", DEGRADED),
    HarnessPoint("lmms_eval.utils:pattern_match", "callable", ("patterns", "source_list"), "finds names with wildcards",
          "wildcards find no degraded tasks", DEGRADED),
    HarnessPoint("lmms_eval.__main__:make_table", "callable", ("result_dict",), "is the last step of the command",
          "a degraded task without a result ends with status 0", DEGRADED, wrong=False),
    # --- Models ---
    HarnessPoint("lmms_eval.models.registry_v2:ModelManifest", "callable", ("model_id", "simple_class_path",
          "chat_class_path"), "lists our models", "no model medtasks_* is known", MODELS, wrong=False),
    HarnessPoint("lmms_eval.models:MODEL_REGISTRY_V2.resolve", "callable", ("model_name", "force_simple"),
          "tells a runner's module before it is loaded", "runners that re-encode images are not named"),
    HarnessPoint("lmms_eval.models:MODEL_REGISTRY_V2.list_model_names", "callable", (), "knows all names of models",
          "an unknown model is named without the nearest", wrong=False),
    HarnessPoint("lmms_eval.models:get_model", "callable", ("model_name", "force_simple"), "gives a runner's class",
          "--apply_chat_template is refused after the model is loaded", wrong=False),
    HarnessPoint(f"{_MODEL}.create_from_arg_string", "callable", ("arg_string", "additional_config"),
          "makes our models", "their arguments are not read", MODELS),
    HarnessPoint(_MODEL, "object", ("_rank", "_world_size"), "tells our models their share", "they ask a part twice",
          MODELS),
    HarnessPoint("lmms_eval.models:MODEL_REGISTRY_V2.get_model_class", "callable", ("model_name", "force_simple"),
          "gives the runner of an adapter", "medtasks_peft knows no runner", MODELS),
    HarnessPoint("lmms_eval.models:MODEL_REGISTRY_V2.list_canonical_model_ids", "callable", (),
          "lists runners for adapters", "medtasks_peft knows no runner", MODELS),
    # --- The harness as a library ---
    HarnessPoint("lmms_eval.loggers:EvaluationTracker", "callable", ("output_path",), "writes result files",
          "none is written", PYTHON),
    HarnessPoint("lmms_eval.loggers:EvaluationTracker.save_results_aggregated", "callable", ("results", "samples",
          "datetime_str"), "writes result files", "none is written", PYTHON),
    HarnessPoint("lmms_eval.loggers:EvaluationTracker.save_results_samples", "callable", ("task_name", "samples"),
          "writes sample logs", "none is written", PYTHON),
    HarnessPoint("lmms_eval.loggers:EvaluationTracker", "object", ("general_config_tracker",), "names the model",
          "none is", PYTHON),
    HarnessPoint("lmms_eval.utils:get_datetime_str", "callable", ("timezone",), "names files", "none is written",
          PYTHON),
    HarnessPoint(_MODEL + ".clean", "callable", (), "ends a run", "a model object can't be used twice", PYTHON),
    # --- Scoring from logs ---
    HarnessPoint("lmms_eval.evaluator_utils:TaskOutput", "callable", ("task", "task_name", "task_config", "version",
          "n_shot"), "aggregates", "nothing is scored anew", RESCORING),
    HarnessPoint("lmms_eval.evaluator_utils:TaskOutput", "object", ("sample_metrics", "calculate_aggregate_metric",
          "calculate_clt_aggregate_metric"), "aggregates", "nothing is scored anew", RESCORING),
    HarnessPoint("lmms_eval.evaluator_utils:consolidate_results", "callable", ("eval_tasks",),
          "makes a result file's numbers", "nothing is scored anew", RESCORING),
    HarnessPoint("lmms_eval.evaluator_utils:consolidate_group_results", "callable", ("results", "versions",
          "task_dict"), "makes the groups' numbers", "nothing is scored anew", RESCORING),
    HarnessPoint("lmms_eval.api.registry:get_aggregation", "callable", ("name",), "finds an aggregation by its name",
          "nothing is scored anew", RESCORING),
    HarnessPoint("lmms_eval.api.task:Task", "value", (), "is a task without data", "nothing is scored anew", RESCORING),
    HarnessPoint("lmms_eval.api.group:ConfigurableGroup", "callable", ("config",), "stands for a group",
          "nothing is scored anew", RESCORING),
    HarnessPoint("lmms_eval.utils:handle_non_serializable", "callable", ("o",), "writes result files",
          "none is written", RESCORING),
)  # fmt: skip


def list_missing_points(part: str | None = None) -> list[HarnessPoint]:
    """The points that this version of the harness lacks: of one part, or all.

    Before the harness has imported its evaluator, only modules that it has imported are checked.
    """
    evaluates = "lmms_eval.evaluator" in sys.modules or part == RESCORING
    return [
        point
        for point in POINTS
        if part in (None, point.part)
        # Importing the command's module would make this process the command.
        and (point.module in sys.modules or (evaluates and point.module != "lmms_eval.__main__"))
        and find_lacking_names(point)
    ]


def list_needed_points(part: str) -> list[HarnessPoint]:
    """The missing points without which a number of this part could be wrong."""
    return [point for point in list_missing_points(part) if point.wrong]


def check_harness_has(part: str, whose: str = "") -> None:
    """Raise UserError if numbers of ``part`` could be wrong; ``whose``: the task, model or option asked for."""
    if lost := list_needed_points(part):
        raise UserError(refusal_message(lost, whose))


def refusal_message(lost: list[HarnessPoint], whose: str = "") -> str:
    """Why the parts that need these points do not run."""
    reasons = "; ".join(f"{point.short}, which {point.why}: without it {point.without}" for point in lost)
    known, installed = str(runners.load_runners()["read_in"]), harness_version()
    way_out = (
        f"This copy of {installed} was changed: install it anew (pip install --force-reinstall --no-deps "
        f"lmms-eval=={installed})"
        if installed == known
        else f"Install the one that this lmms-medtasks was made for (pip install lmms-eval=={known}), or a newer "
        "lmms-medtasks"
    )
    return (
        f"{whose or lost[0].part}: this lmms-eval ({installed}) has not what lmms-medtasks relies on: {reasons}. "
        f"Scores could be wrong, so {lost[0].part} do not run with it; all others do. {way_out}."
    )


def version_warning() -> str:
    """What is off, and what refuses to run, with this version of the harness; "" if nothing is missing."""
    lost = list_missing_points()
    off = list(dict.fromkeys(f"{point.short}: {point.without}" for point in lost if not point.wrong))
    refused = sorted({point.part for point in lost if point.wrong})
    sentences = [f"Off: {'; '.join(off)}."] if off else []
    sentences += [f"Refused, since scores could be wrong: {', '.join(refused)}."] if refused else []
    return f"lmms-eval {harness_version()} is not as lmms-medtasks knows it. {' '.join(sentences)}" if sentences else ""


def find_lacking_names(point: HarnessPoint) -> tuple[str, ...]:
    """The missing names of a point: its own, or some of those that it takes; () if nothing is missing."""
    target = _find_named(point.name)
    if target is None:
        return (point.name,)
    if point.kind == "callable":
        try:
            parameters = inspect.signature(target).parameters
        except (TypeError, ValueError):
            return point.takes
        takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
        return () if takes_any else tuple(name for name in point.takes if name not in parameters)
    if point.kind == "object":
        return tuple(name for name in point.takes if not _has_attribute(target, name))
    if point.kind == "only":
        return tuple(name for name in _iter_asking_methods(target) if name not in point.takes)
    if point.kind == "text":
        constants = set(_iter_constants(inspect.unwrap(target).__code__))
        return tuple(name for name in point.takes if name not in constants)
    return ()


def harness_version() -> str:
    """The version of the harness; "unknown" for one that was not installed."""
    try:
        return importlib.metadata.version("lmms_eval")
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def _find_named(name: str) -> Any:
    module, _, path = name.partition(":")
    try:
        target: Any = importlib.import_module(module)
    except ImportError:
        return None
    for attribute in path.split("."):
        target = getattr(target, attribute, None)
    return target


def _has_attribute(cls: type, name: str) -> bool:
    """Whether instances have an attribute: one of the class, a declared one, or one that a method sets or reads."""
    if hasattr(cls, name):
        return True
    for base in cls.__mro__:
        if name in vars(base).get("__annotations__", {}):
            return True
        methods = (getattr(inspect.unwrap(value), "__code__", None) for value in vars(base).values() if callable(value))
        if any(name in code.co_names for code in methods if code is not None):
            return True
    return False


def _iter_asking_methods(cls: type) -> Iterator[str]:
    """The methods of a model that take requests."""
    for name, value in vars(cls).items():
        if inspect.isfunction(value) and "requests" in inspect.signature(value).parameters:
            yield name


def _iter_constants(code: CodeType) -> Iterator[Any]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _iter_constants(constant)
        else:
            yield constant
