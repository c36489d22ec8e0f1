"""Every benchmark's folder has the same files: who knows one finds the way in all."""

import re

import pytest

from lmms_medtasks.folders import suites_root
from lmms_medtasks.suites import registry

EVERY = {"__init__.py", "source.py", "measures.py", "report.py", "report_published.py"}
"""The data and what they say; what is measured; the report and its first screen; the paper's tables beside runs."""
NAMED = {"hooks.py": "task_configs.{}.hooks.", "judging.py": "judge:"}
"""What the YAMLs of a folder name, and how."""
ALLOWED = {
    *EVERY,
    *NAMED,
    "settings.py",  # what only its tasks may say
    "report_paper.py",  # what the paper alone tests or shows
    "observer.py", "phantom.py",  # made-up pictures, and what reads them
}  # fmt: skip
MOST_LINES = 450


def files_of(name):
    return {path.name: path for path in (suites_root() / name).glob("*.py")}


@pytest.mark.parametrize("name", registry.names())
def test_a_benchmark_has_the_files_of_all_and_no_others(name):
    files = files_of(name)
    others = {each for each in files.keys() - ALLOWED if not re.fullmatch(r"source_[a-z]+\.py", each)}
    assert EVERY <= files.keys() and not others


@pytest.mark.parametrize("name", registry.names())
def test_hooks_and_judging_are_there_for_a_yaml(name):
    written = "".join(path.read_text("utf-8") for path in (suites_root() / name).glob("*yaml"))
    assert [each for each, said in NAMED.items() if each in files_of(name) and said.format(name) not in written] == []


@pytest.mark.parametrize("name", registry.names())
def test_a_file_is_a_chapter(name):
    lines = {each: len(path.read_text("utf-8").splitlines()) for each, path in files_of(name).items()}
    assert {each: count for each, count in lines.items() if count > MOST_LINES} == {}
