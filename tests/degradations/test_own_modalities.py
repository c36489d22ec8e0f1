"""A modality of someone's own counts wherever one of ours does, and changes nothing for ours."""

from __future__ import annotations

import pytest

from lmms_medtasks import degradations
from lmms_medtasks.degradations import modality_files, own_modalities, registry
from lmms_medtasks.errors import UserError
from lmms_medtasks.harness import degraded_names

OCT = """
OCT:
  called: [optical coherence tomography]
  degradations: [general, sparse_view, parts.py:turn]
  drawn: [gaussian_noise, parts.py:turn]
  levels:
    gaussian_noise: {1: {sigma: 0.5}, 2: {sigma: 0.9}}
"""


@pytest.fixture
def given(monkeypatch, tmp_path):
    monkeypatch.setattr(own_modalities, "_GIVEN", {})
    (tmp_path / "parts.py").write_text("def turn(picture, generator):\n    return picture.transpose(0)\n", "utf-8")

    def call(text=OCT, file="modalities.yml"):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text(text, "utf-8")
        modality_files.load_modality_files([tmp_path / file])
        return tmp_path

    return call


def test_it_is_known_by_all_its_spellings(given):
    given()
    assert [degradations.canonical_modality(each) for each in ("oct", "O-C-T", "Optical coherence_tomography")] == [
        "OCT"
    ] * 3
    assert degradations.modalities()[-1] == "OCT"


def test_which_degradations_are_for_it_and_drawn(given):
    folder = given()
    own = f"{folder}/parts.py:turn"
    allowed = degradations.for_modality("OCT")
    general = {name for name in degradations.names() if registry.is_general(name)}
    assert set(allowed) == general | {"sparse_view", own} and len(allowed) == len(general) + 2
    assert degradations.drawn_for("OCT") == ("gaussian_noise", own)
    assert {degradations.draw_for_question("OCT", each, count=1) for each in range(20)} == {("gaussian_noise",), (own,)}
    with pytest.raises(UserError, match="'low_dose' is not for 'OCT'"):
        degradations.check_modality("low_dose", "OCT")


def test_numbers_of_ours_for_it(given):
    before = {each: degradations.sample("gaussian_noise", severity=2, seed=0, size=(9, 9), modality=each)
              for each in (None, *degradations.modalities())}  # fmt: skip
    codes = degradations.code_of("gaussian_noise", "CT"), degradations.depends_on_modality("gaussian_noise")
    given()
    found = degradations.sample("gaussian_noise", severity=2, seed=0, size=(9, 9), modality="OCT")
    assert found.to_json()["sigma"] == 0.9
    for each, drawn in before.items():
        assert degradations.sample("gaussian_noise", severity=2, seed=0, size=(9, 9), modality=each) == drawn
    assert codes == (degradations.code_of("gaussian_noise", "CT"), degradations.depends_on_modality("gaussian_noise"))
    assert degradations.code_of("gaussian_noise", "OCT") != codes[0]


def test_names_of_degraded_tasks_take_it(given):
    given()
    found = degraded_names.degraded_names(["t"], "sparse_view:1,draw2:2", "oct", 0, False)
    assert found == ["t@sparse_view.1~OCT", "t@draw2_1.2~OCT", "t@draw2_2.2~OCT"]
    # Ours that are for every modality of ours still need none to be said.
    assert degraded_names.degraded_names(["t"], "motion_blur:1", None, 0, False) == ["t@motion_blur.1"]
    assert "t@sparse_view.1~column=m" not in degraded_names.degraded_names(["t"], "all:1", "column:m", 0, False)


def test_the_paper_is_not_said_to_draw_or_leave_out_anything_for_it(given):
    before = degraded_names.describe_beyond_paper("all", "column:m")
    given()
    assert degraded_names.describe_beyond_paper("all", "oct") == ""
    assert degraded_names.describe_beyond_paper("all", "column:m") == before != ""


def test_a_file_may_be_named_where_a_modality_is(monkeypatch, tmp_path):
    monkeypatch.setattr(own_modalities, "_GIVEN", {})
    (tmp_path / "own.yml").write_text("Fundus photography: {called: [fundus]}\n", "utf-8")
    found = degraded_names.degraded_names(["t"], "draw2:1", f"{tmp_path}/own.yml:fundus", 0, False)
    assert found[0] == "t@draw2_1.1~Fundus photography" and modality_files.parse_modality_option("CT") == "CT"
    assert modality_files.modality_variables() == {"MEDTASKS_MODALITIES": str(tmp_path / "own.yml")}
    monkeypatch.setattr(own_modalities, "_GIVEN", {})
    monkeypatch.setenv("MEDTASKS_MODALITIES", str(tmp_path / "own.yml"))
    modality_files.load_run_modalities([])
    assert degradations.canonical_modality("fundus") == "Fundus photography"


def test_the_same_twice_is_one_and_another_of_its_name_is_refused(given):
    folder = given()
    given(OCT.replace("parts.py:", f"{folder}/parts.py:"), "other/modalities.yml")
    with pytest.raises(UserError, match=r"third/modalities.yml and .*/modalities.yml both have a modality 'OCT'"):
        given("OCT: {called: [something else]}\n", "third/modalities.yml")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "holds no modalities"),
        ("OCT: [a]", "OCT: got .*expected a mapping"),
        ("OCT: {cal: [a]}", "Unknown key 'cal'.*Did you mean 'called'"),
        ("OCT: {called: a}", "called: got 'a', expected a list"),
        ("OCT: {called: [chest x-ray]}", "one of our modality 'X-ray'"),
        ("ct: {}", "one of our modality 'CT'"),
        ("OCT: {degradations: [gausian_noise]}", "Did you mean 'gaussian_noise'"),
        ("OCT: {degradations: ['parts.py:absent']}", "has no 'absent'"),
        ("OCT: {drawn: [sparse_view]}", "'sparse_view', which is not among its degradations"),
        ("OCT: {levels: {gaussian_noise: {1: {sigma: 1}}}}", "expected {1: {...}, 2: {...}}"),
        ("OCT: {levels: {gaussian_noise: {1: {sigm: 1}, 2: {sigma: 1}}}}", "level 1.*Did you mean 'sigma'"),
        ("OCT: {levels: {gaussian_noise: {1: {sigma: a}, 2: {sigma: 1}}}}", "level 1, sigma: got 'a'"),
        ("OCT: {levels: {gaussian_noise: {1: {sigma: -1}, 2: {sigma: 1}}}}", "sigma: got -1, expected 0 or more"),
        ("OCT: {levels: {gaussian_noise: {1: {sigma: .inf}, 2: {sigma: 1}}}}", "sigma: got inf, expected a finite"),
        ("OCT: {levels: {object_rotation: {1: {angle_range: [20, 5]}, 2: {}}}}", "from the lower to the higher"),
        ("OCT: {}\nOCT: {}", "the key 'OCT' stands on line 1"),
    ],
)
def test_a_mistake_is_named_with_its_file(given, text, said):
    with pytest.raises(UserError, match=said) as caught:
        given(text)
    assert "modalities.yml" in str(caught.value)
    assert degradations.modalities() == degradations.modalities()[:7]
