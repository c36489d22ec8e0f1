"""The settings of a task: keys of its YAML under ``lmms_eval_specific_kwargs: default``.

The one place where it is defined: `lmms-medtasks new`, `validate` and the harness check settings against it, and
docs/contributing/settings.md is made from it. A benchmark with further settings has a subclass of
:class:`TaskSettings` in settings.py of its folder.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, Field

from lmms_medtasks import degradations, extensions, folders
from lmms_medtasks.degradations.registry import check_modality
from lmms_medtasks.errors import UserError
from lmms_medtasks.suites import templates
from lmms_medtasks.suites.templates import DRAWN
from lmms_medtasks.task_yaml import strict_model
from lmms_medtasks.task_yaml.problems import ValidationProblem
from lmms_medtasks.task_yaml.strict_model import KeyMistake, OneOf, StrictModel, Texts

ONLY_DEFAULT = "only `default` may stand there: a task on a template asks all models alike."


def optional_setting(about: str, example: Any, default: Any = None) -> Any:
    """Declare an optional setting: description, example and default, for the documentation."""
    return Field(default=default, description=about, examples=[example])


def _is_degradation(name: str) -> bool:
    """Whether a name is an alias of a degradation, or refers to a custom one, which is checked elsewhere."""
    return extensions.is_reference(name) or _succeeds(degradations.canonical_name, name)


def _is_modality(name: str) -> bool:
    return _succeeds(degradations.canonical_modality, name)


def _succeeds(function: Any, *arguments: Any) -> bool:
    try:
        function(*arguments)
    except UserError:
        return False
    return True


def _parser_names() -> tuple[str, ...]:
    from lmms_medtasks.suites.templates.parsers import PARSERS

    return extensions.names("parser", PARSERS)


def _metric_names() -> tuple[str, ...]:
    from lmms_medtasks.suites.templates import measures

    return extensions.names("metric", measures.template_metrics())


def _protocol_names() -> tuple[str, ...]:
    from lmms_medtasks.judges import registry

    return extensions.names("judge protocol", registry.names())


def _is_protocol(name: object) -> bool:
    from lmms_medtasks.judges import registry

    return isinstance(name, str) and registry.is_custom_protocol(name)


class ShiftColumn(StrictModel):
    """Which values of a column are i.i.d. (``iid``) and which out of distribution (``ood``): one or a list."""

    column: str
    iid: Any
    ood: Any

    def relations(self) -> Iterator[KeyMistake]:
        values = shift_side_values(self.model_dump())
        for value in sorted(set(values["iid"]) & set(values["ood"])):
            yield KeyMistake("a value can't be iid and ood", (), value)


class TaskSettings(StrictModel):
    """The settings of a task on a template, or of a task with our hooks."""

    UNKNOWN_KEY: ClassVar[str] = "unknown setting"

    prompt: str = optional_setting(
        "What the model is asked: a file beside the YAML, the name of a built-in prompt, a file of ours relative to "
        "task_configs, or the text itself. {question} and {options} in it are filled in.",
        "prompt.txt",
    )
    option_mark: str = optional_setting("What stands after an option's letter in the prompt.", ")", ".")
    no_image: bool = optional_setting("Show no image; same questions, same prompt.", True, default=False)
    degradation: Annotated[
        str, AfterValidator(OneOf("no such degradation", lambda: (*degradations.known_names(), DRAWN), _is_degradation))
    ] = optional_setting(
        "The degradation of all images, whose modality it must be for. `drawn` draws one for each question from "
        "those of its modality. Without it the table's column `degradation` decides, if there is one. One of your "
        "own: parts.py:NAME of a file beside the YAML, package.module:NAME, or an installed package's name for it.",
        "gaussian_noise",
    )
    severity: Annotated[int, AfterValidator(OneOf("no such severity", (0, 1, 2)))] = optional_setting(
        "0 leaves images as they are, 1 is mild, 2 is severe.", 1
    )
    rendered: bool = optional_setting(
        "The images are degraded already, as in a release; columns `degradation` and `severity` only tell how.",
        True,
        default=False,
    )
    modality: Annotated[str, AfterValidator(OneOf("no such modality", degradations.modalities, _is_modality))] = (
        optional_setting(
            "What all images are of, where the data has no column `modality`. Some degradations depend on it. One of "
            "your own: a file modalities.yml beside the YAML, or an installed package.",
            "X-ray",
        )
    )
    parser: Annotated[str, AfterValidator(OneOf("no such parser", _parser_names, extensions.is_reference))] = (
        optional_setting(
            "How an answer is read out of a reply. An answer that can't be read is wrong, and counted. One of your "
            "own: FILE.py:NAME beside the YAML, or package.module:NAME.",
            "letter",
        )
    )
    metrics: Annotated[Texts, AfterValidator(OneOf("no such metric", _metric_names, extensions.is_reference))] = (
        optional_setting(
            "Which metrics, in this order; the template's own where left out. One of your own: FILE.py:NAME beside the "
            "YAML, or package.module:NAME.",
            ["accuracy", "parse_rate"],
        )
    )
    judge: Annotated[
        Texts,
        AfterValidator(
            OneOf(
                "no such protocol of a judge (the judge itself is named by MEDTASKS_JUDGE)",
                _protocol_names,
                _is_protocol,
            )
        ),
    ] = optional_setting(
        "The judge protocols of open answers: built-in ones, or one of your own: a rubric's file beside the YAML "
        "(rubric.yml), FILE.py:NAME, package.module:NAME. The judge itself is named by whoever runs the task "
        "(MEDTASKS_JUDGE).",
        "open_answer",
    )
    judge_prompt: str | dict[str, str] = optional_setting(
        "A file of your own in place of the judge's prompt, beside the YAML or by its absolute path; of several "
        "protocols a mapping from protocol to file. Its places {{question}} and so on must be the protocol's fields.",
        "judge.txt",
    )
    terms: str = optional_setting(
        "The data's terms: outside models and judges are refused, with this text.", "Ours alone."
    )
    shift: ShiftColumn = optional_setting(
        "Two tests in one: which column tells them apart, and which of its values are i.i.d. (iid) and which out of "
        "distribution (ood). Rows with neither are left out, and their number is told.",
        {"column": "hospital", "iid": "A", "ood": ["B", "C"]},
    )
    cluster: str = optional_setting(
        "The column that intervals are over, such as the patient, where images are not independent. It stands in the "
        "sample log.",
        "patient",
    )
    rotate_options: bool = optional_setting(
        "Ask each multiple-choice question once for each rotation of its options: which answers survive it. The task "
        "then has circular_accuracy, position_bias and incomplete_questions too.",
        True,
        default=False,
    )
    seed: int = optional_setting("Goes into the seeds of degradations, draws and trials.", 1, default=0)
    seed_trials: bool = optional_setting(
        "Seed torch for each trial of each question, so that sampled replies do not depend on the number of processes.",
        True,
        default=False,
    )

    def relations(self) -> Iterator[KeyMistake]:
        metrics = [self.metrics] if isinstance(self.metrics, str) else self.metrics or []
        for index, name in enumerate(metrics):
            if name in metrics[:index]:
                yield KeyMistake("the metric is listed twice", ("metrics", index), name)
        is_custom = extensions.is_reference(self.degradation)
        if self.degradation and self.modality and self.degradation != DRAWN and not is_custom:
            try:
                check_modality(self.degradation, self.modality)
            except UserError as error:
                yield KeyMistake(str(error).partition(" To apply")[0], ("degradation",), self.degradation)


def find_settings_model(folder: Path | None = None) -> type[StrictModel]:
    """The settings model for tasks that read the data of the benchmark in ``folder``."""
    if folder is None or not (folder / "settings.py").is_file():
        return TaskSettings
    settings_model: type[StrictModel] = folders.suite_module(folder, "settings").SETTINGS
    return settings_model


def task_settings_problems(settings: Mapping[Any, Any], folder: Path | None = None) -> list[ValidationProblem]:
    """All problems of a task's settings. ``folder``: of the benchmark whose data the task reads."""
    return strict_model.model_problems(find_settings_model(folder), settings, lambda _: ("", None))


def check_task_settings(settings: Mapping[Any, Any], where: str, folder: Path | None = None) -> None:
    """Raise UserError for :func:`task_settings_problems`; ``where`` names the task."""
    setting_problems = task_settings_problems(settings, folder)
    if setting_problems:
        raise UserError(f"{where}: {' '.join(problem.text for problem in setting_problems)}")


def shift_side_values(shift: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Shift side ("iid", "ood") -> the column's values, as texts."""
    listed = {side: shift[side] if isinstance(shift[side], list) else [shift[side]] for side in ("iid", "ood")}
    return {side: tuple(map(str, values)) for side, values in listed.items()}


def check_fit(settings: Mapping[str, Any], template: templates.TaskTemplate, where: str) -> None:
    """Raise UserError if settings, the template's with the task's above them, do not fit together or the template."""
    foreign_key = "judge" if template.kind == "choice" else "parser"
    if foreign_key in settings:
        raise UserError(f"{where}: {foreign_key} is not for the template {template.name!r}, whose answers are "
                        f"{'read' if template.kind == 'choice' else 'judged'}.")  # fmt: skip
    if settings.get("rotate_options") and settings.get("parser") not in ("option", "letter"):
        raise UserError(
            f"{where}: rotate_options is for questions with options that are read by parser: option or letter, got "
            f"{settings.get('parser', 'a judge')!r}."
        )
    if template.kind == "open" and not isinstance(settings["judge"], str):
        raise UserError(f"{where}: judge: {settings['judge']!r}: one protocol, all questions are of one kind.")
    if template.name.endswith("shift_pair") and "shift" not in settings:
        raise UserError(
            f"{where}: the template {template.name!r} needs lmms_eval_specific_kwargs: default: shift: "
            "{column: ..., iid: ..., ood: ...}."
        )
    metrics = settings.get("metrics") or []
    _check_metrics([metrics] if isinstance(metrics, str) else metrics, settings, template, where)


def _check_metrics(
    names: Sequence[str], settings: Mapping[str, Any], template: templates.TaskTemplate, where: str
) -> None:
    from lmms_medtasks.suites.templates import measures
    from lmms_medtasks.suites.templates.parsers import is_custom_parser

    parser = settings.get("parser", "")
    needs = {
        "shift": ("the setting shift", "shift" in settings),
        "grid": ("parser: position", parser == "position"),
        "letters": (
            "parser: option or letter",
            parser in ("option", "letter") or (parser and is_custom_parser(parser)),
        ),
        "rotations": ("the setting rotate_options: true", settings.get("rotate_options")),
    }
    for name in names:
        fitting = measures.metric_names(template.kind)
        if name not in fitting and name not in measures.template_metrics():
            continue  # of someone's own: checked where it is found
        if name not in fitting:
            raise UserError(f"{where}: the metric {name!r} is not for the template {template.name!r}. Those for it: "
                            f"{', '.join(fitting)}.")  # fmt: skip
        need, is_met = needs.get(measures.NEEDS.get(name, ""), ("", True))
        if not is_met:
            raise UserError(f"{where}: the metric {name!r} needs {need}.")
