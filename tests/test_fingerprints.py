"""Digests of modules change with what they say, and with nothing else."""

import ast
from collections import Counter
from pathlib import Path

import pytest

from lmms_medtasks import fingerprints
from lmms_medtasks.fingerprints import NO_NUMBERS, SourceTrees

CODE = '''"""A module."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lmms_medtasks.cli import app

LIMIT = 3
"""What it is."""


def limited(value: int) -> int:
    """The value."""
    if value < 0:  # never
        raise ValueError(f"{value} is below 0.")
    return min(value, LIMIT)
'''


def digest(code, path=Path("module.py")):
    return SourceTrees(lambda _: code).digest([path])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# never", "# always"),
        ("    if value", "\n\n    # Above.\n    if value"),
        ('"""A module."""', '"""Another text."""'),
        ('"""What it is."""', ""),
        ('    """The value."""\n', ""),
        ("is below 0.", "must be 0 or more."),
        ("(value: int) -> int", "(value: float) -> float"),
        ("min(value, LIMIT)", "min(\n        value,\n        LIMIT,\n    )"),
        ("    from lmms_medtasks.cli import app", "    from lmms_medtasks.board import site"),
    ],
)
def test_layout_and_words_for_people_change_nothing(old, new):
    assert old in CODE
    assert digest(CODE.replace(old, new)) == digest(CODE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("LIMIT = 3", "LIMIT = 4"),
        ("LIMIT = 3", "LIMIT = 3.0"),
        ("min(", "max("),
        ("value < 0", "value <= 0"),
        ("ValueError", "KeyError"),
        ("from typing import", "from typing_extensions import"),
    ],
)
def test_what_a_number_can_depend_on_counts(old, new):
    assert old in CODE
    assert digest(CODE.replace(old, new)) != digest(CODE)


def test_the_digest_is_the_same_in_all_versions_of_python():
    code = (
        "def f(x, /, *, w=4):\n    return f'a{x!r:>{w}}' 'b' f'{x=}' u'c' + f'{{}}{x:.2f}'\n"
        "match f(1):\n    case None | {'a': _, **rest}:\n        x = [*rest][1:]\n    case [a, *_]:\n        pass\n"
        "class A(dict[str, int]):\n    async def g(self):\n        return {**self, 1: ..., 2j: b'\\xff'}\n"
    )
    assert digest(code) == "9a11b32d1109"


def test_imports_are_followed_also_inside_functions_and_through_packages():
    trees = fingerprints.installed()
    reached = trees.closure(["lmms_medtasks.harness.hooks"])
    assert "lmms_medtasks.degradations.images" in reached  # imported in a function
    assert "lmms_medtasks.parsing.letters" in reached  # parsing.option_letters, which the package's __init__ hands on
    assert not {"lmms_medtasks.parsing", "lmms_medtasks.parsing.yes_no"} & set(reached)
    assert trees.defined_in("lmms_medtasks.statistics.intervals", "scored") == "lmms_medtasks.statistics.sums"


def test_relative_imports_are_followed():
    trees = SourceTrees(
        lambda path: "from . import panels\nfrom ..parsing.yes_no import x" if path.stem == "triage" else ""
    )
    assert trees.closure(["lmms_medtasks.grids.triage"]) == (
        "lmms_medtasks.grids.panels",
        "lmms_medtasks.grids.triage",
        "lmms_medtasks.parsing.yes_no",
    )


def test_modules_without_numbers_exist_and_say_why():
    assert [name for name, reason in NO_NUMBERS.items() if not fingerprints.path_of(name) or not reason] == []


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("task_configs.medq_deg.taxonomy", {"taxonomy.yml", "capability_names.yml"}),
        ("task_configs.medobvious.hooks", {"prompts.yml", "system_prompt.txt"}),
        ("judges.prompts", {"frame.txt", "again.txt", "probe.txt", "reply_free.txt", "reply_schema.txt"}),
        (
            "task_configs.sure_vqa.judging",
            {"sure_open.txt", "sure_closed.txt", "sure_multilabel.txt"},
        ),
        ("degradations.registry", {"severity.yaml", "modalities.yaml"}),
        ("statistics.sums", set()),
    ],
)
def test_data_files_that_a_module_names(module, names):
    assert {path.name for path in fingerprints.installed().data_files(f"lmms_medtasks.{module}")} == names


def test_comments_in_yaml_change_nothing_and_values_do():
    path = fingerprints.path_of("lmms_medtasks.task_configs.medq_deg.taxonomy").with_name("taxonomy.yml")
    start = ["lmms_medtasks.task_configs.medq_deg.taxonomy"]

    def changed(old, new):
        return SourceTrees(
            lambda file: file.read_text("utf-8").replace(old, new) if file == path else file.read_text("utf-8")
        )

    before = fingerprints.installed().digest(start)
    assert changed("\n", "\n# a comment\n").digest(start) == before
    assert changed("gaussian_noise", "gaussian_nois").digest(start) != before


def test_each_file_is_read_once():
    read = Counter()

    def reading(path):
        read[path] += 1
        return path.read_text("utf-8")

    trees = SourceTrees(reading)
    for start in ("harness.hooks", "task_configs.medq_deg.scoring", "task_configs.medobvious.measures"):
        trees.digest([f"lmms_medtasks.{start}"])
    assert set(read.values()) == {1}


def test_a_file_of_ones_own_counts_with_what_it_imports(tmp_path):
    own = tmp_path / "adapter.py"
    own.write_text("from lmms_medtasks.data.adapter import from_columns\n\ndocuments = from_columns(image='a')\n")
    assert "lmms_medtasks.data.adapter" in fingerprints.installed().closure([own])
    before = SourceTrees().digest([own])
    own.write_text(own.read_text().replace("'a'", "'b'"))
    assert SourceTrees().digest([own]) != before


def test_no_module_is_imported_for_it():
    assert fingerprints.path_of("lmms_medtasks.grids.nothing") is None
    assert fingerprints.path_of("lmms_medtasks.errors.UserError") is None
    assert ast.parse(fingerprints.path_of("lmms_medtasks.cli.app").read_text("utf-8"))
