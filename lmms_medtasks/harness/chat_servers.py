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
from lmms_medtasks.chat_replies import LONGEST_BODY, MissingReply
from lmms_medtasks.errors import UserError, unknown_name_error
from lmms_medtasks.harness import runners
from lmms_medtasks.harness.failed_requests import failed_request_text
from lmms_medtasks.harness.replacing import replace_attribute
from lmms_medtasks.parsing.reply import SentReply

_TOO_LARGE = 422  # a status that the client does not ask again for: the next reply would be as long


class _Content(SentReply):
    """A reply as a runner gets it, which stays whole where the runner adds it to an empty text."""

    def __radd__(self, before: str) -> SentReply:
        return SentReply(before + str(self), self.ended, self.limit, self.tags)


@contextlib.contextmanager
def read_replies_alike(lm: Any, module: str) -> Iterator[None]:
    """Let the client of a runner of the harness give it replies as our own runner reads them, until the end.

    ``module``: the runner's, as :func:`lmms_medtasks.harness.runners.answering_module` names it; "" for one that is not
        the
    harness's. Does nothing for a runner without a client of the ``openai`` package.
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
        found = original(**payload)
        return _await_completion(found, limit) if inspect.isawaitable(found) else _read_completion(found, limit)

    with limit_bodies(client), replace_attribute(completions, "create", create):
        yield


async def _await_completion(coming: Any, limit: int | None) -> Any:
    return _read_completion(await coming, limit)


def _read_completion(completion: Any, limit: int | None) -> Any:
    """The completion, the content of its first choice as a text. Raises ValueError where it holds no reply."""
    found = completion_choices(completion)
    if not found:
        raise ValueError("The server sent a completion without choices.")
    choice = found[0]
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
    """The choices of what the ``openai`` package made of a body, in the order of their indices; [] where it has none.

    The package checks no body: it makes objects of any JSON, and a text of what is sent as text (a proxy's page).
    Raises ValueError for what is no completion, with the server's words where it sent an error with status 200.
    """
    from openai.types.chat import ChatCompletion

    if not isinstance(completion, ChatCompletion):
        raise ValueError(f"a body that is no JSON object: {str(completion)[:100]!r}")
    found = completion.choices or []
    if not found and (own := completion.model_extra):  # fields that no completion has: {"error": …}, {"detail": …}
        raise ValueError(f"an error with status 200: {chat_replies.server_error_text(own.get('error') or own)}")
    if not isinstance(found, list) or not all(getattr(each, "message", None) for each in found):
        raise ValueError(f"choices without messages: {str(found)[:100]}")
    if all(isinstance(each.index, int) for each in found):
        found = sorted(found, key=lambda choice: choice.index)
    return found


@contextlib.contextmanager
def limit_bodies(client: Any, replies: Callable[[], int] = lambda: 1) -> Iterator[None]:
    """Let a client of the ``openai`` package, async or not, read no more of a body than its replies may have.

    ``replies``: how many replies a body holds. What is longer becomes an error of status 422, which is not asked for
    again.
    """
    inner = client._client  # the package's own httpx client
    original = inner.send

    @functools.wraps(original)
    def send(request: Any, *, stream: bool = False, **options: Any) -> Any:
        found = original(request, stream=True, **options)
        if inspect.isawaitable(found):
            return _receive_body_later(found, stream, LONGEST_BODY * replies())
        return found if stream else _receive_body(found, LONGEST_BODY * replies())

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

    said = f"The body is larger than {longest / 1e6:g} MB, so it was cut off and is no reply."
    return httpx.Response(_TOO_LARGE, json={"error": {"message": said}}, request=response.request)


DEFAULT_MAX_TOKENS = 1024
_BLANK_LINE = ["\n\n"]  # what the harness puts into `until` of a task that has none; no chat runner stops there
_OFF = (None, 0, -1)


@dataclass(frozen=True)
class ServerKind:
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
    ServerKind("vllm", frozenset({"vllm"}), True, {"top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0}),
    # It copies a request n times with one seed.
    ServerKind("sglang", frozenset({"sglang"}), False, {"top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0}),
    ServerKind(
        "llamacpp",
        frozenset({"llamacpp"}),
        True,
        {"top_k": 0, "min_p": 0.0, "typical_p": 1.0, "repeat_penalty": 1.0},
        {"repetition_penalty": "repeat_penalty"},
        counts_first=True,
    ),
    ServerKind("openai", frozenset({"openai", "openai-internal", "system"}), True),
    ServerKind("other"),
)
KINDS: Mapping[str, ServerKind] = {each.name: each for each in _KINDS}
"""By name. "other" is a server that says nothing that we know: it is sent OpenAI's own settings only, and no n."""


def kind_by_owner(owner: object) -> ServerKind:
    """The kind of a server from what its list of models says."""
    return next((each for each in _KINDS if isinstance(owner, str) and owner in each.owners), KINDS["other"])


def get_kind(name: str) -> ServerKind:
    """The kind of that name; UserError for an unknown one."""
    if name not in KINDS:
        raise unknown_name_error("kind of server", name, ["auto", *KINDS], "the model argument kind")
    return KINDS[name]


def is_sampled(settings: Mapping[str, Any]) -> bool:
    """Whether a task's ``generation_kwargs`` ask for sampling; without ``do_sample`` the temperature decides."""
    return settings.get("do_sample", True) is not False and float(settings.get("temperature") or 0) > 0


def request_settings(kind: ServerKind, settings: Mapping[str, Any]) -> dict[str, Any]:
    """What a request says about sampling and length, as arguments of ``openai``'s ``chat.completions.create``.

    ``settings``: a task's ``generation_kwargs``, by the harness's names. Without a length, 1024 tokens. Raises
    UserError for a setting that decides the replies and that this kind of server can't be told.
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
    """What serves the model that a runner asks, "vllm" or "sglang" by its list of models; None for any other runner.

    Raises UserError as :func:`list_served_models`.
    """
    kinds = {kind_by_owner(getattr(model, "owned_by", None)).name for model in list_served_models(lm)}
    name = kinds.pop() if len(kinds) == 1 else "other"
    return name if "repetition_penalty" in KINDS[name].neutral else None


def list_served_models(lm: Any) -> list[Any]:
    """The list of models of the server that a runner asks; [] for any other runner, and where there is none.

    Asks the server, once. Raises UserError where it refuses the key: these runners would ask every question, several
    times each, to be refused.
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
    """The settings as such a server takes them, ``wanted`` by the names of transformers."""
    return {
        "top_k": wanted["top_k"] or -1,  # 0 is refused by some versions
        "top_p": wanted["top_p"],
        "min_p": wanted["min_p"] or 0.0,
        "repetition_penalty": wanted["repetition_penalty"],
    }


@contextlib.contextmanager
def add_sampling(client: Any, wanted: Settings) -> Iterator[None]:
    """Let each request of an OpenAI client, async or not, have these settings too, until the end."""
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
