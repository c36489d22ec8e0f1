"""A benchmark's ``paper.yml``: named settings, and the differences between the paper's protocol and ours.

One file a benchmark says both: what ``--settings paper`` changes in its tasks, and each difference in a line that
reports print beside published rows and that the card lists. Whether a run has a difference is told by what the run
recorded, not by the name of its settings.
"""

from __future__ import annotations

import fnmatch
import functools
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lmms_medtasks import folders
from lmms_medtasks.errors import UserError, unknown_name_error
from lmms_medtasks.suites import registry

VARIABLE = "MEDTASKS_SETTINGS"
"""The name of the settings: set by ``lmms-medtasks run --settings``, read by the processes of the run."""

FILE = "paper.yml"
OURS = "ours"
THINKING = "thinking"
"""Settings of every benchmark, a contributed one too, for models that think; a ``paper.yml`` whose paper limits replies
says so under this name."""

THINKING_TOKENS = 4096
"""New tokens that a reply may have with them. A task of a higher limit keeps that."""


Facts = Mapping[str, Any]
"""What a run used on a task: see :func:`facts_of`."""

_FACT = re.compile(r"\{([\w.]+)\}")
_KEYS = {
    "settings": {"about", "default", "generation"},
    "differences": {"title", "line", "place", "more", "tasks", "gone", "only", "card_only", "not_in"},
}


@dataclass(frozen=True)
class PaperSettings:
    """The settings of a paper.

    ``default``: what they change under ``lmms_eval_specific_kwargs: default``; ``generation``: under
    ``generation_kwargs``. Both empty: no known setting of the paper differs from ours.
    """

    name: str
    about: str
    default: Mapping[str, Any]
    generation: Mapping[str, Any]


OF_ALL: Mapping[str, PaperSettings] = {
    THINKING: PaperSettings(
        THINKING, f"Replies have up to {THINKING_TOKENS:,} new tokens.", {}, {"max_new_tokens": THINKING_TOKENS}
    )
}
"""Settings that a benchmark has unless its ``paper.yml`` names others of that name."""


@dataclass(frozen=True)
class PaperDifference:
    """One difference between the paper's protocol and ours.

    Attributes:
        line: what reports print: ours, then theirs; ``{generation.max_new_tokens}`` stands for a fact of the run.
        place: where the paper, or its authors' code, says it. more: what only the card says.
        tasks: patterns of the tasks' names that it is of.
        gone: facts, any one mapping of which makes it none. only: facts without which there is none.
        card_only: no number beside a published one depends on it: the card says it, reports don't.
        not_in: keys of tables whose numbers are without it.
    """

    title: str
    line: str
    place: str
    more: str
    tasks: tuple[str, ...]
    gone: tuple[Mapping[str, Any], ...]
    only: Mapping[str, Any]
    card_only: bool
    not_in: tuple[str, ...]

    def is_there(self, task: str, facts: Facts) -> bool:
        """Whether a run of ``task`` with these facts differs in this way."""
        return (
            any(fnmatch.fnmatchcase(task, pattern) for pattern in self.tasks)
            and has_facts(self.only, facts)
            and not any(has_facts(facts_without_it, facts) for facts_without_it in self.gone)
        )

    def said(self, facts: Facts) -> str:
        """Its line with the run's facts filled in."""
        return _FACT.sub(lambda match: str(facts.get(match[1], "?")), self.line)


@dataclass(frozen=True)
class PaperProtocol:
    """A benchmark's ``paper.yml``. ``ours``: facts of our own protocol, for the card."""

    settings: Mapping[str, PaperSettings]
    differences: tuple[PaperDifference, ...]
    ours: Facts

    def remaining(self, task: str, facts: Facts) -> list[PaperDifference]:
        """The differences that reports name of a run of ``task`` with these facts."""
        reported = (difference for difference in self.differences if not difference.card_only)
        return [difference for difference in reported if difference.is_there(task, facts)]


def has_facts(expected: Mapping[str, Any], facts: Facts) -> bool:
    return all(facts.get(name) == value for name, value in expected.items())


def facts_of(config: Mapping[str, Any]) -> dict[str, Any]:
    """Dotted name -> fact of a task's protocol, from its configuration in a result file.

    ``setting.X``: X of ``lmms_eval_specific_kwargs: default``; ``generation.X``: of ``generation_kwargs``; ``repeats``;
    ``settings``: the name of the settings that changed it; ``own_prompt`` and ``own_judge_prompt``: whether the user's
    own file was asked by; ``paper_judge``: whether the model that judged is the paper's.
    """
    kwargs = config.get("lmms_eval_specific_kwargs") or {}
    metadata = recorded_metadata(config)
    judge = metadata.get("judge")
    return {
        **{f"setting.{name}": value for name, value in {**kwargs, **(kwargs.get("default") or {})}.items()},
        **{f"generation.{name}": value for name, value in (config.get("generation_kwargs") or {}).items()},
        "repeats": config.get("repeats"),
        "settings": settings_label(metadata),
        "own_prompt": bool(metadata.get("own_prompt")),
        "own_judge_prompt": bool((kwargs.get("default") or {}).get("judge_prompt")),
        "paper_judge": bool(isinstance(judge, Mapping) and judge.get("is_paper_judge")),
    }


def recorded_metadata(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """A task's metadata; empty where it is no mapping: it is a list in many of the harness's own tasks."""
    metadata = config.get("metadata")
    return metadata if isinstance(metadata, Mapping) else {}


def settings_label(metadata: Mapping[str, Any]) -> str:
    """The name of the settings that changed a task, by its metadata; "" for ours."""
    settings = metadata.get("settings")
    return str(settings.get("name") or "") if isinstance(settings, Mapping) and settings.get("changes") else ""


def requested_settings() -> str:
    """The name of the settings in :data:`VARIABLE`, "" for ours. Raises UserError if no benchmark has that name."""
    name = os.environ.get(VARIABLE, "").strip()
    return "" if name in ("", OURS) else checked_settings_name(name)


def checked_settings_name(name: str) -> str:
    """Return ``name``. Raises UserError if no installed benchmark has settings of that name."""
    papers = filter(None, map(find_paper_protocol, registry.names()))
    known = {OURS, *OF_ALL, *(setting for paper in papers for setting in paper.settings)}
    if name not in known:
        raise unknown_name_error("settings", name, sorted(known), f"--settings or {VARIABLE}")
    return name


def find_paper_protocol(suite: str) -> PaperProtocol | None:
    """A benchmark's ``paper.yml``; None if its folder has none. Raises UserError if it is not well-formed."""
    folder = registry.folder_of(suite)
    path = folder / FILE if folder else None
    return _read_file(path) if path and path.is_file() else None


@functools.cache
def _read_file(path: Path) -> PaperProtocol:
    content = folders.read_yaml(path)
    if not isinstance(content, Mapping) or not isinstance(content.get("settings"), Mapping):
        raise UserError(f"{path}: expected mappings settings and differences.")
    for part, known in _KEYS.items():
        for name, each in (content.get(part) or {}).items():
            if not isinstance(each, Mapping):
                raise UserError(f"{path}, {part}, {name}: expected a mapping with {', '.join(sorted(known))}.")
            for key in each:
                if key not in known:
                    raise unknown_name_error("key", str(key), sorted(known), f"{path}, {part}, {name}")
    settings = {
        name: PaperSettings(
            name, _join_words(each.get("about")), each.get("default") or {}, each.get("generation") or {}
        )
        for name, each in content["settings"].items()
    }
    found = tuple(_parse_difference(row) for row in (content.get("differences") or {}).values())
    return PaperProtocol({**OF_ALL, **settings}, found, content.get("ours") or {})


def _parse_difference(row: Mapping[str, Any]) -> PaperDifference:
    gone = row.get("gone") or ()
    return PaperDifference(
        title=_join_words(row.get("title")),
        line=_join_words(row.get("line")),
        place=_join_words(row.get("place")),
        more=_join_words(row.get("more")),
        tasks=tuple(row.get("tasks") or ("*",)),
        gone=(gone,) if isinstance(gone, Mapping) else tuple(gone),
        only=row.get("only") or {},
        card_only=bool(row.get("card_only")),
        not_in=tuple(row.get("not_in") or ()),
    )


def _join_words(value: object) -> str:
    return " ".join(str(value or "").split())
