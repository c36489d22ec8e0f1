"""Sampling settings that the harness's runners of chat servers leave out, sent along where a server takes them.

``openai`` and ``async_openai`` send no top_k and no repetition penalty, and vLLM fills what a request leaves out from
the checkpoint: with ``top_k: 1`` shipped, all trials of a question are one reply. OpenAI's own server refuses these
fields, so they are sent only to a server whose list of models says that vLLM or SGLang serves it.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator, Mapping
from typing import Any

from lmms_medtasks.errors import UserError
from lmms_medtasks.harness import runners
from lmms_medtasks.harness.replacing import replaced

_KINDS = ("vllm", "sglang")
_SECONDS = 10.0

Settings = Mapping[str, Any]


def kind(lm: Any) -> str | None:
    """What serves the model that a runner asks, "vllm" or "sglang" by its list of models; None for any other runner.

    Raises UserError as :func:`listed`.
    """
    owners = {str(getattr(model, "owned_by", None)) for model in listed(lm)}
    return next((each for each in _KINDS if owners == {each}), None)


def listed(lm: Any) -> list[Any]:
    """The list of models of the server that a runner asks; [] for any other runner, and where there is none.

    Asks the server, once. Raises UserError where it refuses the key: these runners would ask every question, several
    times each, to be refused.
    """
    client: Any = getattr(lm, "client", None)
    if runners.answering(lm) not in runners.table()["leaves_settings_out"]:
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


def fields(wanted: Settings) -> dict[str, Any]:
    """The settings as such a server takes them, ``wanted`` by the names of transformers."""
    return {
        "top_k": wanted["top_k"] or -1,  # 0 is refused by some versions
        "top_p": wanted["top_p"],
        "min_p": wanted["min_p"] or 0.0,
        "repetition_penalty": wanted["repetition_penalty"],
    }


@contextlib.contextmanager
def sent_along(client: Any, wanted: Settings) -> Iterator[None]:
    """Let each request of an OpenAI client, async or not, have these settings too, until the end."""
    completions = client.chat.completions
    original = completions.create

    @functools.wraps(original)
    def create(**payload: Any) -> Any:
        more = {**fields(wanted), **(payload.pop("extra_body", None) or {})}
        top_p = more.pop("top_p")
        payload["top_p"] = top_p if payload.get("top_p") is None else payload["top_p"]
        return original(**payload, extra_body=more)

    with replaced(completions, "create", create):
        yield
