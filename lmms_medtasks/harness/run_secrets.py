"""The secrets of a run out of what its model replies, before anything keeps or scores that, and out of its results."""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from lmms_medtasks import redacting
from lmms_medtasks.errors import is_command_line
from lmms_medtasks.harness.replacing import replace_attribute
from lmms_medtasks.parsing import is_failed_request
from lmms_medtasks.parsing.reply import SentReply


def collect_run_secrets(options: Mapping[str, Any]) -> redacting.Secrets:
    """The secrets in the environment, the command, and what ``(simple_)evaluate`` was given.

    ``options``: its arguments by name. Of a model its client's key and address count too.
    """
    secrets = redacting.secrets_of_command(sys.argv[1:] if is_command_line() else ())
    secrets |= redacting.secrets_of_arguments(getattr(options.get("cli_args"), "model_args", None))
    secrets |= redacting.secrets_of_arguments(options.get("model_args"))
    client: Any = getattr(options.get("lm"), "client", None)
    client_values = {name: getattr(client, name, None) for name in ("api_key", "base_url")}
    return secrets | redacting.secrets_of_arguments(
        {name: str(value) for name, value in client_values.items() if value}
    )


@contextlib.contextmanager
def leave_secrets_out(lm: Any, secrets: redacting.Secrets) -> Iterator[None]:
    """Let ``lm``, the harness's model, reply without these secrets until the end, also where it tells as they come."""
    original = getattr(lm, "generate_until", None)
    if not callable(original):
        yield
        return

    @functools.wraps(original)
    def generate_until(requests: list[Any]) -> list[Any]:
        with contextlib.ExitStack() as changed:
            if callable(on_replies_before := getattr(lm, "on_replies", None)):

                def on_replies(replies: Mapping[int, Any]) -> None:
                    on_replies_before({place: _redact_reply(each, secrets) for place, each in replies.items()})

                changed.enter_context(replace_attribute(lm, "on_replies", on_replies))
            return [_redact_reply(each, secrets) for each in original(requests)]

    with replace_attribute(lm, "generate_until", generate_until):
        yield


def redact_results(results: dict[str, Any] | None, secrets: redacting.Secrets) -> None:
    """Redact the harness's results in place. Samples are made of replies, which have no secret any more."""
    for name, value in (results or {}).items():
        if results and name != "samples":
            results[name] = secrets.redacted_tree(value)


def _redact_reply(reply: Any, secrets: redacting.Secrets) -> Any:
    if isinstance(reply, str):
        redact = secrets.redacted if is_failed_request(reply) else secrets.redacted_reply
        redacted = redact(str(reply))
        return SentReply(redacted, reply.ended, reply.limit, reply.tags) if isinstance(reply, SentReply) else redacted
    if isinstance(reply, tuple) and reply and isinstance(reply[0], str):
        return (_redact_reply(reply[0], secrets), *reply[1:])
    if isinstance(text := getattr(reply, "text", None), str):
        reply.text = _redact_reply(text, secrets)
    return reply
