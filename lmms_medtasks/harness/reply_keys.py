"""Digests of everything that a reply depends on: a kept reply is used again only if they are unchanged."""

from __future__ import annotations

import hashlib
import importlib.metadata
import inspect
import json
import os
import re
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from lmms_medtasks.data import subsets
from lmms_medtasks.harness import chosen_settings, runners, sampling

# Options of the harness's command line that reach a prompt or a draw. Those of the task are in its requests.
_OPTIONS = (
    "system_instruction",
    "apply_chat_template",
    "fewshot_as_multiturn",
    "num_fewshot",
    "seed",
    "batch_size",
    "max_batch_size",
)
_PACKAGES = (
    "lmms_eval lmms_medtasks torch torchvision transformers tokenizers accelerate peft bitsandbytes flash_attn vllm "
    "sglang openai anthropic google-genai qwen_vl_utils Pillow numpy"
).split()
_SECRET = re.compile(r"(^|_)key$|secret|password|^(api_|access_|auth_|hf_|bearer_)?token$|^use_auth_token$|credential")
# Arguments with folders that a run writes into, whose content is not part of the model.
_WRITTEN = re.compile(r"log|out|cache|tmp|temp|work_?dir|persist|calls|save")
_FILES = 20_000
_WAIT = 5.0  # seconds for a server's list of models


def value_digest(value: Any) -> str:
    """SHA-256 (32 hex digits) of a value made of mappings, sequences, texts, bytes and numbers.

    The order of a mapping's keys does not count. Other objects count by their ``repr``.
    """
    total = hashlib.sha256()
    _add_value(total, value)
    return total.hexdigest()[:32]


def _add_value(total: Any, value: Any) -> None:
    if isinstance(value, bytes | bytearray | memoryview):
        total.update(b"b%d:" % len(value))
        total.update(value)
    elif isinstance(value, Mapping):
        total.update(b"{%d:" % len(value))
        for name in sorted(value, key=repr):
            _add_value(total, name)
            _add_value(total, value[name])
    elif isinstance(value, list | tuple):
        total.update(b"[%d:" % len(value))
        for item in value:
            _add_value(total, item)
    else:
        text = (value if isinstance(value, str) else repr(value)).encode("utf-8", "surrogatepass")
        total.update(b"%s%d:" % (type(value).__name__.encode(), len(text)))
        total.update(text)


def command_digest(lm: Any, options: Any, tasks: Sequence[str], limit: Any, offset: Any) -> str:
    """The digest that names a command: the model and its arguments, the tasks and their numbers of questions."""
    environment = [os.environ.get(name) for name in (subsets.VARIABLE, *chosen_settings.VARIABLES)]
    model = [_model_identity(lm, options), _public_arguments(options)]
    return value_digest([*model, sorted(tasks), limit, offset, *environment, _chosen_options(options)])


def model_digest(lm: Any, options: Any) -> str:
    """The digest of everything that a model's replies depend on, apart from the question.

    That is the runner's class, the code of its module and of ours, the model's name and arguments (without keys), the
    options above, versions of libraries, and how pictures are sent; for a model on this machine names, sizes and times
    of its files, for one on the hub the commit in the cache, for one behind a server the server's list of models, and
    files if they are on this machine. A change of a model on another machine under the same name and path is not
    noticed: vLLM's ``created`` is the time of the request.
    """
    arguments = _public_arguments(options)
    sources = [*_source_files(type(lm)), *sorted(Path(__file__).parent.rglob("*.py"))]
    return value_digest(
        {
            "model": _model_identity(lm, options),
            "arguments": arguments,
            "options": _chosen_options(options),
            "code": [*map(_content_digest, sources)],
            "packages": dict(_iter_versions()),
            "sent_as": os.environ.get("LMMS_IMAGE_ENCODE_FORMAT"),
            "files": [_file_stats(path) for path in _model_paths(lm, arguments)],
            "hub": [_hub_commit(name, arguments.get("revision")) for name in _model_names(lm, arguments)],
            "server": _served_models(lm),
        }
    )


def task_digest(task: Any) -> str:
    """The digest of a task of the harness: its settings, and data, code and libraries from :mod:`.provenance`."""
    config = task.config
    metadata = {name: value for name, value in (config.metadata or {}).items() if name != "judge"}
    specific = getattr(task, "lmms_eval_specific_kwargs", None)
    hooks = [_hook_name(getattr(config, name, None)) for name in ("doc_to_visual", "doc_to_text", "doc_to_messages")]
    return value_digest([str(config.task), metadata, specific, hooks, getattr(config, "system_prompt", None)])


def document_digest(documents: Any, number: int) -> tuple[str, str]:
    """The digest of a document with its stored pictures, and its id, or the row's number if it has none.

    ``documents``: a split from :func:`raw_rows`.
    """
    several = documents[number : number + 1]
    row = dict(several.to_pylist()[0] if hasattr(several, "to_pylist") else documents[number])
    return value_digest({name: _stored_value(value) for name, value in row.items()}), str(row.get("id", number))


def raw_rows(documents: Any) -> Any:
    """``documents`` in a form whose rows hold the files of pictures, not decoded."""
    return documents.with_format("arrow") if hasattr(documents, "with_format") else documents


def _stored_value(value: Any) -> Any:
    if isinstance(value, list):
        return [_stored_value(item) for item in value]
    if isinstance(value, dict) and set(value) == {"bytes", "path"} and value["bytes"] is None and value["path"]:
        path = Path(value["path"])
        return [value["path"], path.read_bytes() if path.is_file() else None]
    if hasattr(value, "tobytes") and hasattr(value, "size"):  # a picture in memory
        return [value.size, getattr(value, "mode", None), value.tobytes()]
    return value


def _model_identity(lm: Any, options: Any) -> list[Any]:
    return [f"{type(lm).__module__}.{type(lm).__qualname__}", getattr(options, "model", None)]


def _chosen_options(options: Any) -> dict[str, Any]:
    return {name: getattr(options, name, None) for name in _OPTIONS}


def _public_arguments(options: Any) -> dict[str, Any]:
    """--model_args by name, without keys and passwords, which do not change a reply."""
    from lmms_eval import utils

    model_args = getattr(options, "model_args", None) or {}
    arguments = utils.simple_parse_args_string(model_args) if isinstance(model_args, str) else dict(model_args)
    return {name: value for name, value in arguments.items() if not _SECRET.search(str(name).lower())}


def _model_names(lm: Any, arguments: Mapping[str, Any]) -> list[str]:
    """Possible names of models: arguments that are texts, and the origin of the runner's model."""
    config = getattr(sampling.find_held_model(lm), "config", None)
    loaded = getattr(config, "_name_or_path", None)
    values = [value for name, value in sorted(arguments.items()) if not _WRITTEN.search(str(name).lower())]
    return sorted({value for value in (*values, loaded) if isinstance(value, str) and value})


def _model_paths(lm: Any, arguments: Mapping[str, Any]) -> list[Path]:
    paths = []
    for text in _model_names(lm, arguments):
        try:
            path = Path(text).expanduser()
            if path.exists():
                paths.append(path)
        except (OSError, RuntimeError, ValueError):
            continue  # not a path: a very long text, an unknown home
    return paths


def _file_stats(path: Path) -> list[Any]:
    """Name, size and time of a file, or of those below a folder without hidden and compiled ones."""
    if path.is_file():
        return [_file_stat(path, path.name)]
    files = islice(_iter_files(path), _FILES)
    return sorted(_file_stat(file, str(file.relative_to(path))) for file in files)


def _iter_files(folder: Path) -> Iterator[Path]:
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__pycache__")))
        yield from (Path(root, file) for file in sorted(files) if not file.startswith("."))


def _file_stat(path: Path, name: str) -> list[Any]:
    try:
        stat = path.stat()
    except OSError:
        return [name, None, None]
    return [name, stat.st_size, stat.st_mtime_ns]


def _hub_commit(name: str, revision: object) -> str | None:
    """The commit of a model in the hub's cache; None for other names."""
    if name.count("/") != 1 or Path(name).exists():
        return None
    try:
        from huggingface_hub import try_to_load_from_cache

        cached = try_to_load_from_cache(name, "config.json", revision=str(revision) if revision else None)
    except (ImportError, ValueError, OSError):
        return None
    return Path(cached).parent.name if isinstance(cached, str) else None


def _served_models(lm: Any) -> Any:
    """The entries of the runner's server for its model; only the address if it has no list, None without a server."""
    kinds = [runners.find_server_access(cls.__module__) for cls in type(lm).__mro__]
    address = str(getattr(getattr(lm, "client", None), "base_url", "") or "")
    if "client" not in kinds or not address.startswith(("http://", "https://")):
        return None
    request = urllib.request.Request(address.rstrip("/") + "/models")
    request.add_header("Authorization", f"Bearer {getattr(lm.client, 'api_key', '')}")
    try:
        with urllib.request.urlopen(request, timeout=_WAIT) as answer:
            listed = json.loads(answer.read())["data"]
        fields = ("id", "root", "parent", "owned_by", "max_model_len", "meta")
        models = [{name: model.get(name) for name in fields} for model in listed]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return [address]
    model_name = str(getattr(lm, "model_version", None) or getattr(lm, "model_name", ""))
    # Only this model, because a provider's long list changes with every new model.
    served = sorted((model for model in models if model["id"] == model_name), key=repr)
    if not served and len(models) == 1:
        served = models
    roots = [Path(model["root"]) for model in served if isinstance(model["root"], str)]
    files = [_file_stats(path) for path in roots if path.is_absolute() and path.exists()]
    return [address, getattr(lm, "version", None), served, files]


def _hook_name(function: Any) -> str | None:
    function = getattr(function, "func", function)
    name = getattr(function, "__qualname__", None)
    return f"{function.__module__}.{name}" if name else None if function is None else str(function)


def _source_files(cls: type) -> list[Path]:
    files = []
    for base in cls.__mro__:
        try:
            files.append(Path(inspect.getsourcefile(base) or ""))
        except (TypeError, OSError):
            continue  # built in, or defined in an interpreter
    return list(dict.fromkeys(files))


def _content_digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def _iter_versions() -> Iterator[tuple[str, str]]:
    for name in _PACKAGES:
        try:
            yield name, importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
