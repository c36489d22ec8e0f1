"""Which judge protocols there are, by the name that a task's YAML gives.

The YAML says ``lmms_eval_specific_kwargs: {default: {judge: NAME}}``.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import get_args

from lmms_medtasks.errors import UserError, unknown
from lmms_medtasks.judges.protocol import Mode, Protocol

# Name -> "module:ATTRIBUTE", imported when asked for.
_PROTOCOLS: Mapping[str, str] = {
    "open_answer": "lmms_medtasks.judges.open_answer:PROTOCOL",
}


def names() -> list[str]:
    """The built-in protocols' names, sorted: the general ones, and those in the folders of the benchmarks."""
    return sorted({**_PROTOCOLS, **_of_folders()})


@functools.cache
def _of_folders() -> Mapping[str, str]:
    """The protocols that a benchmark's ``judging.py`` lists in PROTOCOLS, by name, and the module of each."""
    package = "lmms_medtasks.task_configs"
    found: dict[str, str] = {}
    for path in sorted(Path(importlib.import_module(package).__path__[0]).glob("*/judging.py")):
        module = f"{package}.{path.parent.name}.judging"
        for attribute, each in vars(importlib.import_module(module)).items():
            if isinstance(each, Protocol) and each in importlib.import_module(module).PROTOCOLS:
                if each.name in {**_PROTOCOLS, **found}:
                    raise UserError(f"Two judge protocols are called {each.name!r}: one of them in {path}.")
                found[each.name] = f"{module}:{attribute}"
    return found


@functools.cache
def get(name: str) -> Protocol:
    """The protocol called ``name``: a built-in one, or ``package.module:ATTRIBUTE`` of anyone's own.

    A protocol's own ``name`` must be the name that it is got by, since a sample log has no more than that.

    Raises:
        UserError: there is none of that name, or it is not well-formed (see :func:`check`).
    """
    known = {**_PROTOCOLS, **_of_folders()}
    if name not in known and ":" not in name:
        message = f"{unknown('judge protocol', name, names())} For one of your own give package.module:ATTRIBUTE."
        raise UserError(message)
    module, _, attribute = known.get(name, name).partition(":")
    try:
        protocol = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise UserError(
            f"Can't get the judge protocol {name!r} from {module}, attribute {attribute!r}: {error}."
        ) from error
    if not isinstance(protocol, Protocol):
        raise UserError(f"{name!r} is a {type(protocol).__name__}, wanted a lmms_medtasks.judges.protocol.Protocol.")
    if protocol.name != name:
        raise UserError(f"The judge protocol {name!r} calls itself {protocol.name!r}: the two names must be the same.")
    check(protocol)
    return protocol


def check(protocol: Protocol) -> None:
    """Raise UserError where a protocol is not well-formed: its scale, its trials, its prompt's places."""
    from lmms_medtasks.judges import judge_check, prompts, verdicts

    where = f"Judge protocol {protocol.name!r}"
    dimensions = [dimension.name for dimension in protocol.dimensions]
    if not dimensions or len(set(dimensions)) < len(dimensions):
        raise UserError(f"{where}: wanted one or more dimensions of different names, got {dimensions}.")
    for dimension in protocol.dimensions:
        if len(dimension.labels) < 2:
            raise UserError(f"{where}: {dimension.name!r} has the labels {list(dimension.labels)}, wanted two or more.")
    checklist = protocol.checklist
    if checklist and (checklist.name in dimensions or checklist.field not in protocol.fields):
        raise UserError(
            f"{where}: the checklist {checklist.name!r} needs a name that no dimension has, and one of the fields "
            f"{list(protocol.fields)}; its field is {checklist.field!r}."
        )
    if verdicts.EXPLANATION in {*dimensions, checklist.name if checklist else ""}:
        raise UserError(f"{where}: {verdicts.EXPLANATION!r} is what a judge's reasons are called. Take another name.")
    if protocol.reply not in get_args(Mode):
        raise unknown("reply", protocol.reply, get_args(Mode), where)
    if protocol.trials < 1 or protocol.version < 1:
        raise UserError(f"{where}: trials {protocol.trials} and version {protocol.version} must be 1 or more.")
    prompts.check(protocol)
    if protocol.check:
        judge_check.cases(protocol)
