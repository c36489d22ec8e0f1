"""Who judged, in what stands in every result: enough to tell two judges apart, and no secret."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from lmms_medtasks.judges import prompts
from lmms_medtasks.judges.protocol import Protocol
from lmms_medtasks.judges.settings import Settings

NOT_AN_LLM = "token F1 against the reference, not a language model: for smoke tests only"
_LABEL = " (lexical judge, no LLM)"
SAME = ("name", "host", "prompt", "version", "digest", "settings")
"""What must agree between two descriptions for their verdicts to stand in one table."""


def describe(settings: Settings, protocol: Protocol) -> dict[str, Any]:
    """The judge and what it is asked with, JSON-safe: for a record, for a task's metadata."""
    described: dict[str, Any] = {
        "name": settings.name,
        "host": settings.address.host,
        "protocol": protocol.name,
        "prompt": protocol.prompt if protocol.prompt.count("/") == 0 else protocol.prompt.rsplit("/", 1)[-1],
        "version": protocol.version,
        "digest": prompts.digest(protocol),
        "settings": asking(settings),
        "paper_judge": protocol.paper_judge,
        "is_paper_judge": is_paper_judge(settings, protocol),
    }
    if settings.provider == "lexical":
        described["note"] = NOT_AN_LLM
    return described


def summary(settings: Settings, protocols: Sequence[Protocol]) -> dict[str, Any]:
    """The judge of a task, for its metadata: what :func:`describe` says of all its protocols, and of each."""
    each = [describe(settings, protocol) for protocol in protocols]
    shared: dict[str, Any] = {key: each[0][key] for key in ("name", "host", "settings", "note") if key in each[0]}
    return {**shared, "is_paper_judge": all(one["is_paper_judge"] for one in each), "protocols": each}


def labelled(alias: str, settings: Settings) -> str:
    """What tables call a task: its ``alias``, with the word that no language model judged it where that is so."""
    return alias.removesuffix(_LABEL) + (_LABEL if settings.provider == "lexical" else "")


def asking(settings: Settings) -> dict[str, Any]:
    """The settings that can change a verdict."""
    if not settings.is_llm:
        return {}
    return {"temperature": settings.temperature, "max_tokens": settings.max_tokens}


def is_paper_judge(settings: Settings, protocol: Protocol) -> bool:
    """Whether the model is the paper's, going by its name: case, organisation, separators and a date do not count."""
    model, paper = _plain(settings.model), _plain(protocol.paper_judge)
    return (
        bool(paper)
        and settings.is_llm
        and (model == paper or re.fullmatch(re.escape(paper) + r"\d{6,8}", model) is not None)
    )


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9.]", "", name.lower().rsplit("/", 1)[-1])


def differences(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """In which of :data:`SAME` two descriptions differ, a sentence each."""
    return [
        f"{key}: {one.get(key)!r} and {other.get(key)!r}" for key in SAME if one.get(key) != other.get(key)
    ]  # fmt: skip


def about(settings: Settings, protocol: Protocol) -> str:
    """One sentence on the judge and the paper's."""
    if settings.provider == "none":
        return f"No judge for {protocol.name}. Its paper's judge is {protocol.paper_judge}."
    if settings.provider == "lexical":
        return f"{protocol.name} is judged by {NOT_AN_LLM}. Its paper's judge is {protocol.paper_judge}."
    if is_paper_judge(settings, protocol):
        return f"{protocol.name} is judged by {settings.name}, its paper's judge."
    return (
        f"{protocol.name} is judged by {settings.name}, its paper by {protocol.paper_judge}: the numbers are not the "
        "paper's to compare with."
    )
