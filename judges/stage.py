"""Which protocols judge a task. The stage itself is the harness's (:mod:`lmms_medtasks.harness.judging_stage`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from lmms_medtasks.errors import UserError, unknown
from lmms_medtasks.judges import prompts, registry
from lmms_medtasks.judges.protocol import Protocol


def protocols_of(config: Any) -> list[Protocol]:
    """The protocols that a task's configuration (an object or a mapping) names: one by its name, or a list of names.

    A task with several kinds of questions has a protocol for each; one sees nothing to judge in another's documents.
    ``judge_prompt`` puts a user's files in place of their prompts (one file, or a mapping by protocol), ``judge_rule``
    another rule in place of what they settle without a judge. Raises UserError for a file that can't be a prompt of its
    protocol.
    """
    # The harness's configuration object is a dict too, an empty one.
    found = getattr(config, "lmms_eval_specific_kwargs", None) or config.get("lmms_eval_specific_kwargs") or {}
    settings = found.get("default") or {}
    named = settings.get("judge") or []
    protocols = [registry.get(str(name)) for name in (named if isinstance(named, list | tuple) else [named])]
    if rule := settings.get("judge_rule"):
        protocols = [_with_rule(each, str(rule)) for each in protocols]
    return _with_prompts(protocols, settings.get("judge_prompt") or {})


def _with_rule(protocol: Protocol, rule: str) -> Protocol:
    if rule not in protocol.rules:
        raise unknown("judge rule", rule, protocol.rules, f"protocol {protocol.name!r}")
    return replace(protocol, settle=protocol.rules[rule], rule=rule)


def _with_prompts(protocols: list[Protocol], given: str | Mapping[str, str]) -> list[Protocol]:
    """The protocols with the prompts of these files; "" names the file of the only protocol."""
    files = {"": given} if isinstance(given, str) else dict(given)
    names = [each.name for each in protocols]
    if "" in files and len(names) != 1:
        raise UserError(f"judge_prompt names one file for the protocols {', '.join(names)}. Name a file for each.")
    for name in files:
        if name and name not in names:
            raise unknown("judge protocol", name, names, "judge_prompt")
    found = []
    for protocol in protocols:
        file = files.get(protocol.name) or files.get("")
        own = replace(protocol, prompt=str(file)) if file else protocol
        if file:
            prompts.check(own)
        found.append(own)
    return found


def trials_of(protocol: Protocol, asking: Mapping[str, Any]) -> int:
    """How often an answer is judged by a judge that is asked so (:func:`lmms_medtasks.judges.identity.asking`).

    Once at temperature 0, whatever the protocol says: its judgements would be one request sent several times. Once
    too where no language model judges.
    """
    return protocol.trials if asking.get("temperature", 0) != 0 else 1
