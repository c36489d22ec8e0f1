"""``medtasks_server``: a model behind an OpenAI-compatible server (vLLM, SGLang, llama.cpp, hosted ones).

Differences to the harness's ``openai`` and ``async_openai``: a question is rendered and encoded once for all its
trials, in threads, ahead of the requests; its trials are one request with ``n`` if the server then draws independent
replies; sampling settings in a checkpoint have no effect on servers of a known kind; the result file describes the
server, its model and the settings that were sent.
"""

from __future__ import annotations

import base64
import contextlib
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import openai
from lmms_eval.api.instance import GenerationResult, TokenCounts
from loguru import logger
from tqdm import tqdm

from lmms_medtasks import pictures, redacting
from lmms_medtasks.errors import UserError
from lmms_medtasks.harness.calls import PADDING, TRIAL
from lmms_medtasks.harness.chat_servers import (
    completion_choices,
    get_kind,
    is_sampled,
    kind_by_owner,
    limit_bodies,
    request_settings,
    unsent_settings,
)
from lmms_medtasks.harness.own_models import OwnModel, check_model_arguments, parse_whole_number
from lmms_medtasks.harness.server_asking import (
    PreparedQuestion,
    ServerClient,
    ServerConnection,
    ServerReply,
    ServerUsage,
)
from lmms_medtasks.seeding import stable_seed

ARGUMENTS = (
    "model", "base_url", "api_key", "concurrency", "threads", "timeout", "retries", "seed", "kind", "many",
)  # fmt: skip

_PROBE_SECONDS = 120.0
"""Timeout of the probe, which is sent up to two times."""

_PROBE = "Reply with one word."
_LISTING_SECONDS = 20.0  # a server that does not list its models by then hangs
# A proxy before another model's server (such as LiteLLM) names "openai" as the owner too.
_OPENAI_HOSTS = (".openai.com", ".openai.azure.com")
_MANY = {"auto": None, "true": True, "false": False}


class ServerModel(OwnModel):
    """Arguments: ``model``, as the server names it; ``base_url``, which usually ends in /v1; ``api_key`` (default
    OPENAI_API_KEY); ``concurrency``, requests in flight; ``threads`` that render and encode pictures; ``timeout`` in
    seconds and ``retries`` of a request; ``seed``, or "none" for a server that fails on seeds; ``kind`` of server
    ("auto": by its list of models); ``many``, whether trials are asked in one request ("auto": if the kind of server
    draws independent replies then, and a probe got two).

    Raises UserError if the server can't be reached, refuses the key, does not serve the model, or refuses the
    settings. No data is sent for that.
    """

    is_simple = False
    on_replies: Callable[[Mapping[int, Any]], object] | None = None
    """Called with replies as they come, by their indices in the call's list of requests."""

    def __init__(
        self,
        model: str = "",
        base_url: str = "",
        api_key: str | None = None,
        concurrency: int = 64,
        threads: int | None = None,
        timeout: float = 600.0,
        retries: int = 4,
        seed: int | str | None = 0,
        kind: str = "auto",
        many: bool | str = "auto",
        **kwargs: Any,
    ) -> None:
        super().__init__()
        check_model_arguments(kwargs, ARGUMENTS)
        if not model or not _is_address(str(base_url)):
            raise UserError(
                "The model medtasks_server needs the model's name and the server's address: --model_args "
                "model=NAME,base_url=http://127.0.0.1:8000/v1, with http:// or https://. Got "
                f"model={model!r}, base_url={redacting.redact_address(str(base_url))!r}."
            )
        self.model_name = str(model)
        self.seed = None if seed is None or str(seed).lower() == "none" else parse_whole_number("seed", seed, 0)
        default_threads = min(8, max(2, (os.cpu_count() or 2) // 2))
        self.threads = parse_whole_number("threads", default_threads if threads is None else threads, 1)
        self.concurrency = parse_whole_number("concurrency", concurrency, 1)
        self.connection = ServerConnection(
            base_url=str(base_url),
            api_key=str(api_key or os.environ.get("OPENAI_API_KEY") or "none"),
            timeout=_check_seconds(timeout),
            retries=parse_whole_number("retries", retries, 0),
            model=self.model_name,
        )
        if str(many).lower() not in _MANY:
            raise UserError(f"The model argument many must be auto, True or False, got {many!r}.")
        self.client = openai.OpenAI(**self.connection.client_options())  # model_terms looks at its base_url
        self._asker: ServerClient[_ServerQuestion] = ServerClient(self.connection, self.concurrency, self.threads)
        self._seen: dict[str, ServerUsage] = {}
        self.serves = self._find_served_model()
        owner = self.serves.get("owned_by")
        self.kind = kind_by_owner(owner) if kind == "auto" else get_kind(str(kind))
        self._asker.counts_first = self.kind.counts_first
        self.version = self._find_version()
        self._asker.most_together = math.inf if self._draws_many(_MANY[str(many).lower()]) else 1
        self.doubt = self._trials_doubt()
        if self.kind.name == "other":
            logger.warning(
                f"{self.connection.shown_url} does not say that it is a server of a known kind (owned_by: {owner!r}): "
                "temperature, top_p and max_tokens are sent, and other sampling settings that its checkpoint ships may "
                "act. Give kind=vllm, sglang or llamacpp if it is one of these."
            )

    def _find_served_model(self) -> dict[str, Any]:
        """The model's entry in the server's list; {} if there is no list."""
        timeout = min(self.connection.timeout, _LISTING_SECONDS)
        try:
            listed = _by_id(self.client.get("/models", cast_to=object, options={"timeout": timeout}))
        except (openai.AuthenticationError, openai.PermissionDeniedError) as error:
            self._asker.stop_if_fatal(error)
            raise  # not reached: both are fatal before the first reply
        except (openai.NotFoundError, openai.BadRequestError):
            return {}
        except (openai.OpenAIError, ValueError) as error:
            raise self._unreachable_error(error) from error
        if self.model_name not in listed:
            shown = ", ".join(sorted(listed)[:20]) or "nothing"
            raise UserError(
                f"{self.connection.shown_url} does not serve {self.model_name!r}, but: {shown}. Give model=NAME as it "
                "names it."
            )
        return {name: listed[self.model_name].get(name) for name in ("id", "root", "owned_by", "max_model_len")}

    def _unreachable_error(self, error: Exception) -> UserError:
        if isinstance(error, openai.APITimeoutError):
            return UserError(
                f"{self.connection.shown_url} accepts connections but does not answer in time. Look at its log, or "
                f"wait until it has loaded its model ({self.connection.describe_error(error)})."
            )
        return UserError(
            f"{self.connection.shown_url} does not answer as a server of models: {type(error).__name__}: "
            f"{self.connection.describe_error(error)} Compare base_url=… with where it listens (it ends in /v1 "
            "as a rule)."
        )

    def _find_version(self) -> str | None:
        """The version of a vLLM server, None for others."""
        if self.kind.name != "vllm":
            return None
        root = self.connection.base_url.rstrip("/").removesuffix("/v1")
        try:
            return str(httpx.get(f"{root}/version", timeout=10).raise_for_status().json()["version"])
        except (httpx.HTTPError, ValueError, KeyError, TypeError):
            return None

    def _trials_doubt(self) -> str | None:
        """Why trials may not be draws from the model's own distribution: its checkpoint's settings may have effect."""
        host = (urlsplit(self.connection.base_url).hostname or "").lower()
        if self.kind.neutral or (self.kind.name == "openai" and host.endswith(_OPENAI_HOSTS)):
            return None
        return (
            f"a server of the kind {self.kind.name!r} at {host} is sent no top_k, min_p and repetition penalty; "
            "those that its checkpoint ships may act (kind=vllm, sglang or llamacpp sends them)"
        )

    def _draws_many(self, wanted: bool | None) -> bool:
        """Whether a question's trials are asked in one request, which is tried with a probe with n = 2.

        Raises UserError if the server refuses the probe without n too.
        """
        body = self._request_body({"temperature": 1.0, "max_new_tokens": 16}, [{"role": "user", "content": _PROBE}])
        if self.seed is not None:
            body["seed"] = self.seed
        client = self.client.with_options(timeout=min(self.connection.timeout, _PROBE_SECONDS), max_retries=1)
        refused = (openai.BadRequestError, openai.UnprocessableEntityError)
        try:
            with limit_bodies(client, lambda: 2):
                if self.kind.independent if wanted is None else wanted:
                    with contextlib.suppress(*refused):
                        if drawn := len(completion_choices(client.chat.completions.create(**body, n=2))):
                            return drawn == 2
                if not completion_choices(client.chat.completions.create(**body)):
                    raise ValueError("The server sent a completion without choices.")
        except refused as error:
            sent = ", ".join(sorted(_flatten_body(body)))
            raise UserError(
                f"{self.connection.shown_url} refuses a question with the settings that trials need ({sent}): "
                f"{self.connection.describe_error(error)} Give the model argument kind if the server is of another "
                f"kind than {self.kind.name!r}. A model that takes no temperature or no max_tokens (OpenAI's o1, o3, "
                "gpt-5 and the like) can be asked by the harness's own runner, --model openai."
            ) from error
        except (openai.OpenAIError, ValueError) as error:
            self._asker.stop_if_fatal(error)
            raise self._unreachable_error(error) from error
        return False

    def _request_body(self, settings: Mapping[str, Any], messages: list[dict[str, Any]]) -> dict[str, Any]:
        return {"model": self.model_name, **request_settings(self.kind, settings), "messages": messages}

    def generate_until(self, requests: list[Any]) -> list[Any]:
        """The reply to each request as the harness's ``GenerationResult``; "" for requests that are padding."""
        replies: list[Any] = [""] * len(requests)
        questions = _group_requests(requests)
        count = sum(len(question.indices) for question in questions)
        progress = tqdm(total=count, disable=None if self.rank == 0 else True)

        def take_replies(question: _ServerQuestion, by_trial: dict[int, ServerReply]) -> None:
            if not question.has_sampling:  # a greedy reply is that of all trials
                by_trial = dict.fromkeys(question.indices, *by_trial.values())
            results = {}
            for trial, reply in by_trial.items():
                counts = TokenCounts(input_tokens=reply.input_tokens, output_tokens=reply.output_tokens)
                index = question.indices[trial]
                replies[index] = results[index] = GenerationResult(reply.text, counts)
            if self.on_replies is not None:
                self.on_replies(results)
            progress.update(len(results))

        for task in dict.fromkeys(question.task for question in questions):
            task_questions = [question for question in questions if question.task == task]
            seen = self._seen.setdefault(task, ServerUsage())
            self._asker.ask_all(task_questions, self._prepare_question, take_replies, seen)
        progress.close()
        return replies

    def _prepare_question(self, question: _ServerQuestion) -> PreparedQuestion:
        """Render and encode the question's pictures (called in a thread)."""
        _, to_messages, settings, doc_id, task, split = question.request.args
        size = 0
        messages = []
        for message in to_messages(self.task_dict[task][split][doc_id]):
            content = message["content"]
            content_parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
            parts = [_server_part(content_part, task) for content_part in content_parts]
            size += sum(len(str(part.get("text") or part["image_url"]["url"])) for part in parts)
            messages.append({"role": message["role"], "content": parts})
        trials = tuple(sorted(question.indices))
        return PreparedQuestion(
            body=self._request_body(settings, messages),
            trials=trials if question.has_sampling else trials[:1],
            # The last one of T trials has seed + T - 1, and some servers take 32 bits.
            seed=None if self.seed is None else stable_seed("server", task, doc_id, self.seed) % 2**31,
            size=size,
        )

    def server_record(self, task: str, settings: Mapping[str, Any], repeats: int) -> dict[str, Any]:
        """The JSON-safe entry in a task's result file: the server, its model, the settings that were sent.

        ``settings``: the task's ``generation_kwargs``. With several processes it describes this one's requests.
        """
        seen = self._seen.get(task, ServerUsage())
        if not seen.requests:
            trials = "not asked: the replies are those of a run that was cut off"
        elif not is_sampled(settings):
            trials = "asked once, temperature 0"
        elif seen.together and repeats <= self._asker.most_together:
            trials = "one request with n"
        else:
            trials = "one request each"
        return {
            "base_url": self.connection.shown_url,
            "kind": self.kind.name,
            "version": self.version,
            "model": self.model_name,
            "serves": self.serves,
            "answers_as": sorted(seen.models),
            "fingerprints": sorted(seen.fingerprints),
            "sent": _flatten_body(request_settings(self.kind, settings)),
            "not_sent": unsent_settings(settings),
            "trials": trials,
            "seed": self.seed,
            "pictures": "PNG",
        }


@dataclass
class _ServerQuestion:
    """A question, and for each trial's number the index of its request in the list of requests."""

    request: Any
    indices: dict[int, int] = field(default_factory=dict)

    @property
    def task(self) -> str:
        return str(self.request.args[4])

    @property
    def has_sampling(self) -> bool:
        return is_sampled(self.request.args[2])


def _group_requests(requests: Sequence[Any]) -> list[_ServerQuestion]:
    """The questions of the requests; the T equal requests of the harness are T trials, padding is left out."""
    questions: dict[tuple[Any, ...], _ServerQuestion] = {}
    for index, request in enumerate(requests):
        metadata = request.metadata or {}
        if metadata.get(PADDING):
            continue
        prompt, _, settings, doc_id, task, split = request.args
        question = questions.setdefault((task, split, doc_id, prompt, repr(settings)), _ServerQuestion(request))
        question.indices[metadata.get(TRIAL, len(question.indices))] = index
    return list(questions.values())


def _server_part(part: Mapping[str, Any], task: str) -> dict[str, Any]:
    if part["type"] == "text":
        return {"type": "text", "text": part["text"]}
    if part["type"] != "image":
        raise UserError(f"{task} shows a {part['type']}; medtasks_server asks about images and text only.")
    picture = part["url"]
    if isinstance(picture, str | Path):
        picture = {"path": str(picture)}
    data = base64.b64encode(pictures.encode_png(pictures.to_rgb8(pictures.open_image(picture)))).decode("ascii")
    return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}


def _flatten_body(body: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a request, as the server gets them."""
    settings = {name: value for name, value in body.items() if name not in ("model", "messages", "extra_body")}
    return {**settings, **body.get("extra_body", {})}


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # no port, no IPv6 address
        return False


def _by_id(answer: object) -> dict[str, dict[str, Any]]:
    """The entries of a list of models by id. Raises ValueError for anything else, such as a web page."""
    listed = answer.get("data") or [] if isinstance(answer, dict) else None
    if not isinstance(listed, list) or not all(isinstance(entry, dict) for entry in listed):
        raise ValueError(f"No list of models: {str(answer)[:100]!r}.")
    return {entry["id"]: entry for entry in listed if isinstance(entry.get("id"), str)}


def _check_seconds(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1e6:
        raise UserError(f"The model argument timeout must be a number of seconds above 0, up to 1e6, got {value!r}.")
    return float(value)
