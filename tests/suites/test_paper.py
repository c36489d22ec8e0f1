"""paper.yml of each benchmark: its settings are ones that tasks know, its differences those that the card lists."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import yaml

from lmms_medtasks import folders
from lmms_medtasks.errors import UserError
from lmms_medtasks.report import about
from lmms_medtasks.suites import paper, registry
from lmms_medtasks.task_yaml import settings as schema

SUITES = registry.names()


@pytest.mark.parametrize("suite", SUITES)
def test_every_benchmark_declares_the_papers_settings_and_its_settings_are_known(suite):
    own = paper.find_paper_protocol(suite)
    assert "paper" in own.settings
    for chosen in own.settings.values():
        assert chosen.about
        schema.check_task_settings(dict(chosen.default), suite, registry.folder_of(suite))


@pytest.mark.parametrize("suite", SUITES)
def test_facts_of_ours_are_those_of_its_tasks(suite):
    folder, own = registry.folder_of(suite), paper.find_paper_protocol(suite)
    templates = [yaml.load(path.read_text("utf-8"), yaml.BaseLoader) for path in folder.glob("_*_yaml")]
    limits = {each["generation_kwargs"]["max_new_tokens"] for each in templates if "generation_kwargs" in each}
    assert limits == {str(own.ours["generation.max_new_tokens"])}


@pytest.mark.parametrize("suite", SUITES)
def test_each_difference_is_of_a_task_and_says_ours_and_theirs(suite):
    tasks = [path.stem for path in registry.folder_of(suite).glob("*.yaml")]
    for each in paper.find_paper_protocol(suite).differences:
        assert each.title and each.line and not each.line.endswith(".")
        assert any(each.is_there(task, each.only) for task in tasks), each.title


def differences(suite, task, name=""):
    own = paper.find_paper_protocol(suite)
    chosen = own.settings.get(name)
    config = {
        "lmms_eval_specific_kwargs": {"default": dict(chosen.default) if chosen else {}},
        "generation_kwargs": {"max_new_tokens": 512, **(chosen.generation if chosen else {})},
        "metadata": {"settings": {"name": name, "changes": {"x": 1}}} if chosen else {},
    }
    return [each.title for each in own.remaining(task, paper.facts_of(config))]


@pytest.mark.parametrize(
    ("suite", "task", "name", "gone", "new"),
    [
        (
            "medobvious",
            "medobvious",
            "paper",
            {"Length of a reply", "System prompt"},
            {"Words of the system prompt"},
        ),
        ("medobvious", "medobvious_t3", "paper-hosted", {"Length of a reply", "System prompt"}, set()),
        (
            "sure_vqa",
            "sure_slake_modality",
            "paper",
            {"Length of a reply", "Yes or no", "Exact match", "Plain options and empty answers"},
            set(),
        ),
        ("med_cmr", "med_cmr_mcq", "paper", set(), set()),
    ],
)
def test_what_the_papers_settings_leave(suite, task, name, gone, new):
    before, after = differences(suite, task), differences(suite, task, name)
    assert set(before) - set(after) == gone
    assert set(after) - set(before) == new


def test_a_difference_is_told_by_what_the_run_used_and_not_by_the_name_of_its_settings():
    config = {"generation_kwargs": {"max_new_tokens": 100}, "metadata": {}}
    titles = [
        each.title
        for each in paper.find_paper_protocol("sure_vqa").remaining("sure_slake_modality", paper.facts_of(config))
    ]
    assert "Length of a reply" not in titles
    assert "Yes or no" in titles


def test_metadata_of_others_tasks_may_be_a_list():
    facts = paper.facts_of({"metadata": [{"version": 0.0}], "repeats": 1})
    assert (facts["settings"], facts["own_prompt"], facts["paper_judge"]) == ("", False, False)
    run = SimpleNamespace(content={"configs": {"other_vqa": {"metadata": [{"version": 0.0}]}}})
    assert about.task_metadata(run, ["other_vqa"]) == {"other_vqa": {}}


def test_unknown_settings_and_a_broken_file_are_named(monkeypatch, tmp_path):
    monkeypatch.setenv(paper.VARIABLE, "papper")
    with pytest.raises(UserError, match="papper.*Did you mean 'paper'"):
        paper.requested_settings()
    monkeypatch.setenv(paper.VARIABLE, "ours")
    assert paper.requested_settings() == ""
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / paper.FILE).write_text("settings: {paper: {}}\ndifferences: {x: {tittle: a}}\n")
    monkeypatch.setattr(registry, "folder_of", lambda name: folder)
    with pytest.raises(UserError, match=r"tittle.*paper\.yml"):
        paper.find_paper_protocol("mine")


def test_files_are_shipped():
    assert all((folders.suites_root() / suite / paper.FILE).is_file() for suite in SUITES)
