"""Keys, tokens and passwords out of all that is written or printed, by :meth:`Secrets.redacted`.

Secrets come from model arguments, the addresses in them, and the environment. Ordinary text stays: a key that is a
placeholder (``none``, ``EMPTY``), short, or one word is replaced only where it stands as a key, in ``api_key=...`` or
in an address.
"""

from __future__ import annotations

import base64
import html
import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TextIO
from urllib.parse import parse_qsl, quote, quote_plus, unquote, urlsplit

SHOWN = "***"  # What stands in place of a secret; an address stays one with it

_NAME = re.compile(
    r"(?:^|[_-])(?:api)?key(?:_id)?$|(?:^|[_-])token$|secret|passw|passphrase|credential|^authorization$|^bearer$|^pat$",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"(?:^|[_-])(?:urls?|uri|endpoint|address|host|proxy|base)$", re.IGNORECASE)
_PLACEHOLDERS = frozenset(
    "none null empty true false not-needed not_needed no-key no_key no-key-required no_key_required sk-no-key-required "
    "lm-studio your-api-key your_api_key placeholder".split()
)
_SHORTEST, _SHORTEST_PART, _LONG_WORD, _BLOCK = 8, 8, 16, 4
"""Characters: of a secret that is looked for in any text, of a part of one, of letters that are no word any more, and
of the blocks by which parts are found: seven characters of a secret have a whole one."""

_IN_ADDRESS = re.compile(r"(?<=://)(?:([^/\s@:'\"]+):)?[^/\s@'\"]+@(?=[\w\[])")
_BEARER = re.compile(r"\b(bearer|basic)(\s+)(?=[^\s'\"]*\d)[\w.~+/=-]{12,}", re.IGNORECASE)
_KNOWN_FORM = re.compile(
    r"\b(?:sk|pk|rk|hf|gsk|r8|nvapi|glpat|ghp|gho|ghs|ghu|github_pat|xox[a-z])[-_](?=[\w-]*\d)[\w-]{16,}|\bAIza[\w-]{30,}"
)
_CALLED_A_KEY = re.compile(
    r"(?:^|[_.-])(?:api)?(?:key|token|secret|password|passwd|sk|pk)(?=$|[_.-]|\d)", re.IGNORECASE
)
_PIECE = re.compile(r"[^\W_]{10,}")
_LOWER = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")


def is_secret_name(name: str) -> bool:
    """Whether an argument or variable of this name holds a key, a token or a password."""
    return bool(_NAME.search(name))


class Secrets:
    """Some secrets, and texts without them. ``told``: exact texts with an ordinary secret, and replacements."""

    def __init__(self, values: Iterable[str] = (), told: Mapping[str, str] | None = None) -> None:
        self._values = frozenset(value for value in values if _is_looked_for(value))
        self._told = dict(told or {})
        forms = {form.translate(_LOWER) for value in self._values for form in _written_forms(value)}
        self._forms = sorted(each for each in forms if not _is_word(each))
        self._words = [re.compile(rf"\b{re.escape(each)}\b", re.IGNORECASE) for each in forms if _is_word(each)]

    def __or__(self, other: Secrets) -> Secrets:
        return Secrets(self._values | other._values, {**self._told, **other._told})

    def redacted(self, text: str) -> str:
        """A message or printed line without these secrets, and without what has the form of one."""
        for told, shown in self._told.items():
            text = text.replace(told, shown)
        text = _IN_ADDRESS.sub(lambda found: f"{found[1]}:{SHOWN}@" if found[1] else f"{SHOWN}@", text)
        text = _KNOWN_FORM.sub(SHOWN, _BEARER.sub(rf"\1\2{SHOWN}", self.redacted_reply(text)))
        for word in self._words:
            text = word.sub(SHOWN, text)
        return text

    def redacted_reply(self, text: str) -> str:
        """A model's or judge's reply without these secrets and parts of them; nothing else is changed."""
        if not self._forms:
            return text
        low = text.translate(_LOWER)
        spans = [span for form in self._forms for found in (_iter_wholes, _iter_parts) for span in found(low, form)]
        for start, end in _merge_spans(spans):
            text = f"{text[:start]}{SHOWN}{text[end:]}"
        return text

    def redacted_tree(self, value: Any) -> Any:
        """A JSON value with every text in it redacted; values of other types stay."""
        if isinstance(value, str):
            return self.redacted(value)
        if isinstance(value, Mapping):
            return {
                name: SHOWN if f"{name}={each}" in self._told else self.redacted_tree(each)
                for name, each in value.items()
            }
        return type(value)(map(self.redacted_tree, value)) if type(value) in (list, tuple) else value


def secrets_of_arguments(arguments: str | Mapping[str, Any] | None) -> Secrets:
    """The secrets in a model's arguments: ``name=value,name=value``, or a mapping."""
    given = arguments if isinstance(arguments, Mapping) else dict(_iter_arguments(str(arguments or "")))
    values: set[str] = set()
    told: dict[str, str] = {}
    model = [str(given.get(name) or "") for name in ("model", "model_version", "pretrained", "model_name")]
    for name, value in ((str(name), str(value)) for name, value in given.items()):
        if is_secret_name(name) and not _is_placeholder(value):
            values.add(value)
            told |= {
                f"{name}={value}": f"{name}={SHOWN}",
                f"/{value}/": f"/{SHOWN}/",
                f"'{name}': '{value}'": f"'{name}': '{SHOWN}'",
                f'"{name}": "{value}"': f'"{name}": "{SHOWN}"',
            }
        elif "://" in value or ("@" in value and _ADDRESS.search(name)):
            values.update(_of_address(value, model))
            told |= _told_of_address(value, model)
    return Secrets(values, dict(sorted(told.items(), key=lambda pair: -len(pair[0]))))


def secrets_of_environment(environment: Mapping[str, str] | None = None) -> Secrets:
    """The secrets in the environment: variables named as keys, tokens and passwords, and addresses with one."""
    environment = os.environ if environment is None else environment
    values = {value for name, value in environment.items() if is_secret_name(name) and not _is_placeholder(value)}
    told: dict[str, str] = {}
    for name, value in environment.items():
        if "://" in value and _ADDRESS.search(name):
            values.update(_of_address(value))
            told |= _told_of_address(value)
    return Secrets({each for each in values if not each.startswith(("/", "~"))}, told)  # a file with one is none


def secrets_of_command(arguments: Iterable[str], environment: Mapping[str, str] | None = None) -> Secrets:
    """The secrets in a command's arguments (``--model_args``, options named as a key) and in the environment."""
    found, name = secrets_of_environment(environment), ""
    for argument in arguments:
        option, equals, value = argument.partition("=")
        is_option = argument.startswith("--")
        if is_option and equals:
            found |= _of_option(option, value)
        elif not is_option and name:
            found |= _of_option(name, argument)
        name = argument if is_option and not equals else ""
    return found


def _of_option(option: str, value: str) -> Secrets:
    name = option.lstrip("-")
    return secrets_of_arguments(value) if name.endswith("args") else secrets_of_arguments({name: value})


def redact_address(address: str, names: Iterable[str] = ()) -> str:
    """An address without its password, keys in its path (but ``names``), query and fragment; else as it is."""
    try:
        parts = urlsplit(address if "://" in address else f"//{address}")
    except ValueError:
        return _IN_ADDRESS.sub(f"{SHOWN}@", address)
    user, at, host = parts.netloc.rpartition("@")
    if at:
        host = f"{user.partition(':')[0]}:{SHOWN}@{host}" if ":" in user else f"{SHOWN}@{host}"
    path = "/".join(SHOWN if _is_path_key(each, names) else each for each in parts.path.split("/"))
    shown = parts._replace(netloc=host, path=path, query="", fragment="").geturl()
    return shown if "://" in address else shown.removeprefix("//")


def redact_streams(secrets: Secrets, streams: Iterable[TextIO] | None = None) -> None:
    """Redact what this command's process prints from now on; a stream that others hold prints redacted text too."""
    for stream in (sys.stdout, sys.stderr) if streams is None else streams:
        before = getattr(stream, "write", None)
        known = getattr(before, "secrets", None)
        try:
            stream.write = _Redacting(before.original if known else before, known | secrets if known else secrets)  # type: ignore[method-assign, union-attr]
        except AttributeError:  # closed (None), or of a kind that can't be changed
            continue


class _Redacting:
    def __init__(self, original: Any, secrets: Secrets) -> None:
        self.original, self.secrets = original, secrets

    def __call__(self, text: str) -> int:
        self.original(self.secrets.redacted(text))
        return len(text)


def _iter_arguments(text: str) -> Iterator[tuple[str, str]]:
    for part in re.split(r",(?=\s*\w+=)", text):
        name, equals, value = part.strip().partition("=")
        if equals:
            yield name, value.strip().strip("'\"")


def _of_address(address: str, names: Iterable[str] = ()) -> Iterator[str]:
    """The password of an address, a name that stands alone, both as they are sent, and the keys in path and query."""
    try:
        parts = urlsplit(address if "://" in address else f"//{address}")
    except ValueError:
        return
    user, _, _ = parts.netloc.rpartition("@")
    name, colon, password = user.partition(":")
    for each in filter(None, (password if colon else name,)):
        yield from (each, unquote(each))
        yield base64.b64encode(f"{unquote(name)}:{unquote(password)}".encode()).decode()
    yield from (unquote(each) for each in parts.path.split("/") if _is_path_key(each, names))
    yield from (value for name, value in parse_qsl(parts.query) if name.lower() not in ("api-version", "version"))


def _told_of_address(address: str, names: Iterable[str] = ()) -> dict[str, str]:
    user, at, _ = address.partition("://")[2].partition("/")[0].rpartition("@")
    name, colon, _ = user.partition(":")
    told = {f"{user}@": f"{name}:{SHOWN}@"} if at and colon else {}
    shown = redact_address(address, names)
    return {address: shown, **told} if shown != address else told


def _is_path_key(segment: str, names: Iterable[str] = ()) -> bool:
    """Whether a part of a path looks like a key, and not like a version or a name."""
    text = unquote(segment)
    if len(text) < _SHORTEST or any(text in name or (name and name in text) for name in names):
        return False
    mixed = any(re.search(r"\d", piece) and re.search(r"[^\W\d]", piece) for piece in _PIECE.findall(text))
    is_hexadecimal = re.fullmatch(r"[0-9a-fA-F-]{20,}", text) is not None
    return mixed or is_hexadecimal or bool(_CALLED_A_KEY.search(text) or _KNOWN_FORM.search(text))


def _is_placeholder(value: str) -> bool:
    return value.strip().lower() in _PLACEHOLDERS or not value.strip() or set(value) <= {"*"}


def _is_looked_for(value: str) -> bool:
    return len(value) >= _SHORTEST and not _is_placeholder(value)


def _is_word(value: str) -> bool:
    return (value.isalpha() or value.isdigit()) and len(value) < _LONG_WORD


def _written_forms(value: str) -> set[str]:
    """A secret as it may stand in a text: plain, in an address, in JSON, in HTML, in base64."""
    written = {value, quote(value, safe=""), quote_plus(value), json.dumps(value)[1:-1], html.escape(value)}
    return written | {base64.b64encode(value.encode()).decode().rstrip("=")}


def _iter_wholes(low: str, form: str) -> Iterator[tuple[int, int]]:
    start = low.find(form)
    while start >= 0:
        yield start, start + len(form)
        start = low.find(form, start + len(form))


def _iter_parts(low: str, form: str) -> Iterator[tuple[int, int]]:
    """Where parts of ``form`` stand that reveal something: long enough, and no word."""
    if len(form) <= _SHORTEST_PART:
        return
    for block in range(0, len(form) - _BLOCK + 1, _BLOCK):
        piece = form[block : block + _BLOCK]
        at = low.find(piece)
        while at >= 0:
            start, end, first, last = at, at + _BLOCK, block, block + _BLOCK
            while start and first and low[start - 1] == form[first - 1]:
                start, first = start - 1, first - 1
            while end < len(low) and last < len(form) and low[end] == form[last]:
                end, last = end + 1, last + 1
            found = low[start:end]
            if len(found) >= _SHORTEST_PART and re.search(r"\d", found) and re.search(r"[a-z]", found):
                yield start, end
            at = low.find(piece, max(end, at + 1))


def _merge_spans(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans without overlap, the last one first."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found[::-1]
