"""Which judge is asked, where, and how, from the environment.

``MEDTASKS_JUDGE=provider:model`` names the judge. Providers:

- ``openai``: any OpenAI-compatible endpoint; base URL from OPENAI_API_URL, OPENAI_BASE_URL or OPENAI_API_BASE (the
  first that is set), key from OPENAI_API_KEY.
- ``local``: the same without a key; URL from LLM_JUDGE_URL, else as above, else port 8000 of this machine.
- ``lexical``: token F1 instead of a language model, for trying things out.
- ``none``, or unset: nothing is asked.

Optional: MEDTASKS_JUDGE_ with REPLY (schema or free, in place of what the protocols say), CONCURRENCY, TIMEOUT,
TEMPERATURE, MAX_TOKENS, RETRIES, MAX_REQUESTS, MAX_COST (USD), PRICE (USD per million tokens: "input,output"),
KEEP_GOING (1: go on without valid verdicts). :mod:`lmms_medtasks.endpoints` says which hosts may see data under terms.
"""

from __future__ import annotations

import dataclasses
import functools
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, NamedTuple
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from lmms_medtasks import endpoints, folders, redacting
from lmms_medtasks.endpoints import private_hosts
from lmms_medtasks.errors import UserError, unknown_name_error
from lmms_medtasks.judges.protocol import JudgeProtocol, Mode

_CHAT = "/chat/completions"


@dataclass(frozen=True)
class JudgeAddress:
    """``url``: the base (".../v1"), without name, password and a slash at its end. ``host``: its host, no port."""

    url: str
    host: str
    user: str = field(default="", repr=False)
    password: str = field(default="", repr=False)


def parse_address(url: str, where: str) -> JudgeAddress:
    """Parse ".../v1" or ".../v1/chat/completions" from ``where``. UserError without the URL's password."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        parts, host, port = urlsplit(""), "", None
    shown = url.rsplit("@", 1)[-1].partition("?")[0]
    if parts.scheme not in ("http", "https") or not host or any(ord(character) <= 32 for character in url):
        raise UserError(f"{shown!r} from {where} is no URL of a judge. Expected one as http://localhost:8000/v1.")
    if parts.query or parts.fragment:
        raise UserError(f"{shown!r} from {where} has a query, which a base URL has not. Leave it out.")
    netloc_host = f"[{host}]" if ":" in host else host
    base = urlunsplit((parts.scheme, f"{netloc_host}:{port}" if port else netloc_host, parts.path, "", "")).rstrip("/")
    return JudgeAddress(base.removesuffix(_CHAT), host, unquote(parts.username or ""), unquote(parts.password or ""))


@functools.cache
def default_settings() -> Mapping[str, Any]:
    return folders.read_yaml(Path(__file__).with_name("defaults.yml"))


JUDGE = "MEDTASKS_JUDGE"
PROVIDERS = ("openai", "local", "lexical", "none")

_WITHOUT_MODEL = ("lexical", "none")
_URLS = ("OPENAI_API_URL", "OPENAI_BASE_URL", "OPENAI_API_BASE")
_OPENAI = "https://api.openai.com/v1"
_LOCAL = "http://localhost:8000/v1"


class TokenPrice(NamedTuple):
    """USD per million tokens."""

    input: float
    output: float

    def total_cost(self, input_tokens: float, output_tokens: float) -> float:
        return (self.input * input_tokens + self.output * output_tokens) / 1e6


def _parse_price(text: Any) -> Any:
    number = r"\s*\d+(?:\.\d*)?\s*"
    if not re.fullmatch(f"{number},{number}", text):
        raise ValueError(
            "expected two numbers, the price of a million input tokens and of a million output tokens in USD, as in "
            "2.5,10"
        )
    numbers = map(float, text.split(","))
    return TokenPrice(*numbers)


@dataclass(frozen=True)
class JudgeSettings:
    """A judge and how it is asked. ``key`` and the name and password in ``address`` are never shown."""

    provider: str = "none"
    model: str = ""
    address: JudgeAddress = field(default=JudgeAddress("", ""), repr=False)
    key: str = field(default="", repr=False)
    temperature: float | None = 0.0
    max_tokens: int = 1024
    reply: Mode | None = None
    timeout: float = 120.0
    concurrency: int = 16
    retries: int = 5
    max_requests: int | None = None
    max_cost: float | None = None
    price: TokenPrice | None = None
    private_hosts: tuple[str, ...] = ()
    keep_going: bool = False

    @property
    def name(self) -> str:
        """``openai:gpt-4o``; ``lexical`` and ``none`` have no model."""
        return f"{self.provider}:{self.model}" if self.model else self.provider

    @property
    def is_llm(self) -> bool:
        return self.provider not in _WITHOUT_MODEL

    @functools.cached_property
    def secrets(self) -> redacting.Secrets:
        """What must stand in no message, file or log."""
        where = self.address
        user = f"{quote(where.user, safe='')}:{quote(where.password, safe='')}@" if where.password else ""
        scheme, _, rest = where.url.partition("://")
        base_url = f"{scheme}://{user}{rest}"
        return redacting.secrets_of_arguments({"api_key": self.key, "base_url": base_url, "model": self.model})

    @property
    def endpoint(self) -> str:
        """The address as it may be shown."""
        return self.secrets.redacted(self.address.url)

    def share(self, rank: int, processes: int) -> JudgeSettings:
        """One process's part of what all of them together may do."""

        def share_of(total: int) -> int:
            return total // processes + (rank < total % processes)

        return dataclasses.replace(
            self,
            concurrency=max(1, share_of(self.concurrency)),
            max_requests=None if self.max_requests is None else share_of(self.max_requests),
            max_cost=None if self.max_cost is None else self.max_cost / processes,
        )


def read_judge_settings(environment: Mapping[str, str] | None = None, judge: str | None = None) -> JudgeSettings:
    """The settings of the environment; ``judge`` overrides ``MEDTASKS_JUDGE``. UserError: a bad value."""
    environment = os.environ if environment is None else environment
    provider, model = parse_judge_name(judge if judge is not None else environment.get(JUDGE, ""))
    given = _read_variables(environment)
    if given.max_cost is not None and given.price is None:
        raise UserError(
            f"{JUDGE}_MAX_COST={given.max_cost:g} says nothing without a price. Set {JUDGE}_PRICE=input,output in USD "
            "per million tokens, as in 2.5,10."
        )
    where, key = _read_endpoint(provider, environment)
    values = dict(given)
    if model.rsplit("/", 1)[-1].startswith(tuple(default_settings()["reasoning_models"])):
        values["temperature"] = None
    return JudgeSettings(
        provider=provider, model=model, address=where, key=key, private_hosts=private_hosts(environment), **values
    )


class _Given(BaseModel):
    """The variables that begin with MEDTASKS_JUDGE_, by the rest of their names in lower case."""

    model_config = ConfigDict(allow_inf_nan=False)
    temperature: float = Field(ge=0)
    max_tokens: int = Field(ge=1)
    reply: Mode | None = None
    timeout: float = Field(gt=0)
    concurrency: int = Field(ge=1)
    retries: int = Field(ge=0)
    max_requests: int | None = Field(None, ge=0)
    max_cost: float | None = Field(None, ge=0)
    price: Annotated[TokenPrice | None, BeforeValidator(_parse_price)] = None
    keep_going: bool = False


def _read_variables(environment: Mapping[str, str]) -> _Given:
    variables = {name: f"{JUDGE}_{name.upper()}" for name in _Given.model_fields}
    texts = {name: environment.get(variable, "").strip() for name, variable in variables.items()}
    values = {name: value for name, value in default_settings().items() if name in texts}
    try:
        return _Given.model_validate(values | {name: text for name, text in texts.items() if text})
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0])
        reason = str(first.get("ctx", {}).get("error") or first["msg"])
        raise UserError(f"{variables[name]}={texts[name]!r}: {reason[0].lower()}{reason[1:]}.") from error


def parse_judge_name(judge: str) -> tuple[str, str]:
    """Provider and model of a judge as MEDTASKS_JUDGE says it. Raises UserError if it is malformed."""
    judge = judge.strip()
    if not judge:
        return "none", ""
    provider, _, model = judge.partition(":")
    if provider not in PROVIDERS and ":" not in judge:
        listed = ", ".join(PROVIDERS)
        raise UserError(
            f"The judge {judge!r} names no provider; expected provider:model. Allowed: {listed}. Did you mean "
            f"'openai:{judge}'?"
        )
    if provider not in PROVIDERS:
        raise unknown_name_error("provider", provider, PROVIDERS, f"the judge {judge!r}, expected provider:model")
    if provider in _WITHOUT_MODEL:
        if model:
            raise UserError(f"The judge {judge!r} names a model; {provider!r} has none. Write {provider!r} alone.")
        return provider, ""
    if not model.strip() or model != model.strip():
        raise UserError(
            f"The judge {judge!r} names no model. Expected provider:model, as in {provider}:gpt-4o-2024-08-06."
        )
    return provider, model


def _read_endpoint(provider: str, environment: Mapping[str, str]) -> tuple[JudgeAddress, str]:
    if provider == "openai":
        variable, url = _first_set(environment, _URLS, _OPENAI)
        return parse_address(url, variable), _read_key(environment, "OPENAI_API_KEY", provider)
    if provider == "local":
        variable, url = _first_set(environment, ("LLM_JUDGE_URL", *_URLS), _LOCAL)
        return parse_address(url, variable), ""
    return JudgeAddress("", ""), ""


def _first_set(environment: Mapping[str, str], names: tuple[str, ...], default: str) -> tuple[str, str]:
    values = ((name, environment.get(name, "").strip()) for name in names)
    return next((pair for pair in values if pair[1]), ("the default", default))


def _read_key(environment: Mapping[str, str], name: str, provider: str) -> str:
    key = environment.get(name, "").strip()
    if not key:
        raise UserError(
            f"The judge is {provider}:..., but {name} is not set. Set it to the endpoint's key; for an endpoint of "
            "your own that wants none: MEDTASKS_JUDGE=local:MODEL with LLM_JUDGE_URL."
        )
    if not (key.isascii() and key.isprintable() and " " not in key):
        raise UserError(f"{name} holds characters that no key has (a line break, a blank, or beyond ASCII).")
    return key


def check_judge_terms(
    settings: JudgeSettings, protocols: Iterable[JudgeProtocol], resolve: endpoints.Resolve = endpoints.resolve_host
) -> None:
    """Raise UserError, with the terms, if the judge may not see what one of ``protocols`` would show it."""
    if not settings.is_llm:
        return
    for protocol in protocols:
        if not protocol.terms:
            continue
        if problem := endpoints.endpoint_problem(settings.address.host, settings.private_hosts, resolve):
            raise UserError(
                f"{settings.name} may not judge {protocol.name!r}: {problem}. The terms of its data: {protocol.terms} "
                f"Use a judge on this machine (MEDTASKS_JUDGE=local:MODEL), or name the host of one in your own "
                f"network in {endpoints.PRIVATE_HOSTS}. Nothing was sent."
            )
