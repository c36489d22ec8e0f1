"""Files in, files out: formats, names, bad files, and what is refused."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from lmms_medtasks import degradations, pictures
from lmms_medtasks.degradations.files import FileDegradation, degrade_files
from lmms_medtasks.errors import UserError
from lmms_medtasks.seeding import seeded_generator

BLUR = FileDegradation("gaussian_blur", 1)


def picture(seed=0):
    return Image.fromarray(seeded_generator("files", seed).integers(0, 256, (24, 30, 3), dtype=np.uint8))


@pytest.fixture
def folder(tmp_path):
    source = tmp_path / "in"
    (source / "sub").mkdir(parents=True)
    picture(0).save(source / "a.png")
    picture(1).save(source / "sub" / "b.jpg")
    picture(2).save(source / "sub" / "b.bmp")
    picture(3).convert("CMYK").save(source / "sub" / "c.jpeg")
    return source


def written(output):
    return sorted(path.relative_to(output).as_posix() for path in output.rglob("*") if path.is_file())


def test_a_folder_keeps_its_shape_and_nothing_is_compressed_with_loss(folder, tmp_path):
    outcome = degrade_files(folder, tmp_path / "out", BLUR, workers=1)
    assert written(tmp_path / "out") == ["a.png", "sub/b.bmp", "sub/b.jpg.png", "sub/c.tif"]
    assert not outcome.problems and len(outcome.records) == 4
    for record in outcome.records:
        with Image.open(folder / record["file"]) as clean, Image.open(record["written"]) as result:
            expected = degradations.apply(clean, "gaussian_blur", severity=1)
            assert (result.mode, result.tobytes()) == (expected.mode, expected.tobytes())


def test_processes_do_the_same(folder, tmp_path):
    for workers in (1, 2):
        degrade_files(folder, tmp_path / str(workers), FileDegradation("gaussian_noise", 2, seed="x"), workers=workers)
    assert written(tmp_path / "1") == written(tmp_path / "2")
    for name in written(tmp_path / "1"):
        first, second = (Image.open(tmp_path / workers / name).tobytes() for workers in ("1", "2"))
        assert first == second


def test_the_written_file_tells_what_was_applied(folder, tmp_path):
    order = FileDegradation("object_rotation", 2, seed=5, modality="xray")
    record = degrade_files(folder / "a.png", tmp_path / "out.png", order).records[0]
    with Image.open(tmp_path / "out.png") as image:
        assert json.loads(image.text["degradation"]) == record
    degrade_files(folder / "a.png", tmp_path / "out.tif", order)
    with Image.open(tmp_path / "out.tif") as image:
        told = json.loads(image.tag_v2[270])
    assert told["parameters"] == record["parameters"] and told["modality"] == "X-ray"
    drawn = degradations.parameters_from_json("object_rotation", record["parameters"], modality="X-ray")
    again = degradations.apply_parameters(picture(0), "object_rotation", drawn, modality="X-ray")
    assert again.tobytes() == Image.open(tmp_path / "out.png").tobytes()


def test_every_mode_survives_its_format(tmp_path):
    wide = Image.fromarray(seeded_generator("wide").integers(0, 65536, (20, 20), dtype=np.uint16))
    scan = Image.fromarray(seeded_generator("float").random((20, 20), dtype=np.float32))
    see_through = picture().convert("RGBA")
    see_through.putalpha(90)
    cases = {"wide.png": wide, "scan.tif": scan, "alpha.png": see_through, "bits.png": picture().convert("1"),
             "palette.png": picture().quantize(20), "grey.tif": picture().convert("L")}  # fmt: skip
    for name, image in cases.items():
        image.save(tmp_path / name)
        degrade_files(tmp_path / name, tmp_path / f"out-{name}", FileDegradation("motion_blur", 1))
        with Image.open(tmp_path / name) as clean, Image.open(tmp_path / f"out-{name}") as result:
            expected = degradations.apply(clean, "motion_blur", severity=1)
            assert (result.mode, result.tobytes()) == (expected.mode, expected.tobytes()), name


@pytest.mark.parametrize("suffix", [".png", ".tif"])
@pytest.mark.filterwarnings("ignore::lmms_medtasks.pictures.WindowWarning")
def test_the_window_is_recorded_and_stays_with_the_file(tmp_path, suffix):
    """Twelve bits made darker must not be taken for a picture with a smaller range when the file is read again."""
    scan = Image.fromarray(seeded_generator("scan").integers(0, 4096, (20, 24), dtype=np.uint16))
    scan.save(tmp_path / f"scan{suffix}")
    order = FileDegradation("adjust_brightness", 2)
    record = degrade_files(tmp_path / f"scan{suffix}", tmp_path / f"out{suffix}", order).records[0]
    values = np.asarray(scan)
    assert record["shown_as"] == {"window": [values.min(), values.max()]}
    clean, read = (pictures.to_rgb8(pictures.open_image(tmp_path / f"{name}{suffix}")) for name in ("scan", "out"))
    assert np.abs(np.asarray(read).astype(int) - np.maximum(np.asarray(clean).astype(int) - 113, 0)).max() <= 1


def test_level_0_gives_the_same_pixels(folder, tmp_path):
    degrade_files(folder / "sub" / "b.jpg", tmp_path / "out", FileDegradation("bubble", 0))
    assert Image.open(tmp_path / "out" / "b.png").tobytes() == Image.open(folder / "sub" / "b.jpg").tobytes()


def test_bad_files_are_listed_and_the_rest_is_done(folder, tmp_path):
    whole = (folder / "sub" / "b.bmp").read_bytes()
    picture().resize((300, 300)).save(folder / "cut.png")
    (folder / "cut.png").write_bytes((folder / "cut.png").read_bytes()[:9000])
    (folder / "cut.bmp").write_bytes(whole[:700])
    (folder / "notes.txt").write_text("no image")
    (folder / "empty.png").write_bytes(b"")
    picture().save(folder / "film.gif", save_all=True, append_images=[picture(7)])
    (folder / ".hidden.png").write_bytes(b"left out")
    outcome = degrade_files(folder, tmp_path / "out", BLUR, workers=1)
    problems = {path.name: text for path, text in outcome.problems}
    assert sorted(problems) == ["cut.bmp", "cut.png", "empty.png", "film.gif", "notes.txt"]
    assert "truncated" in problems["cut.png"] and "truncated" in problems["cut.bmp"]
    assert "It is none of PNG" in problems["notes.txt"] and "It is empty" in problems["empty.png"]
    assert "It holds 2 frames" in problems["film.gif"]
    assert len(outcome.records) == 4
    assert not [name for name in written(tmp_path / "out") if "/." in name or name.startswith(".")]


def test_files_that_are_there(folder, tmp_path):
    output = tmp_path / "out"
    degrade_files(folder / "a.png", output, BLUR)
    before = (output / "a.png").read_bytes()
    refused = degrade_files(folder, output, FileDegradation("exposure", 1))
    assert [path.name for path, _ in refused.problems] == ["a.png"] and len(refused.records) == 3
    assert (output / "a.png").read_bytes() == before
    skipped = degrade_files(folder, output, FileDegradation("exposure", 1), existing="skip")
    assert (skipped.skipped, skipped.records) == (3, [])
    assert [path.name for path, _ in skipped.problems] == ["a.png"]  # made with another degradation
    replaced = degrade_files(folder, output, FileDegradation("exposure", 1), existing="overwrite")
    assert len(replaced.records) == 4 and (output / "a.png").read_bytes() != before


def test_vary_draws_for_each_file(folder, tmp_path):
    plain, varied = (
        degrade_files(folder, tmp_path / str(vary), FileDegradation("object_rotation", 1, vary=vary)).records
        for vary in (False, True)
    )
    assert len({record["parameters"]["angle"] for record in plain}) == 1
    assert len({record["parameters"]["angle"] for record in varied}) == 4
    assert varied[0]["seed"] == "0/a.png"


def test_pattern(folder, tmp_path):
    degrade_files(folder, tmp_path / "out", BLUR, pattern="b.*")
    assert written(tmp_path / "out") == ["sub/b.bmp", "sub/b.jpg.png"]


@pytest.mark.parametrize(
    ("output", "order", "message"),
    [
        ("in", BLUR, "inside of the input"),
        ("in/out", BLUR, "inside of the input"),
        ("in/a.png", BLUR, "inside of the input"),
        ("out", FileDegradation("gausian_blur", 1), "Did you mean"),
        ("out", FileDegradation("gaussian_blur", 3), "severe"),
        ("out", FileDegradation("sparse_view", 1, modality="MRI"), "only for CT"),
    ],
)
def test_orders_that_cannot_be_started(folder, tmp_path, output, order, message):
    with pytest.raises(UserError, match=message):
        degrade_files(folder, tmp_path / output, order)
    assert written(folder) == ["a.png", "sub/b.bmp", "sub/b.jpg", "sub/c.jpeg"]


def test_other_refusals(folder, tmp_path):
    with pytest.raises(UserError, match="no file or folder"):
        degrade_files(tmp_path / "nothing.png", tmp_path / "out", BLUR)
    with pytest.raises(UserError, match="with loss"):
        degrade_files(folder / "a.png", tmp_path / "out.jpg", BLUR)
    with pytest.raises(UserError, match="input itself"):
        degrade_files(folder / "a.png", folder, BLUR)
    with pytest.raises(UserError, match="no file that matches"):
        degrade_files(folder, tmp_path / "out", BLUR, pattern="*.dcm")
    with pytest.raises(UserError, match="existing"):
        degrade_files(folder, tmp_path / "out", BLUR, existing="maybe")
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="is a file"):
        degrade_files(folder, tmp_path / "file", BLUR)


def test_an_output_that_cannot_hold_the_mode(folder, tmp_path):
    outcome = degrade_files(folder / "sub" / "c.jpeg", tmp_path / "out.png", BLUR)
    assert "TIFF" in outcome.problems[0][1]


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions")
def test_written_files_have_ordinary_permissions(folder, tmp_path):
    degrade_files(folder / "a.png", tmp_path / "out.png", BLUR)
    (tmp_path / "plain").write_text("")
    assert (tmp_path / "out.png").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_no_output_takes_the_place_of_another(tmp_path):
    """a.jpg becomes PNG, beside a.png that keeps its name; a.jpg.gif would become a.jpg.png too."""
    folder = tmp_path / "in"
    folder.mkdir()
    for name in ("a.jpg", "a.png", "a.tif", "a.jpg.gif"):
        picture().save(folder / name)
    outcome = degrade_files(folder, tmp_path / "out", BLUR, workers=1)
    assert outcome.problems == []
    assert {record["file"]: Path(record["written"]).name for record in outcome.records} == {
        "a.jpg": "a.jpg.jpg.png",
        "a.jpg.gif": "a.jpg.png",
        "a.png": "a.png",
        "a.tif": "a.tif",
    }


def test_skip_does_not_take_another_orders_file_for_its_own(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    picture().save(folder / "a.png")
    picture().save(folder / "b.tif")
    assert len(degrade_files(folder, tmp_path / "out", BLUR, workers=1).records) == 2
    again = degrade_files(folder, tmp_path / "out", BLUR, workers=1, existing="skip")
    assert (again.skipped, again.problems) == (2, [])
    other = degrade_files(folder, tmp_path / "out", FileDegradation("exposure", 2), workers=1, existing="skip")
    assert [path.name for path, _ in other.problems] == ["a.png", "b.tif"]
    assert "was made otherwise" in other.problems[0][1]
