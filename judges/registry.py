"""The judge protocols by name. A task's YAML names one: ``lmms_eval_specific_kwargs: {default: {judge: NAME}}``."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

from lmms_medtasks.errors import UserError, unknown_name_error
from lmms_medtasks.extensions import Kind, installed_extensions, is_reference, load_extension, resolve_extension_path
from lmms_medtasks.judges import open_answer, own_scales, rubric
from lmms_medtasks.judges.protocol import JudgeProtocol, Mode
from lmms_medtasks.task_settings import task_settings

KIND: Kind = "judge protocol"


def names() -> list[str]:
    """The built-in protocols' names, sorted."""
    return sorted(_builtin_protocols())


@functools.cache
def _builtin_protocols() -> Mapping[str, JudgeProtocol]:
    package = "lmms_medtasks.task_configs"
    protocols = {open_answer.PROTOCOL.name: open_answer.PROTOCOL}
    for path in sorted(Path(importlib.import_module(package).__path__[0]).glob("*/judging.py")):
        for protocol in importlib.import_module(f"{package}.{path.parent.name}.judging").PROTOCOLS:
            if protocol.name in protocols:
                raise UserError(f"Two judge protocols are called {protocol.name!r}: one of them in {path}.")
            protocols[protocol.name] = protocol
    return protocols


_OWN: dict[str, JudgeProtocol] = {}
"""Protocols of someone's own by their names, which is all that a log has. One a process: hooks get nothing else."""


def get(name: str, folder: Path | None = None) -> JudgeProtocol:
    """The protocol called ``name``, built-in or custom.

    Args:
        name: As a task's YAML says it: a built-in one, a rubric's file, ``FILE.py:NAME``, ``package.module:NAME``, or
            what an installed package offers. Once loaded, a custom protocol is also found by its own name.
        folder: Where files are looked for (the YAML's folder); default: the working directory.

    Raises:
        UserError: no such protocol, it is not well-formed (:func:`check_protocol`), or its name is taken.
    """
    if name in _builtin_protocols():
        return _checked_builtin(name)
    if name in _OWN:
        return _OWN[name]
    is_rubric = own_scales.is_rubric(name)
    reference = str(((folder or Path()) / name).resolve()) if is_rubric else resolve_extension_path(name, folder)
    protocol = _load_custom(reference)
    known = _OWN.setdefault(protocol.name, protocol) if protocol.reference else protocol
    if known.reference != protocol.reference:
        raise UserError(
            f"Two judge protocols are called {protocol.name!r}: {known.reference} and {protocol.reference}. Rename one."
        )
    return known


def is_custom_protocol(name: str) -> bool:
    """Whether ``name`` refers to a custom protocol, or is the name of one that was loaded."""
    return is_reference(name) or own_scales.is_rubric(name) or name in _OWN or name in installed_extensions(KIND)


def protocol_from_description(judge: Mapping[str, Any]) -> JudgeProtocol:
    """The protocol of verdicts, from a record's description of the judge; a custom one's scale is in it."""
    name, scale = str(judge["protocol"]), judge.get("scale")
    if not isinstance(scale, Mapping):
        return get(name)
    known = _OWN.get(name)
    return known if known and own_scales.scale_of(known) == scale else own_scales.protocol_from_scale(name, scale)


def forget_custom_protocols() -> None:
    """Forget custom protocols (for tests)."""
    _OWN.clear()
    _load_custom.cache_clear()


@functools.cache
def _load_custom(reference: str) -> JudgeProtocol:
    if own_scales.is_rubric(reference):
        protocol, location = rubric.read(Path(reference)), Path(reference).name
    else:
        part = load_extension(KIND, reference, tuple(names()))
        protocol, location = part.value, f"{part.origin}: the judge protocol {part.name!r}"
        if not isinstance(protocol, JudgeProtocol):
            raise UserError(
                f"{location} is a {type(protocol).__name__}, expected a JudgeProtocol, or the file of a rubric."
            )
    if protocol.name != reference and not rubric.NAME.fullmatch(protocol.name):
        raise UserError(f"{location} calls itself {protocol.name!r}: expected small letters, digits and underscores.")
    if protocol.name in _builtin_protocols():
        raise UserError(f"{location} calls itself {protocol.name!r}, which is one of ours. Give it another name.")
    check_protocol(protocol)
    # One that is called by its module is found again by its name: a log needs no more.
    return (
        protocol if protocol.name == reference and is_reference(reference) else replace(protocol, reference=reference)
    )


@functools.cache
def _checked_builtin(name: str) -> JudgeProtocol:
    protocol = _builtin_protocols()[name]
    check_protocol(protocol)
    return protocol


def check_protocol(protocol: JudgeProtocol) -> None:
    """Raise UserError for a protocol that is not well-formed: its scale, trials, prompt or check."""
    from lmms_medtasks.judges import judge_check, prompts, verdicts

    where = f"Judge protocol {protocol.name!r}"
    dimensions = [dimension.name for dimension in protocol.dimensions]
    if not dimensions or len(set(dimensions)) < len(dimensions):
        raise UserError(f"{where}: expected one or more dimensions of different names, got {dimensions}.")
    for dimension in protocol.dimensions:
        if len(dimension.labels) < 2:
            raise UserError(
                f"{where}: {dimension.name!r} has the labels {list(dimension.labels)}, expected two or more."
            )
    checklist = protocol.checklist
    if checklist and (checklist.name in dimensions or checklist.field not in protocol.fields):
        raise UserError(
            f"{where}: the checklist {checklist.name!r} needs a name that no dimension has, and one of the fields "
            f"{list(protocol.fields)}; its field is {checklist.field!r}."
        )
    if verdicts.EXPLANATION in {*dimensions, checklist.name if checklist else ""}:
        raise UserError(f"{where}: {verdicts.EXPLANATION!r} is what a judge's reasons are called. Take another name.")
    if protocol.reply not in get_args(Mode):
        raise unknown_name_error("reply", protocol.reply, get_args(Mode), where)
    if protocol.trials < 1 or protocol.version < 1:
        raise UserError(f"{where}: trials {protocol.trials} and version {protocol.version} must be 1 or more.")
    prompts.check_prompt_fields(protocol)
    if protocol.check:
        judge_check.list_check_cases(protocol)


def task_protocols(config: Any) -> list[JudgeProtocol]:
    """The protocols that a task's configuration (an object or a mapping) names: one by its name, or a list of names.

    ``judge_prompt`` replaces their prompts by a user's files (one file, or a mapping by protocol), ``judge_rule`` the
    rule that settles answers without a judge. Raises UserError for a file that can't be a prompt of its protocol.
    """
    settings = task_settings(config)
    names = settings.get("judge") or []
    protocols = [get(str(name)) for name in (names if isinstance(names, list | tuple) else [names])]
    if rule := settings.get("judge_rule"):
        protocols = [_with_rule(protocol, str(rule)) for protocol in protocols]
    return _with_prompts(protocols, settings.get("judge_prompt") or {})


def protocols_under_terms(config: Any) -> list[JudgeProtocol]:
    """:func:`task_protocols`, each with the terms that the task itself states (``terms``) where it has none."""
    own = str(task_settings(config).get("terms") or "")
    return [replace(protocol, terms=protocol.terms or own) for protocol in task_protocols(config)]


def _with_rule(protocol: JudgeProtocol, rule: str) -> JudgeProtocol:
    if rule not in protocol.rules:
        raise unknown_name_error("judge rule", rule, protocol.rules, f"protocol {protocol.name!r}")
    return replace(protocol, settle=protocol.rules[rule], rule=rule)


def _with_prompts(protocols: list[JudgeProtocol], given: str | Mapping[str, str]) -> list[JudgeProtocol]:
    files = {"": given} if isinstance(given, str) else dict(given)
    names = [each.name for each in protocols]
    if "" in files and len(names) != 1:
        raise UserError(f"judge_prompt names one file for the protocols {', '.join(names)}. Name a file for each.")
    for name in files:
        if name and name not in names:
            raise unknown_name_error("judge protocol", name, names, "judge_prompt")
    prompted = []
    for protocol in protocols:
        file = files.get(protocol.name) or files.get("")
        changed = replace(protocol, prompt=str(file)) if file else protocol
        if file:
            from lmms_medtasks.judges import prompts

            prompts.check_prompt_fields(changed)
        prompted.append(changed)
    return prompted
