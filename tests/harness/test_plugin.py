"""What we rely on in the harness, and that our tasks are there under names of their own."""

import json
import subprocess
from importlib.metadata import entry_points
from pathlib import Path
from types import SimpleNamespace

import lmms_eval.models  # brings our tasks into the task manager
import lmms_eval.tasks
import pytest
import tenacity

from lmms_medtasks import folders
from lmms_medtasks.errors import UserError
from lmms_medtasks.harness import plugin


@pytest.fixture(scope="module")
def ours():
    manager = lmms_eval.tasks.TaskManager(include_path=str(folders.suites_root()), include_defaults=False)
    return set(manager.all_tasks)


def test_our_index_is_the_one_that_the_harness_would_make():
    manager = lmms_eval.tasks.TaskManager(include_defaults=False)
    assert plugin.task_index() == dict(manager._get_task_and_group(str(folders.suites_root())))


def test_entry_points_are_installed():
    assert "medtasks" in {each.name for each in entry_points(group="lmms_eval.models")}
    assert "medtasks" in {each.name for each in entry_points(group="fsspec.specs")}


def test_joining_twice_changes_nothing():
    made = []

    class Manager:
        def __init__(self):
            made.append(self)

        def match_tasks(self, task_list): ...

    original = Manager.match_tasks
    plugin.install_plugin(Manager)
    plugin.install_plugin(Manager)
    assert Manager.match_tasks is original  # until the first one is made
    for _ in range(2):
        Manager()
    assert Manager.match_tasks.__wrapped__ is original and len(made) == 2


def test_names_are_not_taken_by_the_harness(ours, commands):
    """The harness's own names come before ours: one that both have would lead to its file."""
    command = [commands / "python", "-m", "all_tasks"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parent)
    files = json.loads(done.stdout)
    assert len(files.keys() - ours) > 500
    assert {name for name, file in files.items() if Path(file).is_relative_to(folders.suites_root())} == ours


def test_the_task_manager_knows_our_tasks(ours):
    """That a process which has only just begun knows them too: see ``tests/test_packaging.py``."""
    assert set(lmms_eval.tasks.TaskManager(include_defaults=False).all_tasks) == ours
    assert {"medq_deg_l0", "medq_deg_l1", "medq_deg_l2", "medq_deg_levels", "medq_deg_release_l1"} <= ours


@pytest.mark.parametrize(
    ("tasks", "more", "needed"),
    [
        ("medobvious,bones_joints,medq_deg_l0@motion_blur.1", [], False),
        ("medobvious,mme", [], True),
        ("medq_deg_*", [], True),
        ("list", [], True),
        ("medobvious", ["--config", "runs.yaml"], True),
    ],
)
def test_the_harness_reads_its_own_tasks_where_one_may_be_asked(tasks, more, needed, monkeypatch):
    arguments, manager = ["lmms-eval", "--tasks", tasks, *more], lmms_eval.tasks.TaskManager.__init__
    assert plugin._needs_harness_tasks(arguments, manager) == needed
    assert plugin._needs_harness_tasks(arguments, lambda self, verbosity: None)  # a harness that can't leave them out
    monkeypatch.setattr(plugin.taken_names, "harness_names", lambda: {"medq_deg_l1": "a.yaml"})
    assert plugin._needs_harness_tasks(arguments, manager)  # a name of ours is theirs as well


def test_the_models_are_registered():
    from lmms_eval.models import MODEL_REGISTRY_V2

    for name in ("medtasks_random", "medtasks_most_frequent", "medtasks_observer"):
        assert MODEL_REGISTRY_V2.get_model_class(name).__module__.startswith("lmms_medtasks.harness.")


@pytest.mark.parametrize("cause", [UserError("matches nothing"), OSError("no disk")])
def test_what_a_user_did_is_not_hidden_by_the_harness_that_tries_five_times(cause):
    @tenacity.retry(stop=tenacity.stop_after_attempt(2))
    def original(*_):
        raise cause

    with pytest.raises(UserError if isinstance(cause, UserError) else tenacity.RetryError) as raised:
        plugin._load_task_or_group(original, SimpleNamespace(), "a_task")
    assert raised.value is cause or raised.value.__cause__ is cause


def test_a_folder_whose_name_begins_like_that_of_include_path_is_not_taken_for_it(tmp_path):
    index = {}
    for folder in ("a", "ab"):
        (tmp_path / folder).mkdir()
        path = tmp_path / folder / f"{folder}.yaml"
        path.write_text(f"task: {folder}\n", "utf-8")
        index[folder] = {"type": "task", "yaml_path": str(path)}
    plugin.install_plugin(lmms_eval.tasks.TaskManager)
    manager = lmms_eval.tasks.TaskManager(include_defaults=False)
    manager.include_path, manager._task_index = str(tmp_path / "a"), index
    assert plugin._list_our_tasks(manager, ["a", "ab"]) == ["a"]


def test_two_folders_of_include_path_that_claim_a_task(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "one.yaml").write_text("task: one\n", "utf-8")
    plugin.install_plugin(lmms_eval.tasks.TaskManager)
    manager = lmms_eval.tasks.TaskManager(include_defaults=False)
    manager.include_path = str(tmp_path)
    manager._task_index = {"one": {"type": "task", "yaml_path": str(tmp_path / "b" / "one.yaml")}}
    with pytest.raises(UserError, match="Two benchmarks claim the task 'one': .*a/one.yaml and .*b/one.yaml"):
        plugin._list_our_tasks(manager, ["one"])


def test_a_folder_of_include_path_that_claims_a_task_of_ours(tmp_path):
    (tmp_path / "medq_deg_l0.yaml").write_text("task: medq_deg_l0\n", "utf-8")
    plugin.install_plugin(lmms_eval.tasks.TaskManager)
    manager = lmms_eval.tasks.TaskManager(include_defaults=False)
    manager.include_path = str(tmp_path)
    manager._task_index = {"medq_deg_l0": {"type": "task", "yaml_path": str(tmp_path / "medq_deg_l0.yaml")}}
    with pytest.raises(UserError, match="Two benchmarks claim the task 'medq_deg_l0'"):
        plugin._list_our_tasks(manager, ["medq_deg_l0"])
