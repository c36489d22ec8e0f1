"""Names of degraded tasks: what each stands for, what --degrade makes, and what is refused by name."""

import pytest

from lmms_medtasks import degradations
from lmms_medtasks.errors import UserError
from lmms_medtasks.harness.degraded_names import (
    DegradationRequest,
    degraded_names,
    describe_beyond_paper,
    parse_degraded_name,
)
from lmms_medtasks.samples.degraded import is_degraded_name


@pytest.mark.parametrize(
    ("name", "order"),
    [
        ("slake_en@gaussian_noise.2", DegradationRequest("gaussian_noise", "2")),
        ("slake_en@downsample_artifact.1", DegradationRequest("low_resolution", "1")),
        ("slake_en@sparse_view.1~ct", DegradationRequest("sparse_view", "1", modality="CT")),
        ("slake_en@motion_blur.1~column=kind~seed=7", DegradationRequest("motion_blur", "1", column="kind", seed=7)),
        (
            "slake_en@motion_blur.1~X-ray~lengths=share",
            DegradationRequest("motion_blur", "1", modality="X-ray", lengths="share"),
        ),
        ("slake_en@draw3_1.2~CT~lengths=share", DegradationRequest("draw3_1", "2", modality="CT", lengths="share")),
        ("slake_en@corruptions.high", DegradationRequest("corruptions", "high")),
        ("slake_en@draw3_2.1~MRI", DegradationRequest("draw3_2", "1", modality="MRI")),
        ("slake_en@my.module.function.2", DegradationRequest("my.module.function", "2")),
        ("slake_en@sparse_view.0", DegradationRequest("sparse_view", "0")),
        ("slake_en@gaussian_noise.1.5", DegradationRequest("gaussian_noise", "1.5")),
        ("slake_en@gaussian_noise.3", DegradationRequest("gaussian_noise", "3")),
        ("slake_en@sparse_view.0.25~CT~seed=2", DegradationRequest("sparse_view", "0.25", modality="CT", seed=2)),
        ("slake_en@draw3_1.2.5~CT", DegradationRequest("draw3_1", "2.5", modality="CT")),
    ],
)
def test_a_name_is_a_task_and_an_order(name, order):
    assert parse_degraded_name(name) == ("slake_en", order)


def test_only_a_name_with_the_mark_is_one():
    assert is_degraded_name("a@gaussian_noise.2")
    assert not is_degraded_name("a") and not is_degraded_name({"task": "a@gaussian_noise.2"})


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("a@gaussian_noise", "no degradation and level"),
        ("@gaussian_noise.2", "names no task"),
        ("a@gausian_noise.2", "Did you mean 'gaussian_noise'"),
        ("a@gaussian_noise.4", "no level '4'"),
        ("a@gaussian_noise.3.1", "a strength up to 3"),
        ("a@gaussian_noise.1.0", "as 1,"),
        ("a@gaussian_noise.1.50", "as 1.5,"),
        ("a@gaussian_noise.0.0", "as 0,"),
        ("a@gaussian_noise..5", "no degradation and level"),
        ("a@gaussian_noise.-1", "no degradation and level"),
        ("a@gaussian_noise.1e0", "no degradation and level"),
        ("a@corruptions.1.5", "no level '1.5'"),
        ("a@my.module.function.1.5", "no level '1.5'"),
        ("a@gaussian_noise.low", "no level 'low'"),
        ("a@corruptions.1", "no level '1'"),
        ("a@gaussian_noise.2~xray2", "Unknown modality 'xray2'"),
        ("a@gaussian_noise.2~seed=x", "none of ~MODALITY"),
        ("a@gaussian_noise.2~seed=1~seed=2", "two of ~seed"),
        ("a@motion_blur.2~lengths=pixels", "~lengths=share (without it, lengths are the paper's pixels)"),
        ("a@gaussian_noise.2~lengths=share", "It is for low_resolution, motion_blur, gaussian_blur, bubble, and draws"),
        ("a@motion_blur.0~lengths=share", "no lengths in pixels at level 0"),
        ("a@corruptions.low~lengths=share", "no lengths in pixels"),
        ("a@my.module.function.1~lengths=share", "no lengths in pixels"),
        ("a@gaussian_noise.2~CT~column=m", "one of both"),
        ("a@sparse_view.1", "for CT only"),
        ("a@sparse_view.1~MRI", "not for MRI"),
        ("a@draw3_1.1", "among those of a modality"),
        ("a@draw3_4.1~CT", "none of the draws"),
        ("a@draw9_1.1~CT", "9 are to be drawn"),
        ("a@corruptions.low~CT", "the same for all modalities"),
        ("a@gaussian_noise.1@motion_blur.2", "degraded already"),
    ],
)
def test_what_is_refused_by_name(name, said):
    with pytest.raises(UserError) as raised:
        parse_degraded_name(name)
    assert said in str(raised.value)
    assert name in str(raised.value) or name.rpartition("@")[0] in str(raised.value)


def made(degrade, modality=None, seed=0, control=False):
    return [each.removeprefix("t@") for each in degraded_names(["t"], degrade, modality, seed, control)]


def test_degrade_makes_the_names_of_each_form():
    assert made("gaussian_noise:2,motion_blur:1") == ["gaussian_noise.2", "motion_blur.1"]
    assert made("gaussian_noise:1,2,motion_blur") == [
        "gaussian_noise.1",
        "gaussian_noise.2",
        "motion_blur.1",
        "motion_blur.2",
    ]
    assert made("gaussian_noise:0.5,1.0,1.50,2,motion_blur:3") == [
        *(f"gaussian_noise.{level}" for level in ("0.5", "1", "1.5", "2")),
        "motion_blur.3",
    ]
    assert made("draw3:1.5", "CT")[0] == "draw3_1.1.5~CT"
    assert made("corruptions") == ["corruptions.low", "corruptions.medium", "corruptions.high"]
    # As a benchmark degrades, by its folder's degrade.yml.
    assert made("sure_vqa") == made("corruptions") and made("sure_vqa:low") == ["corruptions.low"]
    assert made("corruptions:high") == ["corruptions.high"]
    assert made("my.module:function") == ["my.module.function.1"]
    assert made("my.module:function:1,2", "CT") == ["my.module.function.1~CT", "my.module.function.2~CT"]
    assert made("parts.py:flip") == ["parts.py.flip.1"]
    assert made("draw3:1", "CT") == ["draw3_1.1~CT", "draw3_2.1~CT", "draw3_3.1~CT"]
    assert made("gaussian_noise:2", seed=4) == ["gaussian_noise.2~seed=4"]
    assert made("gaussian_noise:2", "column:kind") == ["gaussian_noise.2~column=kind"]
    assert degraded_names(["t", "u"], "corruptions:low", None, 0, False) == ["t@corruptions.low", "u@corruptions.low"]


def test_all_are_those_for_the_modality():
    found = made("all:1,2", "xray")
    assert found == [f"{name}.{level}~X-ray" for name in degradations.for_modality("X-ray") for level in (1, 2)]
    mixed = made("all:1", "column:kind")
    assert "gaussian_noise.1~column=kind" in mixed and not any("sparse_view" in each for each in mixed)


def test_the_same_share_stands_in_the_names_of_those_with_lengths():
    names = degraded_names(["t"], "gaussian_noise:2,xray_motion_blur_artifact:1,2", "xray", 3, True, "share")
    assert names == [
        "t@gaussian_noise.0~seed=3",
        "t@gaussian_noise.2~X-ray~seed=3",
        *(f"t@xray_motion_blur_artifact.{level}~X-ray~seed=3~lengths=share" for level in (1, 2)),
    ]
    assert degraded_names(["t"], "draw3:1", "CT", 0, False, "share")[2] == "t@draw3_3.1~CT~lengths=share"
    with pytest.raises(UserError, match="--degrade-lengths share: nothing of --degrade gaussian_noise:2"):
        degraded_names(["t"], "gaussian_noise:2", "CT", 0, False, "share")
    with pytest.raises(UserError, match="'pixels'.*'share'"):
        degraded_names(["t"], "motion_blur:2", "CT", 0, False, "half")


@pytest.mark.parametrize(
    ("degrade", "modality", "said"),
    [
        ("all:2", "mri", "for MRI, because no image of its authors shows them there: adjust_brightness, exposure, "),
        ("motion_blur:1,all:2", "column:kind", "adjust_brightness (only Dermoscopy, Endoscopy), exposure (only X-ray)"),
        ("motion_blur:2", "mri", ""),
        ("draw3:2", "mri", ""),
        ("motion_blur:2", None, ""),
    ],
)
def test_what_all_takes_beyond_the_paper_is_listed(degrade, modality, said):
    sentence = describe_beyond_paper(degrade, modality)
    assert said in sentence and bool(said) == bool(sentence)
    assert "low_resolution" not in sentence and "sparse_view" not in sentence


def test_the_control_is_level_0_of_the_first():
    assert made("sparse_view:2,motion_blur:1", "CT", control=True) == [
        "sparse_view.0",
        "sparse_view.2~CT",
        "motion_blur.1~CT",
    ]


@pytest.mark.parametrize(
    ("degrade", "modality", "said"),
    [
        ("all:1,2", None, "--modality"),
        ("draw3", None, "--modality"),
        ("gaussian_noise:2", "column:", "column:NAME"),
        ("gaussian_noise:2", "cat", "Unknown modality"),
        ("sparse_view:2", "MRI", "not for MRI"),
        ("gaussian_noize:2", None, "Did you mean"),
        ("", None, "names no degradation"),
        (":2", None, "names no degradation"),
        ("gaussian_noise:7", None, "no level '7'"),
    ],
)
def test_what_degrade_refuses(degrade, modality, said):
    with pytest.raises(UserError) as raised:
        made(degrade, modality)
    assert said in str(raised.value)
