"""The list of our tasks: what data a run would read, and which tasks a name stands for. Counts: tests/interface."""

from dataclasses import replace

import pytest

from lmms_medtasks import folders
from lmms_medtasks.board import listed_tasks
from lmms_medtasks.data.locating import find_split
from lmms_medtasks.errors import UserError

pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture(autouse=True)
def _nothing_chosen(monkeypatch):
    monkeypatch.delenv("MEDTASKS_DATA", raising=False)


def listed(*names, **options):
    return {task.name: task for task in listed_tasks.list_installed_tasks(names, **options)}


def test_every_task_is_listed_by_benchmark_and_groups_first():
    every = listed_tasks.list_installed_tasks()
    assert sorted(task.name for task in every) == sorted(folders.task_files())
    benchmarks = [task.benchmark for task in every]
    assert list(dict.fromkeys(benchmarks)) == ["medq_deg", "med_cmr", "medobvious", "sure_vqa", "bones_joints"]
    assert benchmarks == sorted(benchmarks, key=list(dict.fromkeys(benchmarks)).index)
    assert [bool(task.members) for task in every if task.benchmark == "medq_deg"] == [True] + 10 * [False]
    assert all(task.questions and task.data == "not prepared" for task in every)  # there is mini data for each


def test_a_group_has_what_its_tasks_have():
    tasks = listed("med_cmr", "medq_deg_levels")
    group, (mcq, judged) = tasks["med_cmr"], (tasks[name] for name in ("med_cmr_mcq", "med_cmr_open"))
    assert group.members == ("med_cmr_mcq", "med_cmr_open")
    assert group.questions == mcq.questions + judged.questions and group.trials == 1
    assert (group.judge, mcq.judge, judged.judge) == (True, False, True)
    assert tasks["medq_deg_levels"].trials == 3 and not tasks["medq_deg_levels"].judge


def test_names_are_benchmarks_tasks_and_patterns():
    assert set(listed("medq_deg_l?", "medobvious_t1")) == {
        *(f"medq_deg_l{level}" for level in range(3)),
        "medobvious_t1",
    }
    assert "medobvious_t1" in listed("medobvious") and "medobvious_t1" not in listed("medobvious", variants=False)
    with pytest.raises(UserError, match="Unknown task 'med_crm'. Did you mean 'med_cmr'"):
        listed("med_crm")


def test_data_is_what_a_run_would_read(monkeypatch):
    """Of prepared splits their own rows; a task with a split that is not prepared has no data yet."""

    def find_prepared(suite, split, data=None):
        return (found := find_split(suite, split, "mini")) and replace(found, data=data or states.get((suite, split)))

    def find(suite, split, data=None):
        return find_prepared(suite, split, data) if data == "mini" or (suite, split) in states else None

    monkeypatch.setattr(listed_tasks, "find_split", find)
    states = {("sure_slake", "test"): "full", ("med_cmr", "mcq"): "sample"}
    assert listed("sure_slake_modality")["sure_slake_modality"].data == "not prepared"
    states["sure_slake", "train"] = "full"
    assert listed("sure_slake_modality")["sure_slake_modality"].data == "full"
    group = listed("med_cmr")["med_cmr"]
    assert group.data == "sample, not prepared" and group.data_sets == ("med_cmr",)
    monkeypatch.setenv("MEDTASKS_DATA", "mini")
    assert {task.data for task in listed("med_cmr").values()} == {"mini"}


def test_damaged_data_does_not_end_the_list(monkeypatch):
    def find(suite, split, data=None):
        raise UserError("damaged")

    monkeypatch.setattr(listed_tasks, "find_split", find)
    task = listed("medq_deg_l0")["medq_deg_l0"]
    assert (task.data, task.questions) == ("unusable", None)


def test_a_misspelt_choice_of_data_is_told(monkeypatch):
    monkeypatch.setenv("MEDTASKS_DATA", "mini data")
    with pytest.raises(UserError, match="MEDTASKS_DATA"):
        listed("med_cmr")
