"""The templates: their YAML, their settings, and what a YAML may say."""

import pytest
import yaml

from lmms_medtasks import folders
from lmms_medtasks.contribute import templates
from lmms_medtasks.contribute.templates import choice, measures, settings
from lmms_medtasks.errors import UserError
from lmms_medtasks.harness.plugin import task_folder


@pytest.mark.parametrize("name", templates.names())
def test_a_template_fits_its_own_tables(name):
    template = templates.get(name)
    own = {key: value for key, value in template.settings.items()}
    assert settings.problems(own) == []
    assert set(template.metrics) <= set(measures.metric_names(template.kind))
    for changed in template.variants.values():
        assert settings.problems(changed) == []


@pytest.mark.parametrize("name", templates.names())
def test_yaml_is_what_the_harness_reads(name, tmp_path):
    from lmms_eval.utils import load_yaml_config

    path = tmp_path / "a_yaml"
    path.write_text(templates.yaml_text(name), "utf-8")
    config = load_yaml_config(str(path))
    assert [each["metric"] for each in config["metric_list"]] == list(templates.get(name).metrics)
    assert all(callable(each["aggregation"]) for each in config["metric_list"])
    assert config["repeats"] == config["filter_list"][0]["filter"][0]["k"] == (10 if name == "calibration" else 1)
    assert callable(config["doc_to_text"]) and callable(config["process_results"])


def test_a_part_takes_the_place_of_the_base():
    text = templates.yaml_text("calibration")
    assert text.count("\nrepeats:") == text.count("\ngeneration_kwargs:") == 1
    assert "independent trials" in text and "One greedy reply" not in text


def test_settings_of_all_our_tasks_are_known():
    for path in sorted(task_folder().rglob("*yaml")):
        if not path.is_file():
            continue
        text = path.read_text("utf-8")
        stated = yaml.compose(text)
        for key, node in stated.value if stated else ():
            if key.value == "lmms_eval_specific_kwargs":
                default = yaml.safe_load(yaml.serialize(node))["default"]
                assert settings.problems(default, path.parent) == [], path.name


def test_every_setting_has_an_example_that_is_right():
    for folder in (None, *folders.having("settings.py")):
        for name, field in settings.model(folder).model_fields.items():
            assert settings.problems({name: field.examples[0]}, folder) == [], name
            assert field.description


def test_a_suites_own_setting_is_nobody_elses():
    assert settings.problems({"wording": "neutral"}, task_folder() / "medobvious") == []
    assert settings.problems({"wording": "neutral"})[0].message == "unknown setting"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"severty": 1}, "Task: severty: unknown setting. Did you mean 'severity'?"),
        ({"severity": True}, "wrong type (true or false), wanted a whole number"),
        ({"no_image": "yes"}, "wrong type (a text), wanted true or false"),
        ({"degradation": "low_does"}, "Did you mean 'low_dose'?"),
        ({"shift": {"column": "c", "iid": 1, "odd": 2}}, "shift.odd: unknown key. Did you mean 'ood'?"),
    ],
)
def test_check_says_what_is_wrong(given, said):
    with pytest.raises(UserError) as error:
        settings.check(given, "Task")
    assert said in str(error.value)


def test_other_names_of_a_degradation_and_protocols_of_others_are_allowed():
    assert settings.problems({"degradation": "downsample_artifact", "judge": "package.module:PROTOCOL"}) == []


def config(**more):
    hook = choice.process_results
    return {"task": "t", "process_results": hook, "lmms_eval_specific_kwargs": {"default": {}}, **more}


def test_a_task_asks_all_models_alike():
    from lmms_medtasks.contribute.templates import binding

    with pytest.raises(UserError, match="'qwen': only `default` may stand there"):
        binding.bound(config(lmms_eval_specific_kwargs={"default": {}, "qwen": {"prompt": "open"}}), None)


def test_a_metric_that_there_is_none_of_is_told_when_the_task_is_loaded():
    from lmms_medtasks.contribute.templates import binding

    with pytest.raises(UserError, match="Did you mean 'accuracy'"):
        binding.bound(config(metric_list=[{"metric": "acuracy"}]), None)


def test_a_template_in_the_working_directory_is_not_taken_for_the_tasks(tmp_path, monkeypatch):
    from lmms_medtasks.contribute.templates import binding

    for name in ("here", "there"):
        (tmp_path / name).mkdir()
        (tmp_path / name / templates.FILE).write_text("repeats: 1\n", "utf-8")
    monkeypatch.chdir(tmp_path / "here")
    binding.bound(config(), tmp_path / "here" / "t.yaml")
    with pytest.raises(UserError, match="Start from another directory"):
        binding.bound(config(), tmp_path / "there" / "t.yaml")


def test_training_documents_need_no_test_of_a_shift_and_have_nothing_out_of_distribution():
    import datasets

    from lmms_medtasks.contribute.adapter import from_columns
    from lmms_medtasks.contribute.templates import binding

    columns = {"question": ["q"] * 3, "answer": ["x"] * 3, "id": ["1", "2", "3"], "hospital": ["a", "b", "c"]}
    shift = {"shift": {"column": "hospital", "iid": "a", "ood": "b"}}
    for split, ids in (("train", ["1", "3"]), ("test", ["1", "2"])):
        data = datasets.Dataset.from_dict(columns, split=split)
        made = binding.prepared(data, adapt=from_columns(tags=["hospital"]), settings=shift, training_split="train")
        assert made["id"][:] == ids
    only_iid = datasets.Dataset.from_dict({name: values[:1] for name, values in columns.items()}, split="train")
    kept = binding.prepared(only_iid, adapt=from_columns(tags=["hospital"]), settings=shift, training_split="train")
    assert kept["id"][:] == ["1"]
