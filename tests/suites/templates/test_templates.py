"""The templates: their YAML, their settings, and what a YAML may say."""

import pytest

from lmms_medtasks.harness import scoring
from lmms_medtasks.suites import templates
from lmms_medtasks.suites.templates import measures
from lmms_medtasks.task_yaml import settings


@pytest.mark.parametrize("name", templates.names())
def test_a_template_fits_its_own_tables(name):
    template = templates.get(name)
    own = {key: value for key, value in template.settings.items()}
    assert settings.task_settings_problems(own) == []
    assert set(template.metrics) <= set(measures.metric_names(template.kind))
    for changed in template.variants.values():
        assert settings.task_settings_problems(changed) == []


@pytest.mark.parametrize("name", templates.names())
def test_yaml_is_what_the_harness_reads(name, tmp_path):
    from lmms_eval.utils import load_yaml_config

    path = tmp_path / "a_yaml"
    path.write_text(templates.template_yaml(name), "utf-8")
    config = load_yaml_config(str(path))
    assert config["metric_list"] is scoring.DECLARED
    assert config["repeats"] == config["filter_list"][0]["filter"][0]["k"] == (10 if name == "calibration" else 1)
    assert callable(config["doc_to_text"]) and callable(config["process_results"])


def test_a_part_takes_the_place_of_the_base():
    text = templates.template_yaml("calibration")
    assert text.count("\nrepeats:") == text.count("\ngeneration_kwargs:") == 1
    assert "independent trials" in text and "One greedy reply" not in text
