"""Check what a task's YAML refers to: functions, data files, its prompt, custom parts.

Nothing of a contribution is imported or executed. A module in the folder, or in task_configs, is read as a syntax tree.
Another module of ours is imported. Any other is not looked into.
"""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.util
import inspect
import os
import pkgutil
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lmms_medtasks import folders
from lmms_medtasks.data import sources, text_tables
from lmms_medtasks.errors import nearest_name
from lmms_medtasks.extensions import is_reference
from lmms_medtasks.harness.taken_names import harness_folders
from lmms_medtasks.judges.own_scales import is_rubric
from lmms_medtasks.suites import templates
from lmms_medtasks.task_yaml import keys
from lmms_medtasks.task_yaml.chain import IncludeChain, YamlKey, inner_keys, is_file, is_inside
from lmms_medtasks.task_yaml.nodes import LOCAL, SETTINGS, FunctionTag
from lmms_medtasks.task_yaml.problems import ValidationLog

PROTOCOL = "medtasks://"

_OURS = "lmms_medtasks"
_CONFIGS = "lmms_medtasks.task_configs."
_HARNESS = "lmms_eval"
_NEVER_GIVEN = 1000
"""Counted for a keyword-only argument without a default: more than any hook is called with."""
_WILDCARDS = "*?[$~{"
_LEADS_OUT = "leads out of the task's folder, and to nothing on other machines"
_NOT_LOOKED_INTO = "is of another package, which was not looked into: whoever runs the task executes it"

# --- Functions --------------------------------------------------------------------------------------------------------


def check_functions(chain: IncludeChain, wrong_keys: Collection[str], log: ValidationLog) -> None:
    """Check every function that a task names; ``wrong_keys``: keys whose values are not what they should be."""
    for key, field in keys.TaskKeys.model_fields.items():
        if key in chain.entries and key not in wrong_keys:
            _check_function(chain.entries[key], key, field.metadata, log)
    rows = chain.entries.get("metric_list")
    if rows is not None and "metric_list" not in wrong_keys and not isinstance(rows.value, FunctionTag):
        metadata = keys.MetricRow.model_fields["aggregation"].metadata
        for node in rows.node.value:
            row = inner_keys(YamlKey(rows.file, node, node))["aggregation"]
            _check_function(row, "metric_list.aggregation", metadata, log)


def _check_function(entry: YamlKey, key: str, metadata: Collection[Any], log: ValidationLog) -> None:
    called_with = next((marker for marker in metadata if isinstance(marker, keys.ArgumentRange)), None)
    if called_with and isinstance(entry.value, FunctionTag):
        _FunctionCheck(entry, key, called_with, log).check()


@dataclass(frozen=True)
class _FunctionCheck:
    """Whether a dotted name in a YAML leads to a function that can be called as the harness will call it."""

    entry: YamlKey
    key: str
    called_with: keys.ArgumentRange
    found: ValidationLog

    @property
    def _dotted(self) -> str:
        return str(self.entry.value.name)

    def _add(self, message: str, **more: object) -> None:
        self.found.add(self.entry.file, message, line=self.entry.line, key=self.key, value=self._dotted, **more)

    def check(self) -> None:
        """Check it as the harness looks for it: a file of that name beside the YAML, then an installed module."""
        module, _, name = self._dotted.rpartition(".")
        if not module or not all(part.isidentifier() for part in self._dotted.split(".")):
            self._add("expected module.function: adapter.documents, lmms_medtasks.harness.hooks.doc_to_text")
            return
        beside_yaml = self.entry.file.parent
        local = beside_yaml / f"{module}.py"
        if not is_file(local) and module.startswith(_CONFIGS):
            # Where contributions lie once they are ours: importing one would execute it.
            local = folders.suites_root().joinpath(*module.removeprefix(_CONFIGS).split(".")).with_suffix(".py")
        package = module.split(".")[0]
        if is_file(local):
            self._check_local(local, name)
        elif module.startswith(_CONFIGS):
            self._add(f"there is no such module in lmms_medtasks ({local.name})")
        elif package == _OURS:
            self._check_ours(module, name)
        elif package == _HARNESS:
            self._check_harness(module)
        elif "." not in module and importlib.util.find_spec(module) is None:
            near = nearest_name(module, [path.stem for path in beside_yaml.glob("*.py")])
            self._add(f"there is no {module}.py beside the YAML, and no module {module!r}", near=near)
        else:
            self._add(_NOT_LOOKED_INTO, level="warning")

    def _check_local(self, path: Path, name: str) -> None:
        definitions = _read_definitions(path)
        if definitions is None:
            return
        node = definitions.get(name)
        if name not in definitions:
            self._add(f"{path.name} does not define {name!r}", near=nearest_name(name, definitions))
        elif isinstance(node, ast.AsyncFunctionDef):
            self._add(f"{path.name} defines {name!r} as async, and nobody awaits it")
        elif isinstance(node, ast.FunctionDef | ast.Lambda):
            self._check_arity(_syntax_arity(node.args))
        elif isinstance(node, ast.Constant | ast.Dict | ast.List | ast.Tuple | ast.Set | ast.JoinedStr):
            self._add(f"{path.name} defines {name!r} as a value, which can't be called")

    def _check_ours(self, module: str, name: str) -> None:
        try:
            imported = importlib.import_module(module)
        except ImportError as error:
            self._add(f"there is no such module in lmms_medtasks ({error})")
            return
        if not hasattr(imported, name):
            modules = [module.name for module in pkgutil.iter_modules(getattr(imported, "__path__", []))]
            public = [attribute for attribute in (*dir(imported), *modules) if not attribute.startswith("_")]
            self._add(f"{module} has no {name!r}", near=nearest_name(name, public))
            return
        function = getattr(imported, name)
        if callable(function):
            self._check_arity(callable_arity(function))
        else:
            self._add(f"is a {type(function).__name__}, which can't be called")

    def _check_harness(self, module: str) -> None:
        relative = Path(*module.split(".")[1:])
        candidates = (root / relative for root in harness_folders())
        if not any(is_file(path.with_suffix(".py")) or os.path.isdir(path) for path in candidates):
            self._add("lmms-eval has no such module")

    def _check_arity(self, arity: tuple[int, int | None]) -> None:
        needed, most = arity
        called = self.called_with
        if needed > called.most or (most is not None and most < called.least):
            takes = f"{needed}" if needed == most else f"{needed} to {most}"
            with_count = f"{called.least}" if called.least == called.most else f"{called.least} or {called.most}"
            message = f"takes {takes} arguments, is called with {with_count}"
            self._add(message if needed < _NEVER_GIVEN else "needs keyword arguments, which it is not given")


def _read_definitions(path: Path) -> dict[str, ast.AST | None] | None:
    """Top-level name of a module -> the function or value bound to it; None if the file is not Python."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return None
    definitions: dict[str, ast.AST | None] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            definitions[node.name] = node
        elif isinstance(node, ast.Assign):
            definitions.update({name.id: node.value for target in node.targets for name in ast.walk(target)
                                if isinstance(name, ast.Name)})  # fmt: skip
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            definitions[node.target.id] = node.value
        elif isinstance(node, ast.Import | ast.ImportFrom):
            definitions.update({alias.asname or alias.name.split(".")[0]: None for alias in node.names})
    return definitions


def _syntax_arity(arguments: ast.arguments) -> tuple[int, int | None]:
    positional = len(arguments.posonlyargs) + len(arguments.args)
    needed = positional - len(arguments.defaults)
    needed += sum(default is None for default in arguments.kw_defaults) * _NEVER_GIVEN
    return needed, None if arguments.vararg else positional


def callable_arity(function: Callable[..., Any]) -> tuple[int, int | None]:
    """How many positional arguments a callable needs, and takes at most (None: any number)."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return 0, None
    required = [parameter for parameter in parameters if parameter.default is parameter.empty]
    by_position = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    needed = sum(parameter.kind in by_position for parameter in required)
    needed += sum(parameter.kind is parameter.KEYWORD_ONLY for parameter in required) * _NEVER_GIVEN
    takes_any = any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters)
    return needed, None if takes_any else sum(parameter.kind in by_position for parameter in parameters)


# --- Data files -------------------------------------------------------------------------------------------------------


def check_data_files(chain: IncludeChain, log: ValidationLog) -> None:
    """Check that the files exist that ``dataset_kwargs: data_files`` of a task names."""
    kwargs = chain.value("dataset_kwargs") or {}
    if kwargs.get("trust_remote_code"):
        file, line = chain.place(("dataset_kwargs", "trust_remote_code"))
        log.add(file, "executes code of the data set's author", line=line, key="dataset_kwargs.trust_remote_code",
                value="True", level="warning")  # fmt: skip
    for split, names in (kwargs.get("data_files") or {}).items():
        file, line = chain.place(("dataset_kwargs", "data_files", split))
        for name in names if isinstance(names, list) else [names]:
            location = {"line": line, "key": f"dataset_kwargs.data_files.{split}", "value": name}
            _check_data_file(chain, name, functools.partial(log.add, file, **location))


def missing_data_files(chain: IncludeChain) -> list[str]:
    """Local files that ``dataset_kwargs: data_files`` of a task names and that do not exist."""
    kwargs = chain.value("dataset_kwargs")
    files = kwargs.get("data_files") if isinstance(kwargs, Mapping) else None
    # Of a data set on the hub they are files there.
    if chain.value("dataset_path") not in LOCAL or not isinstance(files, Mapping):
        return []
    names = [name for names in files.values() for name in (names if isinstance(names, list) else [names])]
    return [name for name in names if isinstance(name, str) and _is_missing(chain.path.parent, name)]


def _is_missing(folder: Path, name: str) -> bool:
    # The harness looks in its working folder for what is not beside the YAML.
    is_elsewhere = "://" in name or set(name) & set(_WILDCARDS) or is_file(Path(name))
    return not is_elsewhere and not is_file(folder / name)


def _check_data_file(chain: IncludeChain, name: str, add: Callable[..., None]) -> None:
    folder, loader = chain.path.parent, chain.value("dataset_path")
    if name.startswith(PROTOCOL):
        if not is_file(folder / sources.FILE):  # its own would be executed; told when the data are read
            _check_prepared_data(name, add)
    elif "://" in name:
        add("is read from the network at each run", level="warning")
    elif set(name) & set(_WILDCARDS):
        add("the harness takes a name as it is: no wildcards, variables or ~")
    elif not is_inside(folder / name, folder):
        add(_LEADS_OUT)
    elif not is_file(folder / name):
        files = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]
        add("no such file in the folder", near=nearest_name(name, files))
    elif (fitting := text_tables.LOADERS.get(Path(name).suffix.lower(), loader)) != loader:
        add(f"is read by `dataset_path: {fitting}`, not by {loader!r}")


def _check_prepared_data(name: str, add: Callable[..., None]) -> None:
    benchmark, _, split = name.removeprefix(PROTOCOL).partition("/")
    if benchmark not in sources.names():
        add("no such suite", near=nearest_name(benchmark, sources.names()), allowed=tuple(sources.names()))
        return
    splits = [each.name for each in sources.get(benchmark).splits]
    if split not in splits:
        add(f"{benchmark} has no such split", near=nearest_name(split, splits), allowed=tuple(splits))


# --- The prompt -------------------------------------------------------------------------------------------------------


def check_prompt_file(chain: IncludeChain, log: ValidationLog) -> None:
    """Check the setting ``prompt`` of a task whose settings are right, and the file that it names."""
    default_settings = (chain.value(SETTINGS) or {}).get("default") or {}
    name = default_settings.get("prompt")
    if not isinstance(name, str):
        return
    template = keys.template_of(chain)
    settings = {**(template.settings if template else {}), **default_settings}
    file, line = chain.place((SETTINGS, "default", "prompt"))
    location: dict[str, Any] = {"line": line, "key": f"{SETTINGS}.default.prompt", "value": name}
    path = chain.path.parent / name
    if "{question}" in name:
        _check_placeholders(file, name, settings, log)
    elif not is_inside(path, chain.path.parent):
        log.add(file, _LEADS_OUT, **location)
    elif is_file(path):
        _check_prompt_text(path, settings, log)
    elif name not in templates.builtin_prompt_names() and not is_file(folders.suites_root() / name):
        prompts = (*(path.name for path in chain.path.parent.glob("*.txt")), *templates.builtin_prompt_names())
        log.add(file, "no such file beside the YAML, and no built-in prompt", near=nearest_name(name, prompts),
                allowed=prompts, **location)  # fmt: skip


def _check_prompt_text(path: Path, settings: Mapping[str, Any], log: ValidationLog) -> None:
    try:
        text = path.read_text("utf-8")
    except UnicodeDecodeError as error:
        log.add(path, f"byte {error.object[error.start]:#04x} is not UTF-8: save the file as UTF-8")
        return
    if "{question}" not in text:
        log.add(path, "has no {question} in it: the question would not be asked")
        return
    _check_placeholders(path, text, settings, log)


def _check_placeholders(path: Path, text: str, settings: Mapping[str, Any], log: ValidationLog) -> None:
    """Check what stands in braces: a known name is filled in, any other is shown to the model as it is."""
    if settings.get("parser") in ("option", "letter") and "{options}" not in text:
        log.add(path, "the prompt has no {options} in it: a model is not told which letter means what", level="warning")
    for word in dict.fromkeys(re.findall(r"\{(\w+)\}", text)):
        if word not in ("question", "options"):
            log.add(path, "nothing is filled in for this: the model is shown it as it is", level="warning",
                    value=f"{{{word}}}", near=nearest_name(f"{{{word}}}", ("{question}", "{options}")))  # fmt: skip


# --- Custom parts -----------------------------------------------------------------------------------------------------


def check_custom_parts(chain: IncludeChain, log: ValidationLog) -> None:
    """Check the files that a task's settings, which are right in form, name for custom parts."""
    settings = (chain.value(SETTINGS) or {}).get("default") or {}
    for key in ("parser", "metrics", "judge", "degradation"):
        names = settings.get(key)
        for name in names if isinstance(names, list) else [names]:
            if isinstance(name, str) and (is_reference(name) or (key == "judge" and is_rubric(name))):
                _check_custom_part(chain, key, name, log)


def _check_custom_part(chain: IncludeChain, key: str, reference: str, log: ValidationLog) -> None:
    file, line = chain.place((SETTINGS, "default", key))
    location: dict[str, Any] = {"line": line, "key": f"{SETTINGS}.default.{key}", "value": reference}
    name, attribute = (reference, "") if is_rubric(reference) else reference.rsplit(":", 1)
    if not is_rubric(reference) and not name.endswith(".py"):
        log.add(file, _NOT_LOOKED_INTO, level="warning", **location)
        return
    folder = chain.path.parent
    path = folder / name
    if not is_inside(path, folder):
        log.add(file, _LEADS_OUT, **location)
    elif not is_file(path):
        near = nearest_name(name, [file.name for file in folder.glob(f"*{path.suffix}")])
        log.add(file, f"there is no file {name} beside the YAML", near=near, **location)
    elif attribute and (definitions := _read_definitions(path)) is not None and attribute not in definitions:
        log.add(file, f"{name} does not define {attribute!r}", near=nearest_name(attribute, definitions), **location)
