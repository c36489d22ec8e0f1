"""Check a task's folder without importing or executing anything of it."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from lmms_medtasks.contribute import references
from lmms_medtasks.contribute.new import UNFILLED, name_owner
from lmms_medtasks.degradations import modality_files, own_modalities
from lmms_medtasks.errors import UserError, nearest_name
from lmms_medtasks.short_texts import join_with_and
from lmms_medtasks.suites import registry, templates
from lmms_medtasks.task_yaml import keys
from lmms_medtasks.task_yaml.chain import IncludeChain, installed_chains, is_inside, read_include_chain
from lmms_medtasks.task_yaml.nodes import SETTINGS, FunctionTag
from lmms_medtasks.task_yaml.problems import ValidationLog

_ROWS = ("Paper", "Licence", "Data-use terms")
_SECTIONS = ("Tasks", "Metrics", "Data", "Checklist", "Deviations from the paper", "Changelog")


def folder_of_task(path: Path) -> Path:
    """The task's folder: ``path`` itself, or the folder of a YAML. Raises UserError if it is neither."""
    if path.is_dir():
        return path
    if path.is_file() and path.suffix == ".yaml":
        return path.parent
    raise UserError(f"{str(path)!r} is no folder with task YAMLs, and no YAML.")


def check_static(path: Path, log: ValidationLog) -> list[IncludeChain]:
    """Check a folder, or one YAML of it. Returns the include chains of the tasks that could be read."""
    folder = folder_of_task(path)
    chosen = [path] if path.is_file() else sorted(folder.glob("*.yaml"))
    if not chosen:
        log.add(str(folder), "holds no .yaml file: a task's YAML ends in .yaml")
    _register_modalities(folder, log)
    strange = _check_links(folder, log)
    readable = (path for path in chosen if path not in strange)
    chains = [chain for path in readable if (chain := read_include_chain(path, folder, log))]
    for chain in chains:
        _check_chain(chain, log)
    _check_names(chains, log)
    _check_group_metrics(chains, log)
    _check_python_syntax(folder, log, strange)
    if folder / "README.md" not in strange:
        _check_card(folder / "README.md", log)
    log.problems = list(dict.fromkeys(log.problems))  # an included file's problem is found in each chain
    return [chain for chain in chains if not chain.is_group]


def _check_card(path: Path, log: ValidationLog) -> None:
    if not path.is_file():
        log.add(path, "is missing: a card with paper, licence, data-use terms, checklist and changelog")
        return
    lines = path.read_text("utf-8", errors="replace").splitlines()
    if unfilled := [number for number, line in enumerate(lines, 1) if UNFILLED in line]:
        where = f"line{'s' * (len(unfilled) > 1)} {join_with_and(list(map(str, unfilled)))}"
        log.add(
            path, f"has {UNFILLED!r} in {where}: the card is yours to finish before others get it", line=unfilled[0]
        )
    for row in _ROWS:
        if not any(line.startswith(f"| {row} |") for line in lines):
            log.add(path, f"has no row {row!r} in its table: '| {row} | ... |'")
    for section in _SECTIONS:
        if f"## {section}" not in lines:
            log.add(path, f"has no section '## {section}'")


def _check_python_syntax(folder: Path, log: ValidationLog, but: Collection[Path]) -> None:
    """Report Python files that do not parse. ``but``: files that must not be opened."""
    for path in sorted(folder.rglob("*.py")):
        if path in but or not path.is_file():
            continue
        try:
            ast.parse(path.read_bytes())
        except (SyntaxError, ValueError) as error:
            name = path.relative_to(folder).as_posix()
            log.add(name, f"is no Python: {error}", line=getattr(error, "lineno", None))


def _register_modalities(folder: Path, log: ValidationLog) -> None:
    path = folder / own_modalities.FILE
    if path.is_file():
        try:
            modality_files.load_modality_files([path], execute=False)
        except UserError as error:
            log.add(path, str(error))


def _check_chain(chain: IncludeChain, log: ValidationLog) -> None:
    problems = keys.task_key_problems(chain)
    log.problems += problems
    wrong_keys = {problem.key.partition(".")[0] for problem in problems}
    _check_file_name(chain, wrong_keys, log)
    if chain.is_group:
        return
    references.check_functions(chain, wrong_keys, log)
    if not wrong_keys & {"dataset_path", "dataset_kwargs", "test_split", "training_split"}:
        references.check_data_files(chain, log)
    if not wrong_keys & {"process_results", "metadata", SETTINGS}:
        if keys.reads_settings(chain):
            references.check_prompt_file(chain, log)
            references.check_custom_parts(chain, log)
        _check_copy(chain, log)


def _check_file_name(chain: IncludeChain, wrong_keys: Collection[str], log: ValidationLog) -> None:
    key = chain.name_key
    if key not in chain.entries or key in wrong_keys or (name := chain.value(key)) == chain.path.stem:
        return
    # A name that is taken is to be changed, not given to the file too.
    if not name_owner(name, but=chain.path):
        entry = chain.entries[key]
        log.add(entry.file, f"the file must be called as the task is: {name}.yaml", line=entry.line, key="task",
                value=name)  # fmt: skip


def _check_copy(chain: IncludeChain, log: ValidationLog) -> None:
    template = keys.template_of(chain)
    copy = next((path for path in chain.files if path.match(templates.FILES)), None)
    if template is not None and copy is not None and copy.read_text("utf-8") != templates.template_yaml(template.name):
        log.add(copy, f"differs from the template {template.name!r} as it is installed. If you did not change it: "
                "delete it, and let `lmms-medtasks new` write it again in an empty folder", level="note")  # fmt: skip


def _check_names(chains: list[IncludeChain], log: ValidationLog) -> None:
    """Check that names are unique in the folder, among our tasks, and among the harness's, which would win silently."""
    seen: dict[str, Path] = {}
    for chain in chains:
        name = chain.value(chain.name_key)
        if not isinstance(name, str):
            continue
        entry = chain.entries[chain.name_key]
        if name in seen:
            log.add(chain.path, f"the name is {seen[name].name}'s already", line=entry.line, key="task", value=name)
        seen[name] = chain.path
        if owner := name_owner(name, but=chain.path):
            log.add(entry.file, f"the name is taken: {owner}", line=entry.line, key="task", value=name)


def _check_links(folder: Path, log: ValidationLog) -> set[Path]:
    """Report links out of ``folder``, pipes and devices. Returns these paths, which must not be opened."""
    strange = set()
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if not is_inside(path, folder):
            log.add(name, "a link that leads out of the task's folder")
        elif not path.is_dir() and not path.is_file():
            log.add(name, "is no file, but a pipe, a device or a link to nothing")
        else:
            continue
        strange.add(path)
    return strange


# --- Groups -----------------------------------------------------------------------------------------------------------


def _check_group_metrics(chains: Sequence[IncludeChain], log: ValidationLog) -> None:
    """Report metrics that no task of a group has, whose rows stay empty. Groups with an unknown task are skipped."""
    named_chains = [(chain.value(chain.name_key), chain) for chain in chains]
    by_name = {name: chain for name, chain in named_chains if isinstance(name, str)}
    for group in (chain for chain in chains if chain.is_group):
        listed = group.value("aggregate_metric_list")
        members = list(_member_tasks(group, by_name, set()))
        metrics = [member and _table_metrics(member) for member in members]
        if not isinstance(listed, list) or None in metrics:
            continue
        names = tuple(sorted({name for members_metrics in metrics for name in members_metrics or ()}))
        entry = group.entries["aggregate_metric_list"]
        for row in listed:
            metric = str(row.get("metric") if isinstance(row, Mapping) else row)
            # As the harness matches them: "accuracy" takes "accuracy_iid" too.
            if not any(metric in name for name in names):
                log.add(
                    entry.file, "no task of the group has this metric: its row would stay empty", line=entry.line,
                    key="aggregate_metric_list", value=metric, allowed=names, near=nearest_name(metric, names),
                )  # fmt: skip


def _member_tasks(
    group: IncludeChain, by_name: Mapping[str, IncludeChain], above: set[str]
) -> Iterator[IncludeChain | None]:
    """The tasks of a group and of groups in it; None for an unknown task."""
    above = above | {str(group.value("group"))}
    for member in group.value("task"):
        name = member.get("task") if isinstance(member, Mapping) else member
        chain = by_name.get(name) if isinstance(name, str) else None
        if chain is not None and chain.is_group:
            yield from _member_tasks(chain, by_name, above) if name not in above else ()
        elif chain is not None:
            yield chain
        else:
            yield from (installed_chains([name]) if isinstance(name, str) else []) or (None,)


def _table_metrics(chain: IncludeChain) -> set[str] | None:
    """The metrics that a task's settings, list, template or benchmark choose; None if their code is not installed."""
    settings = chain.value(SETTINGS)
    default = settings.get("default") if isinstance(settings, Mapping) else None
    chosen = default.get("metrics") if isinstance(default, Mapping) else None
    listed = chain.value("metric_list")
    if isinstance(listed, FunctionTag):
        template = keys.template_of(chain)
        listed = template.metrics if template else registry.metrics_of(str(chain.value("process_results")))
        if listed is None:
            return None
    rows = [chosen] if isinstance(chosen, str) else chosen or listed or []
    names = [row.get("metric") if isinstance(row, Mapping) else row for row in rows]
    return {name for name in names if isinstance(name, str)}
