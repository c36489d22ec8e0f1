"""Settings that are mappings: a YAML changes single keys of what it includes, in validate and in the harness alike."""

import json

import pytest

from lmms_medtasks.contribute import loaded, static
from lmms_medtasks.contribute.validate import validate_folder
from lmms_medtasks.errors import UserError
from lmms_medtasks.task_yaml.problems import ValidationLog

GREEDY = {"temperature": 0, "do_sample": False, "max_new_tokens": 512, "until": []}
SAMPLED = {"temperature": 1.0, "top_p": 1.0, "top_k": 0, "do_sample": True, "max_new_tokens": 512, "until": []}


def append(path, text):
    path.write_text(path.read_text("utf-8") + text, "utf-8")


def change(path, old, new):
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


def validated(folder, name):
    """A task's configuration as `validate` has it, bound to its settings."""
    found = ValidationLog()
    task = loaded.load_task(static.check_static(folder / f"{name}.yaml", found)[0], found)
    assert task is not None and not found.errors, found.errors
    return task.config


def in_harness(folder, name):
    """The same as the harness's task manager has it, through our plugin."""
    from lmms_eval.tasks import TaskManager

    from lmms_medtasks.harness.plugin import install_plugin

    install_plugin(TaskManager)
    return TaskManager(include_path=str(folder), include_defaults=False)._get_config(name)


def both(folder, name, *keys):
    """What both say under ``keys``, which is the same."""
    found = []
    for config in (validated(folder, name), in_harness(folder, name)):
        for key in keys:
            config = config[key]
        found.append(config)
    assert found[0] == found[1]
    return found[0]


@pytest.mark.parametrize(("template", "whole"), [("multiple_choice", GREEDY), ("calibration", SAMPLED)])
def test_one_generation_setting_leaves_the_others(template, whole, make):
    folder = make(template=template)
    append(folder / "chest_side.yaml", "generation_kwargs: {max_new_tokens: 16}\n")
    for name in ("chest_side", "chest_side_noimage"):
        assert both(folder, name, "generation_kwargs") == {**whole, "max_new_tokens": 16}


def test_every_generation_setting_can_still_be_said(chest_side):
    said = {"temperature": 0.7, "do_sample": True, "max_new_tokens": 8, "until": ["\n\n"]}
    append(chest_side / "chest_side.yaml", f"generation_kwargs: {json.dumps(said)}\n")
    assert both(chest_side, "chest_side", "generation_kwargs") == said


def test_a_variant_changes_single_keys_of_what_it_includes(chest_side):
    append(chest_side / "chest_side.yaml", "generation_kwargs: {max_new_tokens: 16}\n")
    append(chest_side / "chest_side_noimage.yaml", "generation_kwargs: {temperature: 0.5, do_sample: true}\n")
    assert both(chest_side, "chest_side_noimage", "generation_kwargs") == {
        "temperature": 0.5, "do_sample": True, "max_new_tokens": 16, "until": []
    }  # fmt: skip


def test_a_copy_of_the_template_without_a_key_gets_the_templates_value(chest_side):
    change(chest_side / "_template_yaml", "  until: []\n", "")
    assert both(chest_side, "chest_side", "generation_kwargs") == GREEDY


def test_a_generation_setting_of_nothing_is_refused(chest_side):
    """The harness would end replies at the first blank line."""
    append(chest_side / "chest_side.yaml", "generation_kwargs: {until: null}\n")
    assert any("generation_kwargs.until" in str(each) for each in validate_folder(chest_side, static_only=True).errors)
    with pytest.raises(UserError, match=r"chest_side.yaml:16: .*until: .null"):
        in_harness(chest_side, "chest_side")


def test_a_variant_keeps_prompt_template_and_data_of_what_it_includes(make):
    folder = make(template="calibration", settings={"option_mark": ")"})
    (folder / "chest_side_noimage.yaml").write_text(
        "include: chest_side.yaml\ntask: chest_side_noimage\nlmms_eval_specific_kwargs: {default: {no_image: true}}\n"
        "metadata: {version: 1.1}\ndataset_kwargs: {sep: ','}\n",
        "utf-8",
    )
    assert not validate_folder(folder, write=True).errors
    shown = both(folder, "chest_side_noimage", "lmms_eval_specific_kwargs", "default")
    assert (shown["no_image"], shown["option_mark"], shown["seed_trials"]) == (True, ")", True)
    assert shown["prompt"] == (folder / "prompt.txt").read_text("utf-8").removesuffix("\n")
    assert list(both(folder, "chest_side_noimage", "dataset_kwargs", "data_files")) == ["test"]
    assert validated(folder, "chest_side_noimage")["process_docs"].keywords["tables"] == (folder / "questions.csv",)
    assert validated(folder, "chest_side_noimage")["metadata"] == {"template": "calibration", "version": 1.1}


def test_null_takes_an_included_setting_away(make):
    folder = make(settings={"option_mark": ")"})
    change(folder / "chest_side_noimage.yaml", 'option_mark: ")"', "option_mark: null")
    assert not validate_folder(folder, write=True).errors
    assert "option_mark" not in both(folder, "chest_side_noimage", "lmms_eval_specific_kwargs", "default")


def test_a_mistake_in_an_included_setting_is_told_with_its_own_file(chest_side):
    change(chest_side / "chest_side.yaml", "parser: option", "parser: optoin")
    change(chest_side / "chest_side_noimage.yaml", "    parser: option\n", "")
    files = {each.file for each in validate_folder(chest_side, static_only=True).errors}
    assert {str(file).rpartition("/")[2] for file in files} == {"chest_side.yaml"}


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("test_split: test\n", "test_split: test\ntest_split: train\n", 8, "stands on line 7 already"),
        ("test_split: test\n", "test_split: test\nfull_doc: true\n", 8, "Did you mean 'full_docs'?"),
        ("parser: option", "parser: optoin", 11, "Did you mean 'option'?"),
        ("version: 1.0", "version: one", 15, "expected a number"),
    ],
)
def test_a_run_refuses_what_validate_refuses_with_the_same_line(old, new, line, said, chest_side):
    change(chest_side / "chest_side.yaml", old, new)
    expected = [str(each) for each in validate_folder(chest_side / "chest_side.yaml", static_only=True).errors]
    with pytest.raises(UserError) as error:
        in_harness(chest_side, "chest_side")
    assert str(error.value).splitlines() == expected
    assert expected[0].startswith(f"chest_side.yaml:{line}: error: ") and said in expected[0]
