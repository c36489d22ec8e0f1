"""What OpenAI-compatible servers understand, and what a request to one says about sampling.

A server fills what a request leaves out from the ``generation_config.json`` that its checkpoint ships (vLLM, SGLang) or
from defaults of its own (llama.cpp: top_k 40, min_p 0.05). So everything that a kind of server is known to take is sent
with every request, at the value that leaves the model's distribution as it is unless the task sets another.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lmms_medtasks.errors import UserError, unknown

DEFAULT_MAX_TOKENS = 1024
_BLANK_LINE = ["\n\n"]  # what the harness puts into `until` of a task that has none; no chat runner stops there
_OFF = (None, 0, -1)


@dataclass(frozen=True)
class Kind:
    """A kind of server.

    Attributes:
        owners: what stands as ``owned_by`` in its list of models.
        independent: whether a request with ``n`` draws n independent replies, the i-th with seed + i.
        neutral: sampling settings beyond OpenAI's own, by the server's names, at the values that switch them off.
        names: the server's name of a setting where it differs from the harness's.
        counts_first: whether the ``completion_tokens`` of a reply to ``n`` are those of its first choice, not of all.
    """

    name: str
    owners: frozenset[str] = frozenset()
    independent: bool = False
    neutral: Mapping[str, Any] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    counts_first: bool = False


_KINDS = (
    Kind("vllm", frozenset({"vllm"}), True, {"top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0}),
    # It copies a request n times with one seed.
    Kind("sglang", frozenset({"sglang"}), False, {"top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0}),
    Kind(
        "llamacpp",
        frozenset({"llamacpp"}),
        True,
        {"top_k": 0, "min_p": 0.0, "typical_p": 1.0, "repeat_penalty": 1.0},
        {"repetition_penalty": "repeat_penalty"},
        counts_first=True,
    ),
    Kind("openai", frozenset({"openai", "openai-internal", "system"}), True),
    Kind("other"),
)
KINDS: Mapping[str, Kind] = {each.name: each for each in _KINDS}
"""By name. "other" is a server that says nothing that we know: it is sent OpenAI's own settings only, and no n."""


def of_owner(owner: object) -> Kind:
    """The kind of a server from what its list of models says."""
    return next((each for each in _KINDS if isinstance(owner, str) and owner in each.owners), KINDS["other"])


def named(name: str) -> Kind:
    """The kind of that name; UserError for an unknown one."""
    if name not in KINDS:
        raise unknown("kind of server", name, ["auto", *KINDS], "the model argument kind")
    return KINDS[name]


def samples(settings: Mapping[str, Any]) -> bool:
    """Whether a task's ``generation_kwargs`` ask for sampling; without ``do_sample`` the temperature decides."""
    return settings.get("do_sample", True) is not False and float(settings.get("temperature") or 0) > 0


def sent(kind: Kind, settings: Mapping[str, Any]) -> dict[str, Any]:
    """What a request says about sampling and length, as arguments of ``openai``'s ``chat.completions.create``.

    ``settings``: a task's ``generation_kwargs``, by the harness's names. Without a length, 1024 tokens. Raises
    UserError for a setting that decides the replies and that this kind of server can't be told.
    """
    beams = settings.get("num_beams")
    if beams not in (None, 1):
        raise UserError(f"The task asks for num_beams {beams}; a server draws one reply at a time. Set num_beams: 1.")
    sampled = samples(settings)
    body: dict[str, Any] = {
        "temperature": float(settings["temperature"]) if sampled else 0.0,
        "top_p": float(settings.get("top_p") or 1.0) if sampled else 1.0,
        "max_tokens": int(settings.get("max_new_tokens") or DEFAULT_MAX_TOKENS),
    }
    until = settings.get("until") or []
    stops = [until] if isinstance(until, str) else list(until)
    if stops and stops != _BLANK_LINE:
        body["stop"] = stops
    for name in ("presence_penalty", "frequency_penalty"):
        if settings.get(name) is not None:
            body[name] = float(settings[name])
    extra = dict(kind.neutral)
    for name in ("top_k", "min_p", "typical_p", "repetition_penalty"):
        value, own = settings.get(name), kind.names.get(name, name)
        if _is_off(name, value):
            continue
        if own not in kind.neutral:
            raise UserError(
                f"The task sets {name} to {value!r}, which a server of the kind {kind.name!r} can't be told. Take "
                "the setting out of the task, or give the model argument kind if the server is of another kind "
                f"({', '.join(KINDS)})."
            )
        extra[own] = value
    return {**body, **({"extra_body": extra} if extra else {})}


def _is_off(name: str, value: Any) -> bool:
    return value in (_OFF if name in ("top_k", "min_p") else (None, 1))


def left_out(settings: Mapping[str, Any]) -> list[str]:
    """The names of a task's settings that no request holds."""
    told: Iterable[str] = (
        "do_sample", "temperature", "top_p", "top_k", "min_p", "typical_p", "repetition_penalty", "presence_penalty",
        "frequency_penalty", "max_new_tokens", "num_beams", "until",
    )  # fmt: skip
    return sorted(set(settings) - set(told))
