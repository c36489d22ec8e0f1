"""Judges on Azure and Bedrock, through the harness's own providers: one attempt a call, the rest is ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lmms_medtasks.errors import UserError
from lmms_medtasks.judges.retrying import retry_after
from lmms_medtasks.judges.settings import HARNESS_PROVIDERS, Settings
from lmms_medtasks.judges.transport import Failure, Message, Reply, model_name

_THROTTLED = {"ThrottlingException", "TooManyRequestsException", "ServiceUnavailableException", "ModelTimeoutException",
              "InternalServerException", "ModelNotReadyException"}  # fmt: skip
_FATAL = {"AccessDeniedException", "ResourceNotFoundException", "UnrecognizedClientException", "ExpiredTokenException"}
_FATAL_STATUS = {401, 402, 403, 404}


def of(settings: Settings) -> HarnessTransport | None:
    """The transport of a judge that is asked through the harness's providers; None for every other judge."""
    return HarnessTransport(settings) if settings.provider in HARNESS_PROVIDERS else None


class HarnessTransport:
    """``lmms_eval.llm_judge``'s provider of the settings' name. It knows no replies by schema."""

    def __init__(self, settings: Settings) -> None:
        from lmms_eval.llm_judge import ServerConfig, get_server

        self._settings = settings
        config = ServerConfig(
            model_name=settings.model,
            temperature=0.0 if settings.temperature is None else settings.temperature,
            max_tokens=settings.max_tokens,
            timeout=max(1, round(settings.timeout)),
            num_retries=1,
            retry_delay=0,
        )
        try:
            self._server = get_server(settings.provider, config)
            client = self._server.client  # made here once: made on first use it would be made by many threads
        except ImportError as error:
            raise UserError(f"The judge {settings.name} needs a package that is not there: {error}.") from error
        except Exception as error:  # of the providers' libraries, which have no common one
            raise UserError(
                f"lmms-eval can't make the judge {settings.name}: {settings.scrubbed(str(error))} (Its Azure judge "
                "wants OPENAI_API_KEY to be set too, to any text; the key that it uses is AZURE_API_KEY.)"
            ) from error
        if hasattr(client, "with_options"):  # the openai package repeats requests by itself
            self._server.client = client.with_options(max_retries=0, timeout=settings.timeout)

    def send(self, messages: Sequence[Message], schema: Mapping[str, Any] | None) -> Reply:
        """Ask once; raises :class:`Failure`. ``schema`` is not passed on."""
        from lmms_eval.llm_judge import Request

        try:
            response = self._server.evaluate(Request(messages=[dict(message) for message in messages]))
        except Exception as error:  # the providers' libraries have no common one; none is swallowed
            raise self._failure(error) from error
        usage = response.usage if isinstance(response.usage, dict) else {}
        return Reply(
            response.content,
            finish=_finish(response.raw_response),
            input_tokens=usage.get("prompt_tokens"),
            output_tokens=usage.get("completion_tokens"),
            model=model_name(_model(response.raw_response), self._settings),
        )

    def close(self) -> None:
        """Nothing of ours is open."""

    def _failure(self, error: Exception) -> Failure:
        code = str(getattr(error, "response", {}).get("Error", {}).get("Code", "")) if _is_boto(error) else ""
        status = getattr(error, "status_code", None)
        headers = getattr(getattr(error, "response", None), "headers", {}) if status else {}
        said = " ".join(self._settings.scrubbed(f"{type(error).__name__}: {error}").split())[:300]
        programming = isinstance(error, TypeError | AttributeError | KeyError | IndexError)
        return Failure(
            f"request failed: {said}",
            repeat=code in _THROTTLED
            or status in (408, 409, 429)
            or (isinstance(status, int) and status >= 500)
            or (not code and status is None),
            wait=retry_after({str(name).lower(): str(value) for name, value in dict(headers).items()}),
            fatal=code in _FATAL or status in _FATAL_STATUS,
            billed=programming,  # a reply came, of another form than the harness's provider reads
        )


def _is_boto(error: Exception) -> bool:
    return isinstance(getattr(error, "response", None), dict)


def _model(raw: Any) -> Any:
    """The model that answered. Not the harness's ``model_used``, which is the one asked for where none is named."""
    return raw.get("model") if isinstance(raw, dict) else getattr(raw, "model", None)


def _finish(raw: Any) -> str:
    """Why the reply ended, in the words of either provider."""
    if isinstance(raw, dict):
        return str(raw.get("stopReason", ""))
    try:
        return str(raw.choices[0].finish_reason or "")
    except (AttributeError, IndexError, TypeError):
        return ""
