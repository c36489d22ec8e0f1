"""What a task may say under ``lmms_eval_specific_kwargs: default``, and what is told of the rest."""

import pytest
import yaml

from lmms_medtasks import folders
from lmms_medtasks.errors import UserError
from lmms_medtasks.task_yaml import settings


def test_settings_of_all_our_tasks_are_known():
    for path in sorted(folders.suites_root().rglob("*yaml")):
        if not path.is_file():
            continue
        text = path.read_text("utf-8")
        stated = yaml.compose(text)
        for key, node in stated.value if stated else ():
            if key.value == "lmms_eval_specific_kwargs":
                default = yaml.safe_load(yaml.serialize(node))["default"]
                assert settings.task_settings_problems(default, path.parent) == [], path.name


def test_every_setting_has_an_example_that_is_right():
    for folder in (None, *folders.folders_with_file("settings.py")):
        for name, field in settings.find_settings_model(folder).model_fields.items():
            assert settings.task_settings_problems({name: field.examples[0]}, folder) == [], name
            assert field.description


def test_a_suites_own_setting_is_nobody_elses():
    assert settings.task_settings_problems({"wording": "neutral"}, folders.suites_root() / "medobvious") == []
    assert settings.task_settings_problems({"wording": "neutral"})[0].message == "unknown setting"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"severty": 1}, "Task: severty: unknown setting. Did you mean 'severity'?"),
        ({"severity": True}, "wrong type (true or false), expected a whole number"),
        ({"no_image": "yes"}, "wrong type (a text), expected true or false"),
        ({"degradation": "low_does"}, "Did you mean 'low_dose'?"),
        ({"shift": {"column": "c", "iid": 1, "odd": 2}}, "shift.odd: unknown key. Did you mean 'ood'?"),
    ],
)
def test_check_says_what_is_wrong(given, said):
    with pytest.raises(UserError) as error:
        settings.check_task_settings(given, "Task")
    assert said in str(error.value)


def test_other_names_of_a_degradation_and_protocols_of_others_are_allowed():
    assert (
        settings.task_settings_problems({"degradation": "downsample_artifact", "judge": "package.module:PROTOCOL"})
        == []
    )
