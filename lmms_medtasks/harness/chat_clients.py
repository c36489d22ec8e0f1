"""Clients of the ``openai`` package, ours and those that the harness's runners hold: what they may read, and how.

The runners read a completion's content and drop why it ended. What they make of anything else than a text differs:
without content there is an empty reply, the word "None" or an error's text; a list of parts is written out; a reply
that broke off counts as one. So what their client gives them is read before they see it, by the rules of our own runner
(:mod:`lmms_medtasks.chat_replies`). An error that comes of it they take for one of the server, and ask again.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any

from lmms_medtasks import chat_replies
from lmms_medtasks.chat_replies import LONGEST_BODY, NoReply
from lmms_medtasks.harness.failed_requests import failure
from lmms_medtasks.harness.replacing import replaced
from lmms_medtasks.parsing.reply import SentReply

_TOO_LARGE = 422  # a status that the client does not ask again for: the next reply would be as long


class _Content(SentReply):
    """A reply as a runner gets it, which stays whole where the runner adds it to an empty text."""

    def __radd__(self, before: str) -> SentReply:
        return SentReply(before + str(self), self.ended, self.limit, self.tags)


@contextlib.contextmanager
def read_alike(lm: Any, module: str) -> Iterator[None]:
    """Let the client of a runner of the harness give it replies as our own runner reads them, until the end.

    ``module``: the runner's, as :func:`lmms_medtasks.harness.runners.answering` names it; "" for one that is not the
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
        return _awaited(found, limit) if inspect.isawaitable(found) else _read(found, limit)

    with bounded(client), replaced(completions, "create", create):
        yield


async def _awaited(coming: Any, limit: int | None) -> Any:
    return _read(await coming, limit)


def _read(completion: Any, limit: int | None) -> Any:
    """The completion, the content of its first choice as a text. Raises ValueError where it holds no reply."""
    found = choices(completion)
    if not found:
        raise ValueError("The server sent a completion without choices.")
    choice = found[0]
    if choice.finish_reason == "tool_calls":
        choice.message.content = chat_replies.content_text(choice.message.content) or ""
        return completion
    try:
        reply = chat_replies.reply_of(choice, limit)
        choice.message.content = _Content(reply, reply.ended, limit)
    except NoReply as error:
        if error.again:
            raise ValueError(str(error)) from error
        choice.message.content = failure(error)
    return completion


def choices(completion: Any) -> list[Any]:
    """The choices of what the ``openai`` package made of a body, in the order of their indices; [] where it has none.

    The package checks no body: it makes objects of any JSON, and a text of what is sent as text (a proxy's page).
    Raises ValueError for what is no completion, with the server's words where it sent an error with status 200.
    """
    from openai.types.chat import ChatCompletion

    if not isinstance(completion, ChatCompletion):
        raise ValueError(f"a body that is no JSON object: {str(completion)[:100]!r}")
    found = completion.choices or []
    if not found and (own := completion.model_extra):  # fields that no completion has: {"error": …}, {"detail": …}
        raise ValueError(f"an error with status 200: {chat_replies.error_said(own.get('error') or own)}")
    if not isinstance(found, list) or not all(getattr(each, "message", None) for each in found):
        raise ValueError(f"choices without messages: {str(found)[:100]}")
    if all(isinstance(each.index, int) for each in found):
        found = sorted(found, key=lambda choice: choice.index)
    return found


@contextlib.contextmanager
def bounded(client: Any, replies: Callable[[], int] = lambda: 1) -> Iterator[None]:
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
            return _received_later(found, stream, LONGEST_BODY * replies())
        return found if stream else _received(found, LONGEST_BODY * replies())

    with replaced(inner, "send", send):
        yield


def _received(response: Any, longest: int) -> Any:
    body = bytearray()
    try:
        for part in response.iter_bytes():
            body += part
            if len(body) > longest:
                return _too_large(response, longest)
    finally:
        response.close()
    return _made(response, body)


async def _received_later(coming: Any, stream: bool, longest: int) -> Any:
    response = await coming
    if stream:
        return response
    body = bytearray()
    try:
        async for part in response.aiter_bytes():
            body += part
            if len(body) > longest:
                return _too_large(response, longest)
    finally:
        await response.aclose()
    return _made(response, body)


def _made(response: Any, body: bytearray) -> Any:
    import httpx

    # The body is decoded, and whole.
    left_out = ("content-encoding", "content-length", "transfer-encoding")
    headers = [(name, value) for name, value in response.headers.multi_items() if name.lower() not in left_out]
    return httpx.Response(
        response.status_code, headers=headers, content=bytes(body), request=response.request,
        extensions=response.extensions,
    )  # fmt: skip


def _too_large(response: Any, longest: int) -> Any:
    import httpx

    said = f"The body is larger than {longest / 1e6:g} MB, so it was cut off and is no reply."
    return httpx.Response(_TOO_LARGE, json={"error": {"message": said}}, request=response.request)
