"""The table of what is relied on in the harness, and what becomes of runs where a line of it is missing."""

import ast
import importlib
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import lmms_eval.evaluator
import pytest

import lmms_medtasks
from lmms_medtasks.errors import UserError
from lmms_medtasks.harness import plugin, refusing, relied_on
from tests.conftest import QUIET
from tests.foreign_tasks import COMMON, EXACT

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "chest_side"
COMMAND = "lmms_eval.__main__"  # to import it would make this process the command
LOOKED_UP = [each for each in relied_on.POINTS if each.module != COMMAND]
NAMES = [(each, name) for each in LOOKED_UP for name in each.takes if each.kind != "only"]


def held(point):
    """The object of the harness that a point's name ends in, and that name."""
    module, _, path = point.name.partition(":")
    holder = importlib.import_module(module)
    *way, name = path.split(".")
    for each in way:
        holder = getattr(holder, each)
    return holder, name


def test_this_harness_has_all_of_it():
    assert [each.name for each in relied_on.list_missing_points()] == [] and relied_on.version_warning() == ""
    source = Path(lmms_eval.evaluator.__file__).with_name("__main__.py").read_text("utf-8")
    assert "def cli_evaluate(" in source and re.search(r"^ +make_table,$", source, re.MULTILINE)


@pytest.mark.parametrize("point", LOOKED_UP, ids=lambda point: f"{point.name} {point.kind} {point.part}")
def test_a_name_that_is_missing_is_seen(point, monkeypatch):
    holder, name = held(point)
    for each in (holder, *getattr(holder, "__mro__", ()), type(holder)):
        if name in vars(each):
            monkeypatch.delattr(each, name)
    assert point in relied_on.list_missing_points(point.part)
    if not point.wrong:
        relied_on.check_harness_has(point.part)
        assert (
            relied_on.harness_version() in relied_on.version_warning() and point.without in relied_on.version_warning()
        )
        return
    with pytest.raises(
        UserError, match=rf"x: this lmms-eval \({re.escape(relied_on.harness_version())}\) has not"
    ) as raised:
        relied_on.check_harness_has(point.part, "x")
    assert point.without in str(raised.value) and f"so {point.part} do not run" in str(raised.value)


@pytest.mark.parametrize(("point", "name"), NAMES, ids=lambda each: getattr(each, "name", each))
def test_an_argument_or_attribute_that_is_missing_is_seen(point, name, monkeypatch):
    others = [each for each in point.takes if each != name]
    if point.kind == "object":
        other = type("Other", (), {"__annotations__": dict.fromkeys(others, int)})
    else:
        said = "'__padding__'" if point.kind == "text" else "None"
        namespace = {}
        exec(f"def function({', '.join(others)}):\n    return {said}", namespace)
        other = namespace["function"]
    monkeypatch.setattr(relied_on, "_find_named", lambda name: other)
    assert relied_on.find_lacking_names(point) == (name,)


@pytest.mark.parametrize(("version", "said"), [("0.7.3", "was changed: install it anew"), ("0.7.9", "was made for")])
def test_the_way_out_depends_on_the_version(version, said, monkeypatch):
    monkeypatch.setattr(relied_on, "harness_version", lambda: version)
    assert said in relied_on.refusal_message([relied_on.POINTS[0]])


@pytest.mark.parametrize("lacks", [relied_on.TASKS, relied_on.MODELS])
def test_a_model_of_ours_answers_others_tasks_where_it_lacks_nothing(lacks, monkeypatch):
    lost = {relied_on.TASKS, lacks}
    point = relied_on.POINTS[1]
    monkeypatch.setattr(relied_on, "list_needed_points", lambda part: [point] if part in lost else [])
    module = SimpleNamespace(simple_evaluate=lambda model, tasks: "done")
    plugin._join_evaluator(module)
    with pytest.raises(UserError) if lacks == relied_on.MODELS else nullcontext():
        assert module.simple_evaluate(model="medtasks_random", tasks=["own"]) == "done"
    with pytest.raises(UserError):
        module.simple_evaluate(model="dummy", tasks=["medq_deg_l2"])


def test_a_new_way_of_asking_a_model_is_seen(monkeypatch):
    from lmms_eval.api.model import lmms

    monkeypatch.setattr(lmms, "generate_in_batches", lambda self, requests: [], raising=False)
    assert [each.kind for each in relied_on.list_missing_points(relied_on.TASKS)] == ["only"]


def test_what_is_imported_of_the_harness_stands_in_the_table():
    """Of each ``from lmms_eval.x import y``, and of each attribute of a module that is imported from it."""
    root = Path(lmms_medtasks.__file__).parent
    known = {each.name.split(".__")[0] for each in relied_on.POINTS}
    known |= {re.sub(r"\..*", "", each.partition(":")[2]) for each in known}
    missing = set()
    for path in sorted((root / "harness").rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        modules = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "lmms_eval":
                for name in node.names:
                    try:
                        importlib.import_module(f"{node.module}.{name.name}")
                        modules[name.asname or name.name] = f"{node.module}.{name.name}"
                    except ImportError:
                        missing |= {name.name} - known
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
                missing |= {node.attr} - known
    # What each model of the harness has: without it there is none.
    assert missing - {"lmms", "TaskManager", "TokenCounts"} == set()


def test_ours_are_found_in_whatever_holds_them():
    def own(name):
        return name in ("medq_deg_l2",)

    ours = refusing.find_ours
    config = SimpleNamespace(task="mine", process_results=relied_on.check_harness_has)
    task = SimpleNamespace(config=config, process_results=lambda: None)
    assert ours([["mme", "medq_deg_l2"]], own) == "medq_deg_l2"
    assert ours({"group": {"mine": task}}, own) == "mine"
    assert ours({"task": "x", "metadata": {"degrade": "gaussian_noise.2"}}, own) == "x"
    by_name = partial(refusing._is_ours, (), {})
    assert ours(["mme", "mme@gaussian_noise.2"], partial(by_name, True)) == "mme@gaussian_noise.2"
    assert ours([["mme@gaussian_noise.2"]], partial(by_name, False)) == ""
    assert ours({"metric_list": [{"aggregation": relied_on.check_harness_has}]}, own).startswith(
        "a task with lmms_medtasks."
    )
    config.process_results = inspect.signature
    contact = {"metadata": {"contact": "me@lab.org"}, "repo": "medq_deg_l2"}
    assert ours([task, {"task": "mme", **contact, "doc_to_text": inspect.signature}, None, 3, "to: a@b c"], own) == ""


REFUSED = ("match_tasks", "load_task_or_group", "load_config", "_get_config", "evaluate", "lm", "task_index", "doc_id")
ELSEWHERE = {"_load_individual_task_or_group": "degraded tasks", "build_all_requests": "several processes"}
OFF = {"initialize_tasks": "--include_path", "simple_evaluate": "options are told after", "ModelManifest": "no model"}


@pytest.fixture(scope="module")
def renamed(tmp_path_factory):
    """What became of runs with one word of the harness's source changed in each, by the word."""
    home = tmp_path_factory.mktemp("renamed")
    folder = Path(shutil.copytree(EXAMPLE, home / "tasks"))
    (folder / "rows.json").write_text('{"question": "q1", "answer": "A"}\n{"question": "q2", "answer": "B"}\n')
    (folder / "utils.py").write_text("def nothing(doc):\n    return []\n")
    (folder / "own.yaml").write_text(f"task: own{COMMON}{EXACT}doc_to_visual: !function utils.nothing\n")
    own = {**QUIET, "MEDTASKS_HOME": str(home / "home"), "HF_HOME": str(home / "hf")}
    words = json.dumps(["as_it_is", *REFUSED, *ELSEWHERE, *OFF])
    done = subprocess.run(
        [sys.executable, "-m", "renamed_harness", str(folder)], input=words, capture_output=True, text=True,
        env={**os.environ, **own}, cwd=Path(__file__).parent, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return {found.pop("word"): found for found in map(json.loads, done.stdout.splitlines())}


def test_the_one_version_of_the_harness_that_is_allowed_says_nothing(renamed):
    """The small evaluation in memory whose numbers are known: they show a changed meaning of what has its old name."""
    assert renamed["as_it_is"]["foreign"] == renamed["as_it_is"]["ours"] == 0.5
    assert "lmms-medtasks" not in renamed["as_it_is"]["said"]


@pytest.mark.parametrize("word", [*REFUSED, *ELSEWHERE, *OFF])
def test_others_tasks_run_whatever_is_renamed(renamed, word):
    assert renamed[word]["foreign"] == 0.5
    assert "Traceback" not in renamed[word]["said"]
    assert renamed[word]["said"].count("lmms-medtasks: ") == 1


@pytest.mark.parametrize("word", REFUSED)
def test_ours_refuse_where_a_number_could_be_wrong(renamed, word):
    assert re.match("UserError: .*this lmms-eval .* has not what lmms-medtasks relies on", renamed[word]["ours"])
    assert "our tasks" in renamed[word]["said"]


@pytest.mark.parametrize("word", [*ELSEWHERE, *OFF])
def test_ours_run_where_what_is_missing_is_for_something_else(renamed, word):
    assert renamed[word]["ours"] == 0.5
    assert {**ELSEWHERE, **OFF}[word] in renamed[word]["said"]
