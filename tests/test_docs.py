"""What the documents say is there: commands, options, tasks, links."""

import fnmatch
import os
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lmms_medtasks.board import installed
from lmms_medtasks.cli.app import build_app
from lmms_medtasks.data import sources
from lmms_medtasks.harness.plugin import task_index
from lmms_medtasks.judges import registry
from lmms_medtasks.suites import registry as suites

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "task_configs").rglob("*.md")),
]
# Options that are lmms-eval's; `run` passes them on.
HARNESS_OPTIONS = {
    "--reasoning_tags",
    "--model",
    "--model_args",
    "--tasks",
    "--limit",
    "--gen_kwargs",
    "--batch_size",
    "--output_path",
}

# `agreement RUN` is `agreement compute RUN`, `judge RUN` is `judge run RUN`.
DEFAULT_COMMANDS = {"agreement": "compute", "judge": "run"}


def commands(path):
    """The lmms-medtasks commands in a document, without comments and placeholders for what comes before them."""
    for line in path.read_text("utf-8").replace("\\\n", " ").splitlines():
        for found in re.findall(r"(?<!The )lmms-medtasks ((?:[a-z]+)(?: [^#`&|)]*)?)", line):
            yield found.strip()


def all_commands():
    return sorted({command for path in DOCUMENTS for command in commands(path)})


@pytest.mark.parametrize("command", all_commands())
def test_command_exists_with_its_options(command):
    words = shlex.split(command.replace("…", " "))
    groups = {group.name for group in build_app().registered_groups}
    deeper = words[0] in groups and len(words) > 1 and not words[1].startswith(("-", "runs/", "RUN"))
    names = words[:2] if deeper else words[:1]
    if words[0] in DEFAULT_COMMANDS and not deeper:
        names = [words[0], DEFAULT_COMMANDS[words[0]]]
    done = CliRunner().invoke(build_app(), [*names, "--help"], env={"COLUMNS": "300", "NO_COLOR": "1"})
    assert done.exit_code == 0, done.output
    for word in words:
        if word.startswith("--") and not (names == ["run"] and word in HARNESS_OPTIONS):
            assert word in done.output


def test_ci_runs_the_test_command_of_the_readme():
    readme = (ROOT / "README.md").read_text("utf-8")
    [command] = [line for line in readme.splitlines() if line.endswith("-m pytest")]
    assert command in (ROOT / ".ci" / "run").read_text("utf-8").splitlines()


def test_the_end_to_end_tests_run_the_main_job_of_the_readme():
    readme = (ROOT / "README.md").read_text("utf-8")
    [command] = [line for line in readme.splitlines() if "MEDTASKS_DATA=mini .venv" in line]
    arguments = shlex.split(command.split("lmms-medtasks run ")[1])
    test = (ROOT / "tests" / "e2e" / "test_baselines.py").read_text("utf-8")
    assert f"harness({', '.join(repr(word) for word in arguments)})".replace("'", '"') in test


@pytest.mark.parametrize(
    "path", [*DOCUMENTS, *sorted((ROOT / "docs").rglob("*/*.md"))], ids=lambda path: str(path.relative_to(ROOT))
)
def test_links_lead_to_files(path):
    for target in re.findall(r"\]\(([^)#]+)\)", path.read_text("utf-8")):
        if not target.startswith("http"):
            assert (path.parent / target).exists(), target


def beginnings():
    """What the names of a benchmark's tasks have in common, without an underscore at the end."""
    by_folder = {}
    for name, entry in task_index().items():
        by_folder.setdefault(Path(entry["yaml_path"]).parent, []).append(name)
    return [os.path.commonprefix(names).rstrip("_") for names in by_folder.values()]


def task_names(path):
    """What a document names in code style and could be a task."""
    named = re.findall(r"`([a-z0-9]+(?:_[a-z0-9]+)*)`", path.read_text("utf-8"))
    ours = re.compile(rf"({'|'.join(beginnings())})(_|$)")
    return {name for name in named if ours.match(name)}


@pytest.mark.parametrize("card", sorted((ROOT / "task_configs").glob("*/README.md")), ids=lambda path: path.parent.name)
def test_a_card_names_all_tasks_of_its_suite(card):
    ours = {name for name, entry in task_index().items() if Path(entry["yaml_path"]).is_relative_to(card.parent)}
    assert ours
    # Variants may be named by what their names end in: `_noimage`, `…_iid`.
    endings = tuple(re.findall(r"`…?(_[a-z0-9_]+)`", card.read_text("utf-8")))
    assert not [task for task in ours - task_names(card) if not task.endswith(endings)]


@pytest.mark.parametrize("card", sorted((ROOT / "task_configs").glob("*/README.md")), ids=lambda path: path.parent.name)
def test_a_card_names_the_versions_of_its_tasks_and_what_changed(card):
    ours = [installed.find_installed_task(name) for name in installed.installed_tasks()]
    versions = {each.version for each in ours if each is not None and each.suite == card.parent.name}
    about, changes = card.read_text("utf-8").split("## Changelog")
    [row] = re.findall(r"\| Task version \|(.*)\|", about)
    assert set(re.findall(r"\d+\.\d+", row)) == versions
    assert versions <= set(re.findall(r"\d+\.\d+", " ".join(re.findall("^- (.*?):", changes, re.MULTILINE))))


def arrows(card):
    """(metric, direction in the card) for every row of a card's tables that begins with metrics of its benchmark."""
    declared = suites.get(card.parent.name).estimates
    for named, arrow in re.findall(r"^\|([^|]*)\|([^|]{0,6})\|", card.read_text("utf-8"), re.MULTILINE):
        for pattern in re.findall(r"`([^`]+)`", named.replace("…", "*")):
            yield from ((name, arrow.strip()) for name in declared if fnmatch.fnmatchcase(name, pattern))


@pytest.mark.parametrize("card", sorted((ROOT / "task_configs").glob("*/README.md")), ids=lambda path: path.parent.name)
def test_a_card_gives_a_metric_the_direction_of_its_declaration(card):
    signs = {True: "↑", False: "↓", None: ""}
    found = list(arrows(card))
    assert len(found) > 10
    assert [
        each for each in found if each[1] != signs[suites.get(card.parent.name).metric(each[0]).higher_is_better]
    ] == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_document_names_no_task_that_is_none(path):
    ours = set(task_index())
    judged = set(registry.names())
    assert task_names(path) <= ours | set(sources.names()) | judged


def test_the_changelog_has_the_form_of_keep_a_changelog():
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert text.startswith("# Changelog\n")
    assert "\n## [Unreleased]\n" in text
    kinds = set(re.findall(r"^### (.+)$", text, re.MULTILINE))
    before = {"What you must do", "Moves numbers"}
    assert kinds <= {*before, "Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
