"""The installed declarations of our tasks: suite, version, digests."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lmms_medtasks import digests, folders
from lmms_medtasks.judges import prompts
from lmms_medtasks.judges import registry as protocols
from lmms_medtasks.judges.protocol import JudgedItem, JudgeProtocol
from lmms_medtasks.suites import own_parts, registry, templates
from lmms_medtasks.suites.suite import Suite
from lmms_medtasks.task_settings import task_settings
from lmms_medtasks.task_yaml import chain
from lmms_medtasks.task_yaml.problems import ValidationLog

_DIGEST = 16
CONTRIBUTED = "contributed"
"""The suite of contributed tasks without a benchmark."""


@dataclass(frozen=True)
class Installed:
    """An installed task.

    ``suite``: the folder of its YAML. ``settings``: of its hooks. ``metrics``: of its table, none if its benchmark
    declares none. ``protocols``: of its judge; they may be files in ``folder``.
    """

    suite: str
    version: str
    settings: Mapping[str, Any]
    metrics: frozenset[str] = frozenset()
    protocols: tuple[str, ...] = ()
    folder: Path | None = None

    @property
    def digests(self) -> dict[str, str]:
        """The digests that a run of it records, see :mod:`lmms_medtasks.digests`."""
        return digests.of_settings(self.settings)

    @property
    def is_judged(self) -> bool:
        """Whether a judge scores any of its replies."""
        return bool(self.protocols)

    @property
    def settles_words(self) -> bool:
        """Whether its judge's rules settle replies with words, such as the reference itself."""
        each = self.judge_protocols
        return any(protocol.settle(JudgedItem("", dict.fromkeys(protocol.fields, "word"))) for protocol in each)

    @property
    def judge_protocols(self) -> list[JudgeProtocol]:
        return [protocols.get(name, self.folder) for name in self.protocols]

    @property
    def judge_prompts(self) -> dict[str, str]:
        """Protocol -> version and digest of the judge's prompt."""
        each = self.judge_protocols
        return {protocol.name: prompt_said(protocol.version, prompts.prompt_digest(protocol)) for protocol in each}


def prompt_said(version: object, digest: str) -> str:
    """A judge's prompt as entries record it."""
    return f"version {version}, {digest}"


@functools.cache
def find_installed_task(task: str) -> Installed | None:
    """The installed task of this name; None if there is none."""
    path = folders.task_files().get(task)
    included = chain.read_include_chain(path, path.parent, ValidationLog()) if path else None
    if path is None or included is None or "group" in included.entries:
        return None
    config = included.plain
    metadata = config.get("metadata") or {}
    settings = task_settings(config)
    judge = settings.get("judge")
    return Installed(
        suite=path.parent.name,
        version=str(metadata.get("version", "?")),
        settings=settings,
        metrics=frozenset(registry.metrics_of(str(config.get("process_results", ""))) or ()),
        protocols=(judge,) if isinstance(judge, str) else tuple(judge or ()),
        folder=path.parent,
    )


def installed_tasks() -> list[str]:
    """Our tasks by name, without the groups."""
    return [name for name in folders.task_files() if find_installed_task(name)]


def is_contributed(config: Mapping[str, Any]) -> bool:
    """Whether a run's configuration marks a task as contributed, by its template or its benchmark's folder.

    Such tasks need not be installed: they were run by ``--include_path``.
    """
    metadata = config.get("metadata")  # a list in many of the harness's own tasks
    return isinstance(metadata, Mapping) and any(isinstance(metadata.get(name), str) for name in TOLD)


TOLD = ("template", "benchmark")
"""The keys that a run records of a contributed task."""

ADVICE = "Give the folder of its benchmark with --include_path."

PROTOCOL = "protocol"
"""The setting of an entry that names the judge's protocol of a contributed task."""

CLUSTER = "cluster"
"""The setting of an entry that says what a contributed task's intervals are over, where these are not images."""


def recorded_declaration(config: Mapping[str, Any]) -> dict[str, str]:
    """What a run records of a task's declaration, see :func:`task_declaration`."""
    metadata = config.get("metadata") or {}
    settings = task_settings(config)
    found = {
        **{name: metadata.get(name) for name in TOLD},
        PROTOCOL: settings.get("judge"),
        CLUSTER: settings.get("cluster"),
        own_parts.KEY: own_parts.serialize_declaration(metadata),
    }
    return {name: value for name, value in found.items() if isinstance(value, str) and value}


def task_declaration(task: str, told: Mapping[str, str]) -> Suite | None:
    """The benchmark's declaration of a task, None for an unknown one; ``told``: the record of a contributed task."""
    metadata = {name: told[name] for name in (*TOLD, own_parts.KEY) if name in told}
    settings = {key: told[name] for key, name in (("judge", PROTOCOL), ("cluster", CLUSTER)) if name in told}
    return registry.find_suite(task, {"metadata": metadata, "lmms_eval_specific_kwargs": {"default": settings}})


def declaration_digest(task: str, told: Mapping[str, str]) -> str:
    """A digest of the declaration that an entry brings along: "" if our code has it.

    An entry of a contributed task names the template and the judge's protocol, and thereby the scale of a score.
    """
    suite = task_declaration(task, told)
    if suite is None or not suite.default:
        return ""
    said = {name: told[name] for name in ("template", PROTOCOL, own_parts.KEY) if name in told}
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:_DIGEST]


def is_judged(task: str, told: Mapping[str, str]) -> bool:
    """Whether a judge scores a task's replies: by its YAML if it is installed, else by its template."""
    found = find_installed_task(task)
    if found is not None:
        return found.is_judged
    template = told.get("template", "")
    return template in templates.names() and templates.get(template).kind == "open"


METRICS = "metrics"
"""The setting of an entry with the metrics of a contributed task's table."""


def printed_metrics(task: str, told: Mapping[str, str], suite: Suite) -> Collection[str]:
    """The metrics of a task's table: those installed, else those that a run recorded, else all declared."""
    found = find_installed_task(task)
    named = found.metrics if found else told[METRICS].split(",") if METRICS in told else ()
    return named or suite.estimates


def suite_of(task: str, suite: Suite | None) -> str:
    """The suite of a task on a board: its folder if it is installed, else the name of its declaration."""
    found = find_installed_task(task)
    return found.suite if found else suite.name if suite else CONTRIBUTED
