"""Extensions: custom degradations, modalities, parsers, metrics, judge protocols and data readers.

A task names one by a reference, wherever the name of a built-in one is allowed:

========================== ==============================================================================
``parts.py:read_finding``  what the file ``parts.py`` beside the task's YAML defines
``package.module:READER``  what an importable module defines
``read_finding``           an entry point of an installed package, in the group of its kind (:data:`GROUPS`)
========================== ==============================================================================

An installed package declares the last in its setup.cfg, and its name then stands beside ours everywhere::

    [options.entry_points]
    lmms_medtasks.parsers =
        read_finding = package.module:READER
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

from lmms_medtasks.errors import UserError, line_in_file, nearest_name, unknown_name_error

Kind = Literal["degradation", "modality", "parser", "metric", "judge protocol", "data reader"]

MODALITIES = "MEDTASKS_MODALITIES"
"""Environment variable: files with modalities, as `lmms-medtasks run` hands them to the harness."""

OWN_PARTS = "own_parts"
"""Key of a task's metadata: what its parts are that are not ours (:mod:`lmms_medtasks.suites.own_parts`)."""

GROUPS: Mapping[Kind, str] = {
    "degradation": "lmms_medtasks.degradations",
    "modality": "lmms_medtasks.modalities",
    "parser": "lmms_medtasks.parsers",
    "metric": "lmms_medtasks.metrics",
    "judge protocol": "lmms_medtasks.judge_protocols",
    "data reader": "lmms_medtasks.data_readers",
}
"""The group of entry points in which an installed package offers parts of a kind."""


@dataclass(frozen=True)
class Extension:
    """An extension.

    ``value``: the object itself, not checked yet. ``name``: what reports call it: an entry point's name, else the
    object's in its module. ``reference``: ``module:NAME`` or the path of a file and the name. ``origin``: for records
    and reports ("package example 1.2", "parts.py"). ``file``: its source, for digests, or None.
    """

    value: Any
    name: str
    reference: str
    origin: str
    file: Path | None


def is_reference(text: object) -> bool:
    """Whether ``text`` refers to a file or module ("parts.py:read_finding"), and is not a plain name."""
    return isinstance(text, str) and ":" in text


def resolve_extension_path(text: str, folder: Path | None) -> str:
    """Prefix a reference to a file with ``folder``, that of the task's YAML; any other text is returned unchanged."""
    file, _, name = text.rpartition(":")
    if folder is None or not file.endswith(".py") or Path(file).is_absolute():
        return text
    return f"{(folder / file).resolve()}:{name}"


def portable_reference(text: str, folder: Path | None) -> str:
    """The inverse of :func:`resolve_extension_path`: a reference to a file in ``folder`` as the YAML writes it."""
    file, _, name = text.rpartition(":")
    if folder is None or not file.endswith(".py") or not Path(file).is_relative_to(folder.resolve()):
        return text
    return f"{Path(file).relative_to(folder.resolve())}:{name}"


def describe_exception(error: BaseException, file: Path | None) -> str:
    """Describe an exception of custom code: "ValueError: too dark (parts.py, line 12)"."""
    line = line_in_file(error, file)
    location = f" ({file.name}, line {line})" if file and line else ""
    return f"{type(error).__name__}: {error}{location}"


@functools.cache
def installed_extensions(kind: Kind) -> Mapping[str, metadata.EntryPoint]:
    """Name -> entry point of the installed extensions of a kind, not imported. UserError: a name twice."""
    entries: dict[str, metadata.EntryPoint] = {}
    for entry in metadata.entry_points(group=GROUPS[kind]):
        same_name = entries.get(entry.name)
        if same_name is not None and same_name.value != entry.value:
            raise UserError(
                f"Two installed packages offer a {kind} called {entry.name!r}: {_package_title(same_name)} "
                f"({same_name.value}) and {_package_title(entry)} ({entry.value}). Uninstall one, or name the one that "
                f"is meant by {entry.value}."
            )
        entries[entry.name] = entry
    return entries


def names(kind: Kind, ours: Collection[str]) -> tuple[str, ...]:
    """The plain names of a kind: ``ours``, then those from installed packages. UserError if one of them is ours."""
    for name, each in installed_extensions(kind).items():
        if name in ours:
            raise UserError(
                f"{_package_title(each)} offers a {kind} called {name!r}, which is one of ours. It needs another name; "
                f"until then uninstall it, or name it by {each.value}."
            )
    return (*ours, *sorted(installed_extensions(kind)))


def load_extension(kind: Kind, text: str, ours: Collection[str] = (), where: str = "") -> Extension:
    """Load the extension that ``text`` refers to: a full reference, or the name of an installed one.

    ``kind``: also for words. ``text``: with the folder before a file (:func:`resolve_extension_path`). ``ours``: the
    names of our own, for the error about an unknown name. ``where``: where the reference stands, for messages. Raises
    UserError if there is no such file, module or name, or it can't be imported.
    """
    prefix = f"{where}: " if where else ""
    if not is_reference(text):
        entry = installed_extensions(kind).get(text)
        if entry is None:
            raise UserError(
                f"{prefix}{unknown_name_error(kind, text, names(kind, ours))} One of your own: FILE.py:NAME of a file "
                "beside the YAML, or package.module:NAME."
            )
        part = load_extension(
            kind, entry.value.partition(" ")[0], ours, f"{prefix}the {kind} {text!r} of {_package_title(entry)}"
        )
        return replace(part, name=entry.name, origin=f"package {_package_title(entry)}")
    source, _, name = text.rpartition(":")
    if not name.isidentifier() or not source:
        raise UserError(f"{prefix}{text!r} names no {kind}. Expected FILE.py:NAME or package.module:NAME.")
    module = _import_source(source, f"{prefix}the {kind} {text!r}")
    if not hasattr(module, name):
        near = nearest_name(name, [attribute for attribute in vars(module) if not attribute.startswith("_")])
        hint = f" Did you mean {near!r}?" if near else ""
        raise UserError(
            f"{prefix}the {kind} {text!r}: {Path(source).name if source.endswith('.py') else source} has "
            f"no {name!r}.{hint}"
        )
    path = getattr(module, "__file__", None)
    origin = Path(source).name if source.endswith(".py") else f"module {source}"
    return Extension(getattr(module, name), name, text, origin, Path(path) if path else None)


def _import_source(source: str, subject: str) -> Any:
    try:
        return import_file(Path(source)) if source.endswith(".py") else importlib.import_module(source)
    except UserError:
        raise
    except ModuleNotFoundError as error:
        if error.name is None or not (source == error.name or source.startswith(f"{error.name}.")):
            raise UserError(f"{subject} can't be imported: {error}.") from error
        raise UserError(
            f"{subject}: there is no module {error.name!r}. Install its package, put its folder on PYTHONPATH, or name "
            "a file beside the YAML: FILE.py:NAME."
        ) from error
    except FileNotFoundError as error:
        raise UserError(f"{subject}: there is no file {source}. It is looked for beside the task's YAML.") from error
    except Exception as error:  # noqa: BLE001 (anyone's module may raise anything as it is imported)
        line = line_in_file(error, source) or (error.lineno if isinstance(error, SyntaxError) else None)
        location = f", line {line}" if line else ""
        raise UserError(f"{subject} can't be imported: {type(error).__name__}: {error}{location}.") from error


def check_arguments(function: Any, arguments: tuple[Any, ...], said: str, where: str, wanted: str) -> None:
    """Raise UserError, ending in ``wanted``, if a function can't take ``arguments`` (``said`` in the message)."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(*arguments)
    except TypeError as error:
        raise UserError(f"{where} takes {signature}, which {said} does not fit: {error}. {wanted}") from error


@functools.cache
def import_file(path: Path) -> Any:
    """A Python file as a module, imported once a process."""
    if not path.is_file():
        raise FileNotFoundError(path)
    # Two folders may be called alike.
    known_as = hashlib.blake2b(str(path).encode(), digest_size=4).hexdigest()
    spec = importlib.util.spec_from_file_location(f"medtasks_{path.stem}_{known_as}", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    # Data classes look their module up, and so does pickle.
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[spec.name]
        raise
    return module


def _package_title(entry: metadata.EntryPoint) -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else entry.value.partition(":")[0]


def custom_code_digests(metadata: object) -> list[str]:
    """The digests of a task's custom code, from its metadata."""
    described = metadata.get(OWN_PARTS) if isinstance(metadata, Mapping) else None
    parts = [described.get("parser"), *(described.get("metrics") or [])] if isinstance(described, Mapping) else []
    return [f"{part.get('reference')} {part['digest']}" for part in parts if part and part.get("digest")]
