"""Metric lists are put in from declarations, and without the plugin no task of ours runs with another list."""

import copy

import pytest
from lmms_eval.api.task import ConfigurableTask, TaskConfig
from lmms_eval.tasks import TaskManager

from lmms_medtasks.errors import UserError
from lmms_medtasks.harness import plugin, scoring
from lmms_medtasks.harness.rescoring import TaskDefinitions
from lmms_medtasks.record import KEY
from lmms_medtasks.suites import registry, templates

TASKS = sorted(name for name, entry in plugin.task_index().items() if entry["type"] == "task")


@pytest.fixture(scope="module")
def definitions():
    return TaskDefinitions()


@pytest.mark.parametrize("name", TASKS)
def test_a_task_without_the_plugins_hook_ends_with_our_message_before_its_data_are_read(name, definitions):
    config = TaskManager._get_config.__wrapped__(definitions.manager, name)
    with pytest.raises(UserError, match="the harness would print other numbers under this task's name"):
        ConfigurableTask(config=config)


@pytest.mark.parametrize("template", templates.names())
def test_a_contributed_task_without_the_plugins_hook_ends_too(template, tmp_path):
    text = templates.template_yaml(template).replace("!function adapter.documents", "null")
    (tmp_path / "own.yaml").write_text(f"{text}task: own\ndataset_path: csv\ntest_split: test\n", "utf-8")
    manager = TaskManager(include_path=str(tmp_path), include_defaults=False)
    with pytest.raises(UserError, match="the plugin of lmms-medtasks"):
        ConfigurableTask(config=TaskManager._get_config.__wrapped__(manager, "own"))


@pytest.mark.parametrize("name", TASKS)
def test_a_task_has_the_metrics_that_its_benchmark_declares_for_its_kind(name, definitions):
    config = definitions.get_definition(name)
    hook = config["process_results"]
    listed = [each["metric"] for each in config["metric_list"]]
    assert listed == list(hook.suite.tasks[hook.kind]) and KEY in listed
    assert hook.suite is registry.find_suite(name, config)
    ConfigurableTask._prepare_metric_and_aggregation(task := stub(config))
    assert set(task._aggregation_list.values()) == {scoring.aggregate}


def stub(config):
    task = ConfigurableTask.__new__(ConfigurableTask)
    task._config = TaskConfig(**config)
    return task


def test_a_task_of_a_hook_that_declares_none_is_refused():
    with pytest.raises(UserError, match="'mine'.*expected process_results = ScoringHook"):
        scoring.with_declared_metrics({"task": "mine", "metric_list": scoring.DECLARED, "process_results": len})
    rows = {"metric_list": [{"metric": "mine"}], "process_results": len}
    assert scoring.with_declared_metrics(rows) is rows


def test_a_result_file_names_the_hook_and_not_its_address(definitions):
    config = definitions.get_definition("medobvious_t1")
    assert copy.deepcopy(config)["process_results"] is config["process_results"]
    said = TaskConfig(**config).to_dict()["process_results"]
    assert said == "lmms_medtasks.task_configs.medobvious.measures: scoring of medobvious, tier"


def test_a_mistake_in_a_declaration_that_the_harness_imports_is_told_as_it_is(definitions, monkeypatch):
    def imported(manager, name):
        raise ImportError("Failed to import function") from UserError("measures.py, line 3: twice")

    monkeypatch.setattr(TaskManager._get_config, "__wrapped__", imported)
    for read in (definitions.manager._get_config, definitions.get_definition):
        with pytest.raises(UserError, match="line 3: twice"):
            read("medobvious_t1")
