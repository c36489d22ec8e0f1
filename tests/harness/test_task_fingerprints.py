"""A change of what decides a task's numbers moves its fingerprint and no other; the YAMLs record the present one."""

import ast
import types

import pytest
from lmms_eval.utils import load_yaml_config

from lmms_medtasks import fingerprints
from lmms_medtasks.degradations import registry
from lmms_medtasks.fingerprints import NO_NUMBERS, SourceTrees
from lmms_medtasks.harness import hooks, judged, task_fingerprints
from lmms_medtasks.harness.plugin import task_folder
from lmms_medtasks.harness.recorded_fingerprints import recorded_and_actual
from lmms_medtasks.suites import registry as suites


@pytest.mark.parametrize("entry", recorded_and_actual(), ids=lambda entry: entry[0].stem)
def test_recorded_fingerprint_is_fresh(entry):
    path, recorded, actual = entry
    message = f"{path.name} records a stale fingerprint; see `lmms-medtasks fingerprint --help`"
    assert recorded == actual, message


def config(**settings):
    return {"lmms_eval_specific_kwargs": {"default": settings}, "doc_to_visual": hooks.doc_to_visual}


def test_prompt_counts(tmp_path):
    first, second = tmp_path / "1.txt", tmp_path / "2.txt"
    first.write_text("a {question}")
    second.write_text("b {question}")
    digests = [task_fingerprints.of_task(config(prompt=str(path)))["prompt"] for path in (first, second)]
    assert digests[0] != digests[1]


def test_degradations_count_only_where_pictures_are_degraded():
    assert "degradations" in task_fingerprints.of_task(config())
    assert "degradations" not in task_fingerprints.of_task(config(severity=0))
    assert "degradations" not in task_fingerprints.of_task(config(rendered=True))


def test_a_judge_protocol_counts_with_its_prompt():
    reached = task_fingerprints.modules(config(judge=["sure_open", "sure_closed"]))
    assert {f"lmms_medtasks.judges.{name}" for name in ("lexical", "prompts", "verdicts")} < set(reached)
    codes = {task_fingerprints.of_task(config(judge=name))["code"] for name in ("sure_open", "sure_closed")}
    assert len(codes | {task_fingerprints.of_task(config())["code"]}) == 3


def test_hooks_are_found_at_any_depth():
    def hook(): ...

    nested = {"metric_list": [{"aggregation": hook}], "other": (hook,), "text": "x"}
    found = list(task_fingerprints._functions(nested))
    assert found == [hook, hook]
    assert isinstance(hook, types.FunctionType)


def test_versions_of_libraries_are_recorded_beside_it():
    found = task_fingerprints.libraries()
    assert set(found) == {"numba", "numpy", "pillow", "scipy"} and all(found.values())


# --- One change in each module ----------------------------------------------------------------------------------------


class Changed(SourceTrees):
    """The installed modules, of which ``change`` (a function of a syntax tree) changes some before they are read."""

    def __init__(self, change, modules=None):
        super().__init__()
        self._change, self._modules = change, modules

    def _source(self, start):
        if self._modules is not None and start not in self._modules:
            return fingerprints.installed().source(start)
        text = fingerprints.path_of(start).read_text("utf-8")
        return SourceTrees(lambda _: self._change(text)).source(start)


@pytest.fixture(scope="module")
def tasks():
    """A task of every kind (those that start at the same modules are alike): name -> configuration."""
    found = {}
    for path in sorted(task_folder().rglob("*.yaml")):
        read = load_yaml_config(str(path))
        if isinstance(read.get("task"), str):
            kind = (task_fingerprints.modules(read), bool(task_fingerprints.of_task(read).get("degradations")))
            found.setdefault(kind, read)
    return {read["task"]: read for read in found.values()}


def prints(tasks, trees):
    return {name: task_fingerprints.of_task(read, trees) for name, read in tasks.items()}


def reached(read):
    """All modules that a task's fingerprint is over, those of its degradations included."""
    parts = task_fingerprints.of_task(read)
    without = NO_NUMBERS.keys() | task_fingerprints._DEGRADATIONS
    found = set(fingerprints.installed().closure(task_fingerprints.modules(read), without))
    if "degradations" in parts:
        found.update(fingerprints.installed().closure({registry.PACKAGE, *registry._modules().values()}))
    return found


def another_constant(text):
    """``text`` with its first constant changed; with one more where it has none."""

    class Change(ast.NodeTransformer):
        done = False

        def visit_Raise(self, node):
            return node

        def visit_Expr(self, node):
            return node if isinstance(node.value, ast.Constant) else self.generic_visit(node)

        def visit_If(self, node):
            return node if ast.unparse(node.test) == "TYPE_CHECKING" else self.generic_visit(node)

        def visit_JoinedStr(self, node):
            return node

        def visit_Constant(self, node):
            if self.done or node.value is None or node.value is ...:
                return node
            self.done = True
            value = node.value
            new = (
                not value if isinstance(value, bool) else value + 1 if isinstance(value, int | float) else value + value
            )
            return ast.Constant(new if new != value else "x")

    change = Change()
    tree = change.visit(ast.parse(text))
    return ast.unparse(ast.fix_missing_locations(tree)) + ("" if change.done else "\nMORE = 1\n")


def other_words(text):
    """``text`` with other docstrings, more comments and more empty lines."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            node.value = ast.Constant("Said otherwise.")
    return "# A comment.\n\n" + ast.unparse(tree).replace("\ndef ", "\n\n\n# Another.\ndef ")


def test_comments_docstrings_and_empty_lines_in_every_module_move_no_fingerprint(tasks):
    assert prints(tasks, Changed(other_words)) == prints(tasks, fingerprints.installed())


def test_a_constant_moves_the_fingerprints_of_the_tasks_that_reach_it_and_no_others(tasks):
    before = prints(tasks, fingerprints.installed())
    by_task = {name: reached(read) for name, read in tasks.items()}
    wrong = []
    for module in sorted(set().union(*by_task.values())):
        after = prints(tasks, Changed(another_constant, {module}))
        moved = {name for name in tasks if after[name] != before[name]}
        if moved != {name for name, modules in by_task.items() if module in modules}:
            wrong.append(module)
    assert wrong == []


def test_each_declared_benchmark_moves_with_its_own_measures_alone(tasks):
    before = prints(tasks, fingerprints.installed())
    for suite in suites.names():
        own = {name for name in tasks if suites.task_files()[name].parent.name == suite}
        after = prints(tasks, Changed(another_constant, {f"lmms_medtasks.task_configs.{suite}.measures"}))
        assert {name for name in tasks if after[name] != before[name]} == own


def test_the_lexical_judge_moves_judged_tasks_alone(tasks):
    with_judge = {name for name, read in tasks.items() if judged.protocols_of(read)}
    before = prints(tasks, fingerprints.installed())
    after = prints(tasks, Changed(another_constant, {"lmms_medtasks.judges.lexical"}))
    assert {name for name in tasks if after[name] != before[name]} == with_judge
    assert with_judge and with_judge != set(tasks)


def test_what_cannot_move_a_number_is_reached_by_no_task(tasks):
    every = set().union(*map(reached, tasks.values()))
    apart = [".report", ".cli", ".board", ".transport", ".settings", ".cache", ".bootstrap", ".views", ".plots"]
    assert [module for module in every if module in NO_NUMBERS or any(each in module for each in apart)] == []


def test_what_moves_a_number_is_reached(tasks):
    assert {"statistics.calibration", "statistics.reliability", "statistics.votes", "statistics.sums"} <= {
        module.removeprefix("lmms_medtasks.")
        for module in reached(tasks["medq_deg_calib" if "medq_deg_calib" in tasks else "medq_deg"])
    }


@pytest.mark.parametrize(
    ("file", "task", "part"),
    [
        ("task_configs.medq_deg:taxonomy.yml", "medq_deg", "code"),
        ("degradations:severity.yaml", "medq_deg", "degradations"),
        ("degradations:modalities.yaml", "medq_deg", "degradations"),
        ("judges:prompts/frame.txt", "med_cmr_open", "code"),
    ],
)
def test_data_files_count(tasks, file, task, part):
    package, _, name = file.partition(":")
    path = fingerprints.path_of(f"lmms_medtasks.{package}").parent / name
    trees = SourceTrees(lambda each: each.read_text("utf-8") + ("\nmore: 1\n" if each == path else ""))
    before = task_fingerprints.of_task(tasks[task])
    after = task_fingerprints.of_task(tasks[task], trees)
    assert {each for each in after if after[each] != before[each]} == {part}
