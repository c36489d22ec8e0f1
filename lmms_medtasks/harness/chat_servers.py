"""Chat servers and the clients of the ``openai`` package: what servers understand, and what clients send and read.

A server fills what a request leaves out from the ``generation_config.json`` that its checkpoint ships (vLLM, SGLang) or
from its own defaults (llama.cpp: top_k 40, min_p 0.05). With ``top_k: 1`` shipped, all trials of a question are one
reply. So our runner sends every setting that a kind of server is known to take, at the value that leaves the model's
distribution as it is unless the task sets another. The harness's runners ``openai`` and ``async_openai`` leave some
out: these are added where the server's list of models says that vLLM or SGLang serves it (OpenAI's own server refuses
them).

The harness's runners read a completion's content and drop why it ended. What they make of anything other than a text
differs: without content there is an empty reply, the word "None" or an error's text; a list of parts is written out; a
reply that broke off counts as one. So each completion is read before they see it, by the rules of our own runner
(:mod:`lmms_medtasks.chat_replies`). They take an error raised there for one of the server, and ask again.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from lmms_medtasks import chat_replies
from lmms_medtasks.chat_replies import MissingReply
from lmms_medtasks.errors import UserError, unknown_name_error
from lmms_medtasks.harness import runners
from lmms_medtasks.harness.failed_requests import failed_request_text
from lmms_medtasks.harness.replacing import replace_attribute
from lmms_medtasks.parsing.reply import SentReply
from lmms_medtasks.parsing.texts import LONGEST_BODY

_TOO_LARGE = 422  # a status that the client does not ask again for: the next reply would be as long


class _Content(SentReply):
    """A reply for a runner, which keeps its attributes when the runner adds it to a text."""

    def __radd__(self, before: str) -> SentReply:
        return SentReply(before + str(self), self.ended, self.limit, self.tags)


@contextlib.contextmanager
def read_replies_alike(lm: Any, module: str) -> Iterator[None]:
    """Until the end, let the client of a runner of the harness give it replies as our own runner reads them.

    ``module``: the runner's, from :func:`lmms_medtasks.harness.runners.answering_module`; "" for a runner of others.
    Does nothing for a runner without a client of the ``openai`` package.
    """
    client: Any = getattr(lm, "client", None)
    if not module or not type(client).__module__.startswith("openai"):
        yield
        return
    completions = client.chat.completions
    original = completions.create

    @functools.wraps(original)
    def create(**payload: Any) -> Any:
        limit = payload.get("max_tokens") or payload.get("max_completion_tokens")
        completion = original(**payload)
        if not inspect.isawaitable(completion):
            return _read_completion(completion, limit)

        async def read_later() -> Any:
            return _read_completion(await completion, limit)

        return read_later()

    with limit_bodies(client), replace_attribute(completions, "create", create):
        yield


def _read_completion(completion: Any, limit: int | None) -> Any:
    """The completion with the content of its first choice as a text. Raises ValueError without a reply."""
    choices = completion_choices(completion)
    if not choices:
        raise ValueError("The server sent a completion without choices.")
    choice = choices[0]
    if choice.finish_reason == "tool_calls":
        choice.message.content = chat_replies.content_text(choice.message.content) or ""
        return completion
    try:
        reply = chat_replies.parse_choice(choice, limit)
        choice.message.content = _Content(reply, reply.ended, limit)
    except MissingReply as error:
        if error.again:
            raise ValueError(str(error)) from error
        choice.message.content = failed_request_text(error)
    return completion


def completion_choices(completion: Any) -> list[Any]:
    """The choices of a completion in the order of their indices; [] if it has none.

    The ``openai`` package checks no body: ``completion`` may be an object of any JSON, or a text (a proxy's page).
    Raises ValueError for anything but a completion, with the server's words for an error with status 200.
    """
    from openai.types.chat import ChatCompletion

    if not isinstance(completion, ChatCompletion):
        raise ValueError(f"a body that is no JSON object: {str(completion)[:100]!r}")
    choices = completion.choices or []
    if not choices and (extra := completion.model_extra):  # fields that no completion has: {"error": …}, {"detail": …}
        raise ValueError(f"an error with status 200: {chat_replies.server_error_text(extra.get('error') or extra)}")
    if not isinstance(choices, list) or not all(getattr(choice, "message", None) for choice in choices):
        raise ValueError(f"choices without messages: {str(choices)[:100]}")
    if all(isinstance(choice.index, int) for choice in choices):
        choices = sorted(choices, key=lambda choice: choice.index)
    return choices


@contextlib.contextmanager
def limit_bodies(client: Any, replies: Callable[[], int] = lambda: 1) -> Iterator[None]:
    """Limit the size of the bodies that a client of the ``openai`` package, async or not, reads.

    ``replies``: number of replies in a body. A longer body becomes an error of status 422, which is not repeated.
    """
    inner = client._client  # the package's own httpx client
    original = inner.send

    @functools.wraps(original)
    def send(request: Any, *, stream: bool = False, **options: Any) -> Any:
        response = original(request, stream=True, **options)
        if inspect.isawaitable(response):
            return _receive_body_later(response, stream, LONGEST_BODY * replies())
        return response if stream else _receive_body(response, LONGEST_BODY * replies())

    with replace_attribute(inner, "send", send):
        yield


def _receive_body(response: Any, longest: int) -> Any:
    body = bytearray()
    try:
        for part in response.iter_bytes():
            body += part
            if len(body) > longest:
                return _too_large_response(response, longest)
    finally:
        response.close()
    return _whole_response(response, body)


async def _receive_body_later(coming: Any, stream: bool, longest: int) -> Any:
    response = await coming
    if stream:
        return response
    body = bytearray()
    try:
        async for part in response.aiter_bytes():
            body += part
            if len(body) > longest:
                return _too_large_response(response, longest)
    finally:
        await response.aclose()
    return _whole_response(response, body)


def _whole_response(response: Any, body: bytearray) -> Any:
    import httpx

    # The body is decoded, and whole.
    left_out = ("content-encoding", "content-length", "transfer-encoding")
    headers = [(name, value) for name, value in response.headers.multi_items() if name.lower() not in left_out]
    return httpx.Response(
        response.status_code, headers=headers, content=bytes(body), request=response.request,
        extensions=response.extensions,
    )  # fmt: skip


def _too_large_response(response: Any, longest: int) -> Any:
    import httpx

    message = f"The body is larger than {longest / 1e6:g} MB, so it was cut off and is no reply."
    return httpx.Response(_TOO_LARGE, json={"error": {"message": message}}, request=response.request)


DEFAULT_MAX_TOKENS = 1024
_BLANK_LINE = ["\n\n"]  # what the harness puts into `until` of a task that has none; no chat runner stops there
_OFF = (None, 0, -1)


@dataclass(frozen=True)
class ServerKind:
    """A kind of server.

    Attributes:
        owners: values of ``owned_by`` in its list of models.
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
    ServerKind(
        name="vllm",
        owners=frozenset({"vllm"}),
        independent=True,
        neutral={"top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0},
    ),
    # SGLang copies a request n times with one seed.
    ServerKind(
        name="sglang",
        owners=frozenset({"sglang"}),
        neutral={"top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0},
    ),
    ServerKind(
        name="llamacpp",
        owners=frozenset({"llamacpp"}),
        independent=True,
        neutral={"top_k": 0, "min_p": 0.0, "typical_p": 1.0, "repeat_penalty": 1.0},
        names={"repetition_penalty": "repeat_penalty"},
        counts_first=True,
    ),
    ServerKind(name="openai", owners=frozenset({"openai", "openai-internal", "system"}), independent=True),
    ServerKind(name="other"),
)
KINDS: Mapping[str, ServerKind] = {kind.name: kind for kind in _KINDS}
"""By name. "other" is an unknown server: it is sent OpenAI's own settings only, and no n."""


def kind_by_owner(owner: object) -> ServerKind:
    """The kind of a server by ``owned_by`` in its list of models."""
    return next((kind for kind in _KINDS if isinstance(owner, str) and owner in kind.owners), KINDS["other"])


def get_kind(name: str) -> ServerKind:
    """The kind of that name. Raises UserError for an unknown one."""
    if name not in KINDS:
        raise unknown_name_error("kind of server", name, ["auto", *KINDS], "the model argument kind")
    return KINDS[name]


def is_sampled(settings: Mapping[str, Any]) -> bool:
    """Whether a task's ``generation_kwargs`` ask for sampling; without ``do_sample`` the temperature decides."""
    return settings.get("do_sample", True) is not False and float(settings.get("temperature") or 0) > 0


def request_settings(kind: ServerKind, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Sampling and length as arguments of ``openai``'s ``chat.completions.create``.

    ``settings``: a task's ``generation_kwargs``, by the harness's names. The default length is 1024 tokens. Raises
    UserError for a sampling setting that this kind of server does not take.
    """
    beams = settings.get("num_beams")
    if beams not in (None, 1):
        raise UserError(f"The task asks for num_beams {beams}; a server draws one reply at a time. Set num_beams: 1.")
    sampled = is_sampled(settings)
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
        value, server_name = settings.get(name), kind.names.get(name, name)
        if value in (_OFF if name in ("top_k", "min_p") else (None, 1)):
            continue
        if server_name not in kind.neutral:
            raise UserError(
                f"The task sets {name} to {value!r}, which a server of the kind {kind.name!r} can't be told. Take "
                "the setting out of the task, or give the model argument kind if the server is of another kind "
                f"({', '.join(KINDS)})."
            )
        extra[server_name] = value
    return {**body, **({"extra_body": extra} if extra else {})}


def unsent_settings(settings: Mapping[str, Any]) -> list[str]:
    """The names of a task's settings that no request holds."""
    told: Iterable[str] = (
        "do_sample", "temperature", "top_p", "top_k", "min_p", "typical_p", "repetition_penalty", "presence_penalty",
        "frequency_penalty", "max_new_tokens", "num_beams", "until",
    )  # fmt: skip
    return sorted(set(settings) - set(told))


_SECONDS = 10.0

Settings = Mapping[str, Any]


def server_kind(lm: Any) -> str | None:
    """The kind of server that a runner asks, "vllm" or "sglang"; None for other runners and kinds.

    Raises UserError as :func:`list_served_models`.
    """
    kinds = {kind_by_owner(getattr(model, "owned_by", None)).name for model in list_served_models(lm)}
    name = kinds.pop() if len(kinds) == 1 else "other"
    return name if "repetition_penalty" in KINDS[name].neutral else None


def list_served_models(lm: Any) -> list[Any]:
    """The list of models of the server that a runner asks; [] for other runners, and servers without a list.

    Sends one request. Raises UserError if the server refuses the key, which would make every question fail.
    """
    client: Any = getattr(lm, "client", None)
    if runners.answering_module(lm) not in runners.load_runners()["leaves_settings_out"]:
        return []
    if type(client).__name__ not in ("OpenAI", "AsyncOpenAI"):
        return []
    import openai

    asking = openai.OpenAI(api_key=client.api_key, base_url=client.base_url, timeout=_SECONDS, max_retries=1)
    try:
        with asking:
            return list(asking.models.list().data)
    except openai.AuthenticationError as error:
        raise UserError(
            f"The server that {type(lm).__name__} asks refuses the key (HTTP 401). Give the right one as "
            "OPENAI_API_KEY or in --model_args, and give the same command again."
        ) from error
    except (openai.OpenAIError, AttributeError, TypeError, ValueError):
        return []


def sampling_fields(wanted: Settings) -> dict[str, Any]:
    """The settings by the names of vLLM and SGLang; ``wanted`` has the names of transformers."""
    return {
        "top_k": wanted["top_k"] or -1,  # 0 is refused by some versions
        "top_p": wanted["top_p"],
        "min_p": wanted["min_p"] or 0.0,
        "repetition_penalty": wanted["repetition_penalty"],
    }


@contextlib.contextmanager
def add_sampling(client: Any, wanted: Settings) -> Iterator[None]:
    """Add these settings to each request of an OpenAI client, async or not, until the end."""
    completions = client.chat.completions
    original = completions.create

    @functools.wraps(original)
    def create(**payload: Any) -> Any:
        more = {**sampling_fields(wanted), **(payload.pop("extra_body", None) or {})}
        top_p = more.pop("top_p")
        payload["top_p"] = top_p if payload.get("top_p") is None else payload["top_p"]
        return original(**payload, extra_body=more)

    with replace_attribute(completions, "create", create):
        yield
