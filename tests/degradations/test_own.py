"""A degradation of someone's own stands wherever the name of one of ours may, and every mistake in it is named."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
from PIL import Image

from lmms_medtasks import degradations, extensions
from lmms_medtasks.degradations import files, picture_cache
from lmms_medtasks.errors import UserError
from lmms_medtasks.harness import degraded_names, degraded_pictures

PARTS = """
from dataclasses import dataclass

import numpy as np
from PIL import Image

from lmms_medtasks.degradations import Degradation, Parameters


def turn(picture, generator):
    return picture.transpose(int(generator.integers(0, 2)))


def fade(picture, generator, level):
    return picture.point(lambda value: value // (1 + level))


def dim(picture, generator, *, strength):
    return picture.point(lambda value: int(value * (1 - strength / 4)))


@dataclass(frozen=True)
class Speckles(Parameters):
    seed: int
    amount: float


def sample(rng, settings, size):
    return Speckles(int(rng.integers(2**32)), settings["amount"])


def apply(image, drawn):
    noise = np.random.default_rng(drawn.seed).normal(size=image.shape).astype(np.float32)
    return image * (1 + drawn.amount * noise)


ROWS = {"any": {1: {"amount": 0.1}, 2: {"amount": 0.3}}, "CT": {1: {"amount": 0.2}, 2: {"amount": 0.6}}}
speckle = Degradation("speckle", sample, apply, Speckles, levels=ROWS)
in_file = Degradation("speckle", sample, apply, Speckles, levels="speckle.yaml", modalities=("CT",))

for_oct = Degradation("speckle", sample, apply, Speckles, levels=ROWS, modalities=("OCT", "ct"))

# Mistakes, a line each.
one = lambda picture: picture
three = lambda picture, generator, other: picture
number = 3
Class = Speckles
nothing = lambda picture, generator: None
array = lambda picture, generator: np.asarray(picture) / 255
smaller = lambda picture, generator: picture.resize((3, 3))
coloured = lambda picture, generator: picture.convert("RGB")
def raising(picture, generator):
    raise RuntimeError("too dark")
no_levels = Degradation("x", sample, apply, Speckles, levels={1: {"amount": 1}})
no_file = Degradation("x", sample, apply, Speckles, levels="absent.yaml")
no_record = Degradation("x", sample, apply, dict)
other_record = Degradation("x", lambda *_: 3, apply, Speckles)
other_shape = Degradation("x", sample, lambda image, drawn: image[:3], Speckles, levels=ROWS)
nan = Degradation("x", sample, lambda image, drawn: image * np.nan, Speckles, levels=ROWS)
missing = Degradation("x", lambda rng, settings, size: settings["absent"], apply, Speckles, levels=ROWS)
"""
GREY = Image.fromarray((np.arange(48 * 64) % 251).astype(np.uint8).reshape(48, 64))


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("own")
    (folder / "parts.py").write_text(PARTS, "utf-8")
    (folder / "speckle.yaml").write_text("levels:\n  CT: {1: {amount: 0.2}, 2: {amount: 0.6}}\n", "utf-8")
    return folder / "parts.py"


@pytest.mark.parametrize("name", ["turn", "fade", "dim", "speckle"])
@pytest.mark.parametrize("mode", ["L", "RGB", "RGBA"])
def test_the_same_order_gives_the_same_picture_of_size_and_mode(parts, name, mode):
    for size in ((64, 48), (1, 1)):
        clean = GREY.resize(size).convert(mode)
        before = clean.tobytes()
        made = [degradations.apply(clean, f"{parts}:{name}", severity=1, seed="q") for _ in range(2)]
        assert made[0].tobytes() == made[1].tobytes() and (made[0].size, made[0].mode) == (size, mode)
        assert clean.tobytes() == before
        assert degradations.apply(clean, f"{parts}:{name}", severity=0).tobytes() == before


def test_what_was_drawn_can_be_stored_and_gives_the_same_again(parts):
    for name, keys in (("turn", {"seed", "level", "code"}), ("speckle", {"seed", "amount"})):
        drawn = degradations.sample(f"{parts}:{name}", severity=1, seed="q", size=(48, 64))
        assert set(drawn.to_json()) == keys and pickle.loads(pickle.dumps(drawn)) == drawn
        read = degradations.parameters_from_json(f"{parts}:{name}", json.loads(json.dumps(drawn.to_json())))
        again = degradations.apply_parameters(GREY, f"{parts}:{name}", read)
        assert again.tobytes() == degradations.apply(GREY, f"{parts}:{name}", severity=1, seed="q").tobytes()


def test_levels_and_strengths(parts):
    fade, dim, speckle = (f"{parts}:{name}" for name in ("fade", "dim", "speckle"))
    assert np.asarray(degradations.apply(GREY, fade, severity=2)).max() == 250 // 3
    assert np.asarray(degradations.apply(GREY, dim, strength=1.5)).max() == int(250 * 0.625)
    amounts = [degradations.sample(speckle, strength=each, seed=0, size=(9, 9)).to_json() for each in (1, 1.5, 2)]
    assert [round(each["amount"], 9) for each in amounts] == [0.1, 0.2, 0.3]
    assert len({each["seed"] for each in amounts}) == 1
    with pytest.raises(UserError, match=r"parts.py:turn has level 1 only, got 2"):
        degradations.apply(GREY, f"{parts}:turn", severity=2)
    with pytest.raises(UserError, match=r"parts.py:fade has the levels 1 and 2, got 1.5"):
        degradations.apply(GREY, fade, strength=1.5)


def test_rows_of_a_modality_and_a_yaml_beside_the_code(parts):
    def amount(name, modality):
        return degradations.sample(f"{parts}:{name}", severity=2, seed=0, size=(9, 9), modality=modality).amount

    assert (amount("speckle", None), amount("speckle", "MRI"), amount("speckle", "ct")) == (0.3, 0.3, 0.6)
    assert amount("in_file", "CT") == 0.6
    assert degradations.modalities_of(f"{parts}:in_file") == ("CT",)
    assert degradations.depends_on_modality(f"{parts}:in_file") and not degradations.depends_on_modality(
        f"{parts}:turn"
    )
    with pytest.raises(UserError, match="'parts.py:in_file' is not for 'MRI' images, only for CT"):
        degradations.apply(GREY, f"{parts}:in_file", severity=1, modality="MRI")


def test_a_modality_that_nobody_made_known_is_no_error_for_others(parts):
    assert degradations.modalities_of(f"{parts}:for_oct") == ("OCT", "CT")
    with pytest.raises(UserError, match="'parts.py:for_oct' is not for 'MRI' images, only for OCT, CT"):
        degradations.apply(GREY, f"{parts}:for_oct", severity=1, modality="MRI")


def test_ours_are_as_they_were_and_none_is_added(parts):
    listed = (*degradations.names(), *degradations.for_modality("CT"))
    assert not any("parts.py" in each for each in listed)
    assert degradations.title(f"{parts}:turn") == "parts.py:turn" and degradations.category(f"{parts}:turn") == "own"


def test_the_code_decides_what_caches_keep(parts, tmp_path):
    (tmp_path / "parts.py").write_text(PARTS.replace("1 + level", "2 + level"), "utf-8")
    (tmp_path / "speckle.yaml").write_text("levels:\n  CT: {1: {amount: 0.2}, 2: {amount: 0.7}}\n", "utf-8")
    for name in ("fade", "in_file"):  # code, and the numbers that it names
        assert degradations.code_of(f"{tmp_path}/parts.py:{name}") != degradations.code_of(f"{parts}:{name}")
    cache = picture_cache.DegradedImageCache(10**6)
    made = [
        picture_cache.apply(GREY, f"{each}:fade", severity=1, cache=cache).tobytes()
        for each in (parts, tmp_path / "parts.py")
    ]
    assert made[0] != made[1]


def test_files_and_their_records(parts, tmp_path):
    GREY.save(tmp_path / "in.png")
    done = files.degrade_files(tmp_path / "in.png", tmp_path / "out", files.FileDegradation(f"{parts}:fade", 1))
    assert done.problems == [] and done.records[0]["degradation"] == "parts.py:fade"
    assert done.records[0]["parameters"]["level"] == 1
    with pytest.raises(UserError, match="level 1 only"):
        files.degrade_files(tmp_path / "in.png", tmp_path / "again", files.FileDegradation(f"{parts}:turn", 2))


def test_an_installed_one_has_a_name(parts, monkeypatch, tmp_path):
    (tmp_path / "own_turns.py").write_text(PARTS, "utf-8")
    (tmp_path / "own_turns-1.2.dist-info").mkdir()
    (tmp_path / "own_turns-1.2.dist-info" / "METADATA").write_text("Name: own-turns\nVersion: 1.2\n", "utf-8")
    entries = "[lmms_medtasks.degradations]\nturned = own_turns:turn\nabsent = own_turns:absent\n"
    (tmp_path / "own_turns-1.2.dist-info" / "entry_points.txt").write_text(entries, "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    extensions.installed_extensions.cache_clear()
    try:
        assert degradations.known_names()[-2:] == ("absent", "turned") and degradations.title("turned") == "turned"
        degradations.apply(GREY, "turned", severity=1)
        assert degradations.source("turned") == "package own-turns 1.2"
        with pytest.raises(UserError, match="own-turns 1.2.*no 'absent'"):
            degradations.canonical_name("absent")
        with pytest.raises(UserError, match="Did you mean 'turned'"):
            degradations.canonical_name("turnt")
        entries = "[lmms_medtasks.degradations]\ngaussian_noise = own_turns:turn\n"
        (tmp_path / "own_turns-1.2.dist-info" / "entry_points.txt").write_text(entries, "utf-8")
        extensions.installed_extensions.cache_clear()
        with pytest.raises(UserError, match=r"own-turns 1.2 offers a degradation called 'gaussian_noise'.*one of ours"):
            degradations.canonical_name("gaussian_noise")
    finally:
        monkeypatch.undo()
        extensions.installed_extensions.cache_clear()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("absent", "has no 'absent'"),
        ("one", r"function of a PIL image and a NumPy generator.*It takes picture"),
        ("three", "It takes picture, generator, other"),
        ("number", "is a int"),
        ("Class", "is a class"),
        ("nothing", "returned None.*return missing"),
        ("array", "returned an array of float64.*Image.fromarray"),
        ("smaller", "returned 3 x 3 pixels.*64 x 48"),
        ("coloured", "of mode 'RGB'.*of 'L'"),
        ("raising", r"RuntimeError: too dark \(parts.py, line \d+\)"),
        ("no_levels", "expected.*levels|levels.*expected"),
        ("no_file", "no file 'absent.yaml' beside parts.py"),
        ("no_record", "record is <class 'dict'>"),
        ("other_record", "sample gave 3, expected a Speckles"),
        ("other_shape", r"apply gave an array of \(3, 64\) for an array of \(48, 64\)"),
        ("nan", "NaN or infinity"),
        ("missing", r"sample failed: KeyError: 'absent' \(parts.py, line \d+\)"),
    ],
)
def test_a_mistake_is_named_with_its_file(parts, name, said):
    with pytest.raises(UserError, match=said) as caught:
        degradations.apply(GREY, f"{parts}:{name}", severity=1)
    assert "parts.py" in str(caught.value)


def test_a_name_of_a_degraded_task_finds_a_file_of_the_working_directory(parts, monkeypatch):
    monkeypatch.chdir(parts.parent)
    _, order = degraded_names.parse_degraded_name("slake_en@parts.py.fade.2")
    degraded_pictures.check_custom_degradation(order, "slake_en@parts.py.fade.2")
    made, done = degraded_pictures.degrade_as_requested(GREY, degraded_pictures.pixel_digest(GREY), order, None)
    assert np.asarray(made).max() == 250 // 3 and (done["name"], done["level"]) == ("parts.py:fade", 2)
    assert done["code"] == degraded_pictures.code_of(order) == degradations.code_of(f"{parts}:fade")
    for name, said in {
        "parts.py.turn.2": "parts.py:turn has level 1 only",
        "parts.py.in_file.1": "is for CT.*--modality",
        "parts.py.in_file.1~MRI": "is not for 'MRI' images",
        "parts.py.absent.1": "has no 'absent'",
        "no_parts.py.turn.1": "there is no file",
        "parts.py.one.1": "It takes picture",
    }.items():
        _, order = degraded_names.parse_degraded_name(f"slake_en@{name}")
        with pytest.raises(UserError, match=f"t@{name}.*{said}"):
            degraded_pictures.check_custom_degradation(order, f"t@{name}")


def test_an_array_is_degraded_as_the_picture_is(parts):
    array = np.asarray(GREY)
    for name in ("turn", "speckle"):
        made = degradations.apply(array, f"{parts}:{name}", severity=1)
        assert (made == np.asarray(degradations.apply(GREY, f"{parts}:{name}", severity=1))).all()
    with pytest.raises(UserError, match="arrays of uint8, got an array of float32"):
        degradations.apply(array.astype(np.float32) / 255, f"{parts}:turn", severity=1)
