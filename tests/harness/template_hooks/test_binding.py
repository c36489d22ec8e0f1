"""What a task on a template says, handed to its hooks: what is refused, and which documents are made."""

import shutil
from pathlib import Path

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.harness import template_hooks
from lmms_medtasks.harness.template_hooks import binding, choice_scoring
from lmms_medtasks.harness.template_hooks.prepared_documents import prepare_documents
from lmms_medtasks.suites import templates

EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "chest_side"


def config(**more):
    hook = choice_scoring.process_results
    return {"task": "t", "process_results": hook, "lmms_eval_specific_kwargs": {"default": {}}, **more}


@pytest.mark.parametrize(
    ("file", "text", "instead", "said"),
    [
        ("chest_side.yaml", "  default:\n", "  qwen: {prompt: open}\n  default:\n",
         ("chest_side.yaml:10", "lmms_eval_specific_kwargs.qwen", "only `default` may stand there")),
        ("chest_side.yaml", "parser: option", "metrics: [acuracy]",
         ("chest_side.yaml:11", "default.metrics", "'acuracy'", "Did you mean 'accuracy'")),
        ("chest_side.yaml", "metadata:", "generation_kwargs: {top_k: null}\nmetadata:",
         ("chest_side.yaml:13", "generation_kwargs.top_k", "'null'", "`top_k: 0`")),
        ("chest_side.yaml", "metadata:", "num_fewshot: 3\nmetadata:",
         ("chest_side.yaml:13", "num_fewshot", "expected 0")),
        ("chest_side.yaml", "template: multiple_choice", "template: open",
         ("chest_side.yaml:14", "metadata.template", "is not scored by")),
    ],
)  # fmt: skip
def test_what_a_yaml_may_not_say_is_told_with_its_line_when_the_task_is_loaded(tmp_path, file, text, instead, said):
    folder = tmp_path / "chest_side"
    shutil.copytree(EXAMPLE, folder)
    binding.bind_template_hooks(config(), folder / "chest_side.yaml")
    content = (folder / file).read_text("utf-8")
    assert content.count(text) == 1
    (folder / file).write_text(content.replace(text, instead), "utf-8")
    with pytest.raises(UserError) as told:
        binding.bind_template_hooks(config(), folder / "chest_side.yaml")
    assert all(each in str(told.value) for each in said)


@pytest.mark.parametrize("file", [templates.FILE, "_open_template_yaml"])
def test_a_template_in_the_working_directory_is_not_taken_for_the_tasks(file, tmp_path, monkeypatch):
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
        (tmp_path / name / file).write_text("repeats: 1\n", "utf-8")
    monkeypatch.chdir(tmp_path / "here")
    template_hooks.bind_hooks(config(), tmp_path / "here" / "t.yaml")
    with pytest.raises(UserError, match="Start from another directory"):
        template_hooks.bind_hooks(config(), tmp_path / "there" / "t.yaml")


def test_training_documents_need_no_test_of_a_shift_and_have_nothing_out_of_distribution():
    import datasets

    from lmms_medtasks.data.adapter import from_columns

    columns = {"question": ["q"] * 3, "answer": ["x"] * 3, "id": ["1", "2", "3"], "hospital": ["a", "b", "c"]}
    shift = {"shift": {"column": "hospital", "iid": "a", "ood": "b"}}
    for split, ids in (("train", ["1", "3"]), ("test", ["1", "2"])):
        data = datasets.Dataset.from_dict(columns, split=split)
        made = prepare_documents(data, adapt=from_columns(tags=["hospital"]), settings=shift, training_split="train")
        assert made["id"][:] == ids
    only_iid = datasets.Dataset.from_dict({name: values[:1] for name, values in columns.items()}, split="train")
    kept = prepare_documents(only_iid, adapt=from_columns(tags=["hospital"]), settings=shift, training_split="train")
    assert kept["id"][:] == ["1"]


@pytest.mark.parametrize(("name", "last", "said"), [
    ("patient", "P1", ""), ("patent", "P1", "Unknown column 'patent'.*Did you mean 'patient'"),
    ("patient", " ", "Question '3': its column 'patient', the setting cluster, is empty"),
    ("number", "P1", "Question '3': its column 'number', the setting cluster, is empty"),
])  # fmt: skip
def test_the_cluster_is_a_column_with_a_value_for_each_question(name, last, said):
    import datasets

    from lmms_medtasks.data.adapter import from_columns

    columns = {"question": ["q"] * 3, "answer": ["x"] * 3, "id": ["1", "2", "3"], "patient": ["P1", "P2", last],
               "number": [1.0, 2.0, float("nan")]}  # fmt: skip
    asked = {"dataset": datasets.Dataset.from_dict(columns), "adapt": from_columns(tags=["patient", "number"])}
    if not said:
        made = prepare_documents(**asked, settings={"cluster": name})
        assert [choice_scoring.cluster_of(doc, {"cluster": name}) for doc in made] == ["P1", "P2", "P1"]
        return
    with pytest.raises(UserError, match=said):
        prepare_documents(**asked, settings={"cluster": name})


# --- Rotated options --------------------------------------------------------------------------------------------------


def rotating(**more):
    return config(lmms_eval_specific_kwargs={"default": {"rotate_options": True, **more}})


def test_a_task_that_rotates_options_has_the_measures_of_that():
    names = [each["metric"] for each in binding.bind_template_hooks(rotating(), None)["metric_list"]]
    assert {"accuracy", "circular_accuracy", "position_bias", "incomplete_questions"} <= set(names)
    assert "circular_accuracy" not in [
        each["metric"] for each in binding.bind_template_hooks(config(), None)["metric_list"]
    ]


def test_each_question_is_made_once_for_each_rotation_and_scored_by_letters():
    import datasets

    bound = binding.bind_template_hooks(rotating(), None)
    columns = {"id": ["1"], "question": ["Which?"], "options": [["x", "y", "z"]], "answer": ["C"]}
    made = bound["process_docs"](datasets.Dataset.from_dict(columns, split="test"))
    assert made["id"][:] == ["1/r0", "1/r1", "1/r2"] and made["answer"][:] == ["C", "B", "A"]
    values = [bound["process_results"](row, ["A"]) for row in made]
    by_name = {each["metric"]: each["aggregation"] for each in bound["metric_list"]}
    numbers = {name: by_name[name]([row[name] for row in values]) for name in ("accuracy", "circular_accuracy")}
    # Always A: right under one rotation of three.
    assert numbers == {"accuracy": pytest.approx(1 / 3), "circular_accuracy": 0.0}
    assert by_name["position_bias"]([row["position_bias"] for row in values]) == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (rotating(parser="position"), "rotate_options is for questions with options"),
        (config(lmms_eval_specific_kwargs={"default": {"metrics": ["circular_accuracy"]}}), "rotate_options: true"),
    ],
    ids=["positions", "the measure alone"],
)
def test_rotations_that_can_not_be_are_refused(settings, message):
    with pytest.raises(UserError, match=message):
        binding.bind_template_hooks(settings, None)
