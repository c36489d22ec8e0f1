"""The description of a judge in every result: enough to distinguish two judges, without secrets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from lmms_medtasks.judges import own_scales, prompts
from lmms_medtasks.judges.protocol import JudgeProtocol, Mode
from lmms_medtasks.judges.settings import JUDGE, JudgeSettings, default_settings
from lmms_medtasks.record import QuestionJudgement

NOT_AN_LLM = "token F1 against the reference, not a language model: for smoke tests only"
_LABEL = " (lexical judge, no LLM)"
SAME = ("name", "endpoint", "prompt", "version", "digest", "settings")
"""What must agree between two descriptions for their verdicts to stand in one table. So must the answering model."""
_AT, _ANSWER = " at ", ", answer"
_FULL = re.compile(
    r"(?P<model>.+?)(?P<endpoint> at \S+?)?"
    r"(?P<way>, asked(?: by schema| freely)?(?: \(\w+ [\w.+-]+(?:, \w+ [\w.+-]+)*\))?)?"
    r"(?P<answer>, answered by .+|, answering without a model's name)?"
)
"""What :func:`full_name` writes."""


def describe_judge(settings: JudgeSettings, protocol: JudgeProtocol, check: str = "") -> dict[str, Any]:
    """The judge and what it is asked with, JSON-safe. ``check``: the line of its check (:mod:`.judge_check`), or ""."""
    described: dict[str, Any] = {
        "name": settings.name,
        "endpoint": settings.endpoint,
        "protocol": protocol.name,
        "prompt": protocol.prompt.rsplit("/", 1)[-1],
        "version": protocol.version,
        "digest": prompts.prompt_digest(protocol),
        "settings": asked_settings(settings, protocol),
        "paper_judge": protocol.paper_judge,
        "is_paper_judge": is_paper_judge(settings, protocol),
        **own_scales.scale_metadata(protocol),
    }
    if settings.provider == "lexical":
        described["note"] = NOT_AN_LLM
    if check:
        described["check"] = check
    return described


def summarise_judge(
    settings: JudgeSettings,
    protocols: Sequence[JudgeProtocol],
    check_of: Callable[[JudgeProtocol], str] = lambda protocol: "",
) -> dict[str, Any]:
    """The judge of a task, for its metadata: what all its protocols share, and :func:`describe_judge` of each."""
    descriptions = [describe_judge(settings, protocol, check_of(protocol)) for protocol in protocols]
    shared: dict[str, Any] = {
        key: descriptions[0][key] for key in ("name", "endpoint", "note") if key in descriptions[0]
    }
    common = set.intersection(*(set(one["settings"].items()) for one in descriptions))
    shared["settings"] = {name: value for name, value in descriptions[0]["settings"].items() if (name, value) in common}
    return {**shared, "is_paper_judge": all(one["is_paper_judge"] for one in descriptions), "protocols": descriptions}


def judged_task_label(alias: str, settings: JudgeSettings) -> str:
    """A task's ``alias`` for tables, marked if no language model judged it."""
    return alias.removesuffix(_LABEL) + (_LABEL if settings.provider == "lexical" else "")


def asked_settings(settings: JudgeSettings, protocol: JudgeProtocol) -> dict[str, Any]:
    """What can change a verdict beside the judge and the prompt: the settings, and how it is asked."""
    if not settings.is_llm:
        return {}
    reply = mode_of(settings, protocol)
    return {"temperature": settings.temperature, "max_tokens": settings.max_tokens, "reply": reply}


def mode_of(settings: JudgeSettings, protocol: JudgeProtocol) -> Mode:
    return settings.reply or protocol.reply


def is_paper_judge(settings: JudgeSettings, protocol: JudgeProtocol) -> bool:
    """Whether the model is called as the paper's, and may be it at its address (``closed_judges`` in defaults.yml)."""
    hosts = default_settings()["closed_judges"].get(protocol.paper_judge)
    host = settings.address.host.lower()
    is_there = hosts is None or host in hosts or host.endswith(tuple(each for each in hosts if each.startswith(".")))
    return is_there and settings.is_llm and is_named_after(settings.model, protocol.paper_judge)


def is_named_after(model_name: str, paper_judge: str) -> bool:
    """Whether two models have one name without case, organisation, separators and the first one's date."""
    model, paper = _plain_model_name(model_name), _plain_model_name(paper_judge)
    return bool(paper) and re.fullmatch(re.escape(paper) + r"(\d{6,8})?", model) is not None


def _plain_model_name(name: str) -> str:
    return re.sub(r"[^a-z0-9.]", "", name.lower().rsplit("/", 1)[-1])


def judge_differences(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """In which of :data:`SAME` two descriptions differ, a sentence each."""
    return [
        f"{key}: {one.get(key)!r} and {other.get(key)!r}" for key in SAME if one.get(key) != other.get(key)
    ]  # fmt: skip


def answered_models(judgement: QuestionJudgement) -> list[str]:
    """The models that gave a question's verdicts, as their servers name them, sorted; "" for one that named none."""
    given = [verdict for verdicts in judgement.verdicts for verdict in verdicts if verdict["status"] == "judged"]
    return sorted({str(each["model"]) for each in given if each.get("model") is not None})


def full_name(judge: Mapping[str, Any], model: str | None = None) -> str:
    """A judge's name with everything that distinguishes it from others of that name, except its prompt.

    ``openai:gpt-4o at URL, asked by schema (max_tokens 1024, temperature 0.0), answered by gpt-4o-2024-08-06``.
    ``judge``: see :func:`describe_judge`; its settings may be a text of :func:`way_phrase`. ``model``: the one that
    answered, "" if its server named none, None if none answered.
    """
    name, endpoint, settings = (judge.get(key) for key in ("name", "endpoint", "settings"))
    name = f"{name or 'not recorded'}{_AT}{endpoint}" if endpoint else f"{name or 'not recorded'}"
    if settings:
        name += f", {settings if isinstance(settings, str) else way_phrase(settings)}"
    return name if model is None else f"{name}, {answer_phrase(model)}"


def way_phrase(settings: Mapping[str, Any]) -> str:
    """How a judge is asked: ``asked by schema (max_tokens 1024, temperature 0.0)``."""
    how = {"schema": "asked by schema", "free": "asked freely"}.get(settings.get("reply", ""), "asked")
    rest = ", ".join(f"{name} {value}" for name, value in sorted(settings.items()) if name != "reply")
    return f"{how} ({rest})" if rest else how


def answer_phrase(model: str) -> str:
    return f"answered by {model}" if model else "answering without a model's name"


def one_model_advice(settings: JudgeSettings, model: str) -> str:
    """What to do where a server answers as ``model`` and verdicts of another are there."""
    name = f"{settings.provider}:{model}" if model else "NAME, at a server that names its model"
    return f"Verdicts of two models must not stand in one mean. All by one: lmms-medtasks judge RUN --judge {name}"


def without_unanswered(names: Iterable[str]) -> list[str]:
    """Full names, each once; without a name to which another one adds the model that answered."""
    unique = list(dict.fromkeys(names))
    return [name for name in unique if not any(other.startswith(f"{name}{_ANSWER}") for other in unique)]


def is_answered(full: str) -> bool:
    """Whether a full name says which model answered; True for a judge without an endpoint."""
    return _AT not in full or _ANSWER in full


def is_whole(full: str) -> bool:
    """Whether a full name says where the judge was asked and which model answered."""
    match = _FULL.fullmatch(full)
    return match is not None and bool(match["endpoint"] and match["answer"])


def same_judge(one: str, other: str) -> bool:
    """Whether two full names may be of one judge: they are equal, or one lacks the model that answered."""
    short, long = sorted((one, other), key=len)
    return short == long or (_AT in short and long.startswith(f"{short}{_ANSWER}"))


def is_called(full: str, name: str) -> bool:
    """Whether ``name`` means the judge of a full name: in full, without how it is asked, or as MEDTASKS_JUDGE has it.

    >>> is_called("openai:a at http://b/v1, asked freely (max_tokens 9), answered by a-1", "openai:a at http://b/v1")
    True
    >>> is_called("openai:a at http://b/v1, asked to say Correct, answered by a-1", "openai:a at http://b/v1")
    False
    """
    match = _FULL.fullmatch(full)
    if match is None:
        return full == name
    model, endpoint, way, answer = (match[part] or "" for part in ("model", "endpoint", "way", "answer"))
    judge = model + endpoint
    return name in {model, judge, judge + way, judge + answer, judge + way + answer}


def describe_paper_judges(settings: JudgeSettings, judged: Iterable[tuple[str, JudgeProtocol]]) -> list[str]:
    """Sentences that compare the judge with the papers' judges, one for each of these; of no judge one in all.

    ``judged``: names of tasks or of protocols, each with its protocol.
    """
    names: dict[tuple[str, bool], dict[str, None]] = {}
    for name, protocol in judged:
        names.setdefault((protocol.paper_judge, is_paper_judge(settings, protocol)), {})[name] = None
    lists = {key: ", ".join(group) for key, group in names.items()}
    if settings.provider == "none":
        every = "; ".join(
            listed if judge == own_scales.PAPER_JUDGE else f"{listed} (the paper's judge is {judge})"
            for (judge, _), listed in lists.items()
        )
        return [f"No judge for {every}. Name one in {JUDGE}=provider:model."] if every else []
    sentences = []
    for (paper_judge, is_same), listed in lists.items():
        if paper_judge == own_scales.PAPER_JUDGE:
            sentences.append(f"Judged by {settings.name if settings.is_llm else NOT_AN_LLM}: {listed}.")
        elif settings.provider == "lexical":
            sentences.append(f"Judged by {NOT_AN_LLM}: {listed}. The paper's judge is {paper_judge}.")
        elif is_same:
            sentences.append(f"Judged by {settings.name}, the paper's judge: {listed}.")
        else:
            is_named = is_named_after(settings.model, paper_judge)
            how = (
                f"named like the paper's judge, at {settings.endpoint}"
                if is_named
                else f"in the paper by {paper_judge}"
            )
            by = f"Judged by {settings.name}, {how}"
            sentences.append(f"{by}: {listed}. The numbers are not the paper's to compare with.")
    return sentences
