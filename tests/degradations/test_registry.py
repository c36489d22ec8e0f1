"""Names, modalities, levels, numbers, draws."""

import importlib
import pkgutil
import re
from pathlib import Path

import numpy as np
import pytest

from lmms_medtasks import degradations
from lmms_medtasks.degradations import registry
from lmms_medtasks.errors import UserError


def test_every_name_has_code_numbers_and_a_source():
    for section in registry.load_sections():
        name, _, modality = section.partition("@")
        assert degradations.get(name, modality or None).name == name
        assert degradations.source(name, modality or None)


def test_every_operator_of_the_package_has_a_section_and_the_module_that_it_names():
    operators = set()
    for module in (importlib.import_module(f"{registry.PACKAGE}.{each.name}") for each in modules()):
        operators |= {(each.name, module.__name__) for each in getattr(module, "DEGRADATIONS", ())}
    listed = {
        (name.split("@")[0], f"{registry.PACKAGE}.{row['code']}") for name, row in registry.load_sections().items()
    }
    assert operators == listed


def modules():
    return pkgutil.iter_modules(importlib.import_module(registry.PACKAGE).__path__)


WRITTEN = ("*.py", "*.md", "*.yaml", "*.yml")


def test_nothing_counts_the_degradations_in_words():
    """But what states the paper's: the next one would make the others untrue."""
    root = Path(__file__).parents[2]
    folders = ("degradations", "docs", "lmms_medtasks", "judges", "benchmarks", "tools", "task_configs")
    paths = [path for folder in folders for each in WRITTEN for path in (root / folder).rglob(each)]
    counting = {path for path in paths if COUNT.search(path.read_text("utf-8"))}
    assert {path.parent.name for path in counting} <= {"medq_deg", "parsing"}


COUNT = re.compile(r"\beighteen\b|\b18 (?:of the )?degradations|of (?:the )?18 degradations")


@pytest.mark.parametrize("section", sorted(registry.load_sections()))
def test_severity_yaml_explains_every_number(section):
    entry = registry.load_sections()[section]
    listed = {"category", "modalities"} if "@" not in section else set()
    numbers = {"code", "source", "parameters", "levels"}
    assert listed | numbers <= set(entry) <= listed | numbers | {"shared", "strength", "drawn_for", "called", "lengths"}
    assert ("lengths" in entry) == ("seen_at" in entry["parameters"])
    assert set(entry.get("lengths", ())) <= set(entry["parameters"])
    for modality, levels in entry["levels"].items():
        assert modality == "any" or modality in degradations.modalities()
        assert set(levels) == {1, 2}
        for row in levels.values():
            assert set(row) | set(entry.get("shared", {})) == set(entry["parameters"])
    for name, about in entry["parameters"].items():
        assert set(about) <= {"unit", "from", "note"} and about["unit"], name
        assert about["from"] in ("paper", "inferred", "choice"), name
        assert about["from"] != "choice" or about.get("note"), f"{name}: a choice says why"


@pytest.mark.parametrize("section", sorted(registry.load_sections()))
def test_levels_differ(section):
    name, _, modality = section.partition("@")
    first, second = (registry.get_settings(name, level, modality or None) for level in (1, 2))
    assert first != second


def test_modalities():
    assert degradations.modalities() == (
        "CT", "MRI", "X-ray", "Ultrasound", "Dermoscopy", "Histopathology", "Endoscopy"
    )  # fmt: skip
    general = {name for name in degradations.names() if len(degradations.modalities_of(name)) == 7}
    assert set(degradations.for_modality("CT")) == general | {"limited_angle", "sparse_view", "low_dose"}
    assert set(degradations.for_modality("Endoscopy")) == general
    for modality in degradations.modalities():
        assert set(degradations.drawn_for(modality)) <= set(degradations.for_modality(modality))
        assert len(degradations.drawn_for(modality)) >= 3


@pytest.mark.parametrize(
    ("written", "meant"),
    [("xray", "X-ray"), ("x_ray", "X-ray"), ("X-Ray", "X-ray"), ("pathology", "Histopathology"), ("ct", "CT"),
     ("UltraSound", "Ultrasound"), ("MR", "MRI"), ("ENDOSCOPY", "Endoscopy"), ("dermoscopy", "Dermoscopy")],
)  # fmt: skip
def test_modality_spellings(written, meant):
    assert degradations.canonical_modality(written) == meant


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: degradations.canonical_name("gausian_noise"), "Did you mean 'gaussian_noise'"),
        (lambda: degradations.canonical_name(7), "7"),
        (lambda: degradations.canonical_modality("Ultrasond"), "Did you mean 'Ultrasound'"),
        (lambda: degradations.canonical_modality(None), "None"),
        (lambda: degradations.draw_for_question("CT", "q", count=0), "at least one"),
        (lambda: degradations.draw_for_question("CT", "q", among=["nois"]), "Unknown degradation"),
        (lambda: registry.get_settings("exposure", 0), "Level 0"),
    ],
)
def test_unknown_things(call, message):
    with pytest.raises(UserError, match=message):
        call()


@pytest.mark.parametrize("severity", [3, -1, 1.0, "1", True, None, np.float64(1)])
def test_bad_severities(severity):
    with pytest.raises(UserError, match="(?s)0.*1.*2"):
        registry.check_severity(severity)


def test_numpy_integers_are_severities():
    assert registry.check_severity(np.int64(2)) == 2


@pytest.mark.parametrize("severity", [0, 1])
def test_a_modality_that_it_is_not_for_needs_force(severity):
    image = np.full((16, 16, 3), 128, np.uint8)
    with pytest.raises(UserError, match="only for Histopathology.*force=True"):
        degradations.apply(image, "bubble", severity=severity, modality="X-ray")
    result = degradations.apply(image, "bubble", severity=severity, modality="X-ray", force=True)
    assert result.shape == image.shape


def test_movement_has_an_operator_of_its_own_on_mri():
    assert degradations.get("object_movement", "MRI") is not degradations.get("object_movement", "CT")
    assert degradations.get("object_movement") is degradations.get("object_movement", "CT")


def test_draws_are_stable_and_within_the_table():
    for modality in degradations.modalities():
        for question in range(50):
            drawn = degradations.draw_for_question(modality, question)
            assert len(drawn) == len(set(drawn)) == 3
            assert set(drawn) <= set(degradations.drawn_for(modality))
            assert drawn == degradations.draw_for_question(modality.lower(), question)
    assert len({degradations.draw_for_question("CT", 1, seed=seed) for seed in range(10)}) > 3


def test_draws_are_even():
    drawn = [name for question in range(700) for name in degradations.draw_for_question("CT", str(question))]
    # Three of seven, 700 times: 300 each, standard deviation 13.
    for name in degradations.drawn_for("CT"):
        assert 240 < drawn.count(name) < 360, name


def test_draws_from_a_few():
    few = ("low_resolution", "gaussian_blur")
    assert degradations.draw_for_question("Endoscopy", "q", among=few) == few
    assert degradations.draw_for_question("X-ray", "q", among=["gaussian_blur"]) == ()
