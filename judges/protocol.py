"""What a judge protocol is: data and two pure functions, which know neither the judge nor the network."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from lmms_medtasks.errors import unknown_name_error
from lmms_medtasks.judges.checklists import PointChecklist

Status = Literal["exact", "judged", "missing"]
"""exact: the protocol's rule settled it without a judge. judged: a judge's verdict was read and is valid. missing: no
valid verdict could be had; this is never a score."""

Mode = Literal["schema", "free"]
"""How a judge is asked. schema: its server holds it to a JSON schema, whose first key is a text with its reasons. free:
it reasons in words of its own and ends with the verdict."""


@dataclass(frozen=True)
class ScoreDimension:
    """One thing that is scored. ``labels``: what a judge may say (as text) -> the number that it stands for."""

    name: str
    labels: Mapping[str, float]

    @property
    def is_numeric(self) -> bool:
        """Whether all labels are numbers as JSON writes them."""
        return all(re.fullmatch(r"-?(?:0|[1-9]\d*)(?:\.\d+)?", label, re.ASCII) for label in self.labels)

    @property
    def worst(self) -> float:
        return min(self.labels.values())

    @property
    def best(self) -> float:
        return max(self.labels.values())


@dataclass(frozen=True)
class JudgedItem:
    """One answer of a model, and everything that its judge is shown.

    ``fields`` fills the places of the prompt: ``question``, ``reference``, ``answer`` and others. All are texts of
    others, perhaps hostile: none reaches a judge unescaped.
    """

    id: str
    fields: Mapping[str, str]


@dataclass(frozen=True)
class JudgeVerdict:
    """The result of one judgement.

    ``labels``: dimension -> label, and the ticked points under a checklist's name; empty if missing. ``reason``: why it
    is missing, or which rule settled it. ``reply``: the judge's words. ``model``: the model that answered, as its
    server names it; "" if it named none, None if no server gave the verdict. ``system_fingerprint``: the server's name
    for how it serves the model, or "".
    """

    status: Status
    labels: Mapping[str, str] = field(default_factory=dict)
    reason: str = ""
    reply: str = ""
    model: str | None = None
    system_fingerprint: str = ""


Settle = Callable[[JudgedItem], tuple[Mapping[str, str], str] | None]


@dataclass(frozen=True, kw_only=True)
class JudgeProtocol:
    """How the open answers of a benchmark are judged.

    Attributes:
        name: as the registry calls it, and every log.
        prompt: file in ``judges/prompts``; its places are ``{{name}}`` for each of ``fields``.
        version: goes up when the prompt, the scale or the reading changes what a judge would say.
        dimensions: what is scored. All of them must be in a verdict, and no other.
        fields: the names of an item's fields, in the order of the prompt.
        paper_judge: the judge of the benchmark's paper, as the paper calls it.
        item: the item for a document and an answer without thoughts, possibly ""
            (:attr:`~lmms_medtasks.parsing.reply.Reply.answer`); None if there is nothing to judge.
        settle: the labels that a rule gives without a judge (an exact match, an empty answer), and the rule's name;
            None if a judge is needed.
        rules: what a task's setting ``judge_rule`` may put in place of ``settle``. rule: which it did, "" if none.
        reply: how the judge is asked, unless MEDTASKS_JUDGE_REPLY says otherwise.
        checklist: points of each item that the judge ticks off before its labels.
        trials: independent judgements of each answer.
        total: the one number of a judgement, from all dimensions' numbers.
        terms: what the data's terms say of third parties. If not empty, only a judge on loopback, or at an address that
            the user allowed by name, may see the texts.
        open_tags: with terms, the document's tags that may stand in a log all the same; ids always may.
        check: file with answers of known quality (:mod:`~lmms_medtasks.judges.judge_check`), an absolute path or one in
            ``judges/checks``.
        source: where the scale and the rule come from, and what is ours.
        scale: the labels with their meanings as text, for the prompt's place ``{{scale}}``.
        reference: of a custom protocol how a task named it; "" of ours.
    """

    name: str
    prompt: str
    version: int
    dimensions: tuple[ScoreDimension, ...]
    fields: tuple[str, ...]
    paper_judge: str
    item: Callable[[Mapping[str, Any], str], JudgedItem | None]
    settle: Settle = lambda item: None
    rules: Mapping[str, Settle] = field(default_factory=dict)
    rule: str = ""
    reply: Mode = "schema"
    checklist: PointChecklist | None = None
    trials: int = 1
    total: Callable[[Mapping[str, float]], float] | None = None
    terms: str = ""
    open_tags: tuple[str, ...] = ()
    check: str = ""
    source: str = ""
    scale: str = ""
    reference: str = ""

    def dimension(self, name: str) -> ScoreDimension:
        for each in self.dimensions:
            if each.name == name:
                return each
        raise unknown_name_error("dimension", name, [each.name for each in self.dimensions], f"protocol {self.name!r}")


def count_judging_trials(protocol: JudgeProtocol, asking: Mapping[str, Any]) -> int:
    """How often a judge with these settings judges an answer: once at temperature 0 (requests would be equal)."""
    return protocol.trials if asking.get("temperature", 0) != 0 else 1


Key = tuple[str, int, tuple[tuple[str, str], ...], int]


def judgement_key(protocol: JudgeProtocol, item: JudgedItem, trial: int) -> Key:
    """Identifies a judgement of one judge: protocol, version, every field's text, the trial's number."""
    return protocol.name, protocol.version, tuple(sorted(item.fields.items())), trial
