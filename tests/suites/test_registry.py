"""Benchmarks are found by their folders, and what is wrong with a folder is said."""

import importlib
import sys
import types

import pytest

from lmms_medtasks import folders
from lmms_medtasks.errors import UserError
from lmms_medtasks.suites import registry

DATA = {"dataset_kwargs": {"data_files": {"test": "medtasks://medobvious/test"}}}


def test_a_task_is_of_the_benchmark_of_its_folder():
    assert registry.find_suite("medobvious_t1", {}) is registry.get("medobvious")


def test_a_task_of_somebodys_own_is_of_the_benchmark_whose_data_it_reads():
    assert registry.find_suite("my_grids", DATA) is registry.get("medobvious")
    assert registry.find_suite("mmmu_val", {"dataset_path": "lmms-lab/MMMU"}) is None


def test_a_task_on_degraded_pictures_is_of_no_benchmark_but_one_that_is_degraded_by_definition_is():
    done = {"of": "my_grids", "name": "gaussian_noise", "level": "2"}
    degraded = {**DATA, "metadata": {"degradation": done}}
    assert registry.find_suite("my_grids@gaussian_noise.2", degraded) is None
    assert registry.find_suite("my_grids", degraded) is registry.get("medobvious")


@pytest.mark.parametrize("name", registry.names())
def test_every_folder_declares_a_benchmark_of_its_name(name):
    suite = registry.get(name)
    assert suite.name == name
    assert suite.main_metrics


@pytest.fixture
def own_folder(tmp_path, monkeypatch):
    """A package of benchmarks in a temporary folder: write(name, measures.py, files)."""
    package = types.ModuleType("benchmarks_of_a_test")
    package.__path__ = [str(tmp_path)]
    monkeypatch.setitem(sys.modules, "benchmarks_of_a_test", package)
    for module in (folders, registry):
        monkeypatch.setattr(module, "PACKAGE", "benchmarks_of_a_test")
    for cached in (folders.task_files, registry.names, registry.get):
        cached.cache_clear()

    def write(name, source, *files):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").touch()
        (tmp_path / name / "measures.py").write_text(source, "utf-8")
        for file in files:
            (tmp_path / name / file).write_text(f"task: {file.removesuffix('.yaml')}\n", "utf-8")
        importlib.invalidate_caches()

    yield write
    for cached in (folders.task_files, registry.names, registry.get):
        cached.cache_clear()
    for name in [each for each in sys.modules if each.startswith("benchmarks_of_a_test.")]:
        del sys.modules[name]


DECLARED = """
from lmms_medtasks.suites.suite import Suite
SUITE = Suite(name={name!r}, title="T", cluster="image", measures=(), metrics=(), tasks={{}}, data=("d",))
"""


def test_two_benchmarks_that_claim_a_task(own_folder):
    own_folder("one", DECLARED.format(name="one"), "task.yaml")
    own_folder("two", DECLARED.format(name="two"), "task.yaml")
    with pytest.raises(UserError, match="Two benchmarks claim the task 'task'"):
        folders.task_files()


def test_two_benchmarks_whose_data_a_task_reads(own_folder):
    for name in ("one", "two"):
        own_folder(name, DECLARED.format(name=name), f"{name}.yaml")
    with pytest.raises(UserError, match="one, two"):
        registry.find_suite("third", {"dataset_kwargs": {"data_files": "medtasks://d/test"}})


@pytest.mark.parametrize(
    ("source", "files", "said"),
    [
        ("", ("a.yaml",), "declares no benchmark"),
        ("SUITE = 3", ("a.yaml",), "got int"),
        (DECLARED.format(name="other"), ("a.yaml",), "SUITE is called 'other'"),
        (DECLARED.format(name="own"), (), "has no task"),
    ],
)
def test_a_folder_that_is_no_benchmark(own_folder, source, files, said):
    own_folder("own", source, *files)
    with pytest.raises(UserError) as error:
        registry.get("own")
    assert said in str(error.value)


def test_a_mistake_in_a_declaration_is_told_with_its_line(own_folder):
    twice = DECLARED.format(name="own").replace("measures=()", "measures=(Measure('a'), Measure('a'))")
    own_folder("own", twice.replace("import Suite", "import Measure, Suite"), "a.yaml")
    with pytest.raises(UserError, match=r"measures\.py, line 3: .*'a' stands twice"):
        registry.get("own")
    again = DECLARED.format(name="again").replace(
        "metrics=(), tasks={}",
        """
        metrics=(number_of_questions(),), tasks={"tier": ("questions", "questions")}""",
    )
    own_folder("again", again.replace("import Suite", "import Suite, number_of_questions"), "again.yaml")
    registry.names.cache_clear()
    with pytest.raises(UserError, match=r"^\S+measures\.py, line 3: The metric 'questions' .* of again, tier"):
        registry.get("again")
    own_folder("typo", "\n\nSUITE = Siute()\n", "b.yaml")
    registry.names.cache_clear()
    with pytest.raises(UserError, match=r"measures\.py, line 3 can't be imported: NameError"):
        registry.get("typo")


def test_an_unknown_benchmark_names_those_that_there_are():
    with pytest.raises(UserError, match="medobvious"):
        registry.get("medobvius")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("title: A\nrow:\n  n: 1\n  m: 2\n  n: 3\n", "board.yml, line 5: the key 'n' stands on line 3 already"),
        ("title: A\nrow: [1\n", "board.yml"),
    ],
)
def test_a_yaml_file_of_a_folder_with_a_mistake_is_told_with_its_line(tmp_path, text, said):
    (tmp_path / "board.yml").write_text(text, "utf-8")
    with pytest.raises(UserError) as error:
        folders.read_yaml(tmp_path / "board.yml")
    assert said in str(error.value) and "line" in str(error.value)
