"""Remove the secrets of a run from replies, before anything stores or scores them, and from its results."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Mapping
from typing import Any

from lmms_medtasks import redacting
from lmms_medtasks.errors import is_command_line
from lmms_medtasks.harness.replacing import wrap_method
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


def leave_secrets_out(lm: Any, secrets: redacting.Secrets) -> contextlib.AbstractContextManager[None]:
    """Let ``lm``, the harness's model, reply without these secrets until the end, also to its ``on_replies``."""

    def on_replies(original: Any, replies: Mapping[int, Any]) -> None:
        original({index: _redact_reply(reply, secrets) for index, reply in replies.items()})

    def generate_until(original: Any, requests: list[Any]) -> list[Any]:
        with wrap_method(lm, "on_replies", on_replies):
            return [_redact_reply(reply, secrets) for reply in original(requests)]

    return wrap_method(lm, "generate_until", generate_until)


def redact_results(results: dict[str, Any] | None, secrets: redacting.Secrets) -> None:
    """Redact the harness's results in place. Samples are made of replies, which have no secret any more."""
    if results:
        results.update({name: secrets.redacted_tree(value) for name, value in results.items() if name != "samples"})


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
