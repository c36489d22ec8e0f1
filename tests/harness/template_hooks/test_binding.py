"""What a task on a template says, handed to its hooks: what is refused, and which documents are made."""

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.harness.template_hooks import binding, choice_scoring
from lmms_medtasks.suites import templates


def config(**more):
    hook = choice_scoring.process_results
    return {"task": "t", "process_results": hook, "lmms_eval_specific_kwargs": {"default": {}}, **more}


def test_a_task_asks_all_models_alike():
    with pytest.raises(UserError, match="'qwen': only `default` may stand there"):
        binding.bound(config(lmms_eval_specific_kwargs={"default": {}, "qwen": {"prompt": "open"}}), None)


def test_a_metric_that_there_is_none_of_is_told_when_the_task_is_loaded():
    with pytest.raises(UserError, match="Did you mean 'accuracy'"):
        binding.bound(config(metric_list=[{"metric": "acuracy"}]), None)


def test_a_template_in_the_working_directory_is_not_taken_for_the_tasks(tmp_path, monkeypatch):
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
        (tmp_path / name / templates.FILE).write_text("repeats: 1\n", "utf-8")
    monkeypatch.chdir(tmp_path / "here")
    binding.bound(config(), tmp_path / "here" / "t.yaml")
    with pytest.raises(UserError, match="Start from another directory"):
        binding.bound(config(), tmp_path / "there" / "t.yaml")


def test_training_documents_need_no_test_of_a_shift_and_have_nothing_out_of_distribution():
    import datasets

    from lmms_medtasks.data.adapter import from_columns

    columns = {"question": ["q"] * 3, "answer": ["x"] * 3, "id": ["1", "2", "3"], "hospital": ["a", "b", "c"]}
    shift = {"shift": {"column": "hospital", "iid": "a", "ood": "b"}}
    for split, ids in (("train", ["1", "3"]), ("test", ["1", "2"])):
        data = datasets.Dataset.from_dict(columns, split=split)
        made = binding.prepared(data, adapt=from_columns(tags=["hospital"]), settings=shift, training_split="train")
        assert made["id"][:] == ids
    only_iid = datasets.Dataset.from_dict({name: values[:1] for name, values in columns.items()}, split="train")
    kept = binding.prepared(only_iid, adapt=from_columns(tags=["hospital"]), settings=shift, training_split="train")
    assert kept["id"][:] == ["1"]
