"""``degrade`` and ``preview`` as a user runs them."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
import typer
from PIL import Image
from typer.testing import CliRunner

from lmms_medtasks import degradations
from lmms_medtasks.cli import degrade
from lmms_medtasks.errors import UserError
from lmms_medtasks.seeding import seeded_generator


@pytest.fixture
def run():
    app = typer.Typer(pretty_exceptions_enable=False)
    app.command()(degrade.degrade)
    app.command()(degrade.preview)
    return lambda *arguments: CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def scan(tmp_path):
    path = tmp_path / "scan.png"
    Image.fromarray(seeded_generator("cli").integers(0, 256, (32, 40, 3), dtype=np.uint8)).save(path)
    return path


def test_one_file_is_what_the_library_gives(run, scan, tmp_path):
    output = tmp_path / "out.png"
    result = run("degrade", scan, "-o", output, "--name", "object_rotation", "--severity", 2, "--seed", 7, "--json")
    assert result.exit_code == 0, result.output
    record = json.loads(result.stdout)
    assert record["degradation"] == "object_rotation" and record["seed"] == 7
    expected = degradations.apply(Image.open(scan), "object_rotation", severity=2, seed=7)
    assert Image.open(output).tobytes() == expected.tobytes()
    assert "1 image written" in result.stderr


def test_an_image_with_several_copies_is_counted_once_where_its_background_is_told(run, tmp_path):
    Image.new("LA", (32, 40), (90, 0)).save(tmp_path / "clear.png")
    result = run("degrade", tmp_path / "clear.png", "-o", tmp_path / "out", "--name", "exposure:1,2")
    assert "2 images written" in result.stderr and "\n1 image(s) have transparent" in f"\n{result.stderr}", (
        result.stderr
    )


def test_bad_files_make_the_status_1(run, scan, tmp_path):
    (tmp_path / "in").mkdir()
    scan.rename(tmp_path / "in" / "scan.png")
    (tmp_path / "in" / "bad.png").write_bytes(b"\x89PNG\r\n")
    result = run("degrade", tmp_path / "in", "-o", tmp_path / "out", "--name", "exposure", "--severity", 1)
    assert result.exit_code == 1
    assert "bad.png: It is none of PNG" in result.stderr
    assert "1 image written" in result.stderr and "1 failed" in result.stderr
    assert (tmp_path / "out" / "scan.png").is_file()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--name", "exposur", "--severity", "1"], "Did you mean 'exposure'"),
        (["--name", "exposure", "--severity", "3"], "severe"),
        (["--name", "exposure", "--strength", "3.5"], "from 0 .* to 3"),
        (["--name", "exposure", "--severity", "1", "--lengths", "half"], "'pixels'.*'share'.*got 'half'"),
        (["--name", "exposure", "--severity", "1", "--lengths", "share"], "exposure has no lengths in pixels, so both"),
        (["--name", "exposure", "--strength", "1", "--severity", "1"], "either severity"),
        (["--name", "exposure", "--severity", "1", "--modality", "Xry"], "Did you mean 'X-ray'"),
        (["--name", "sparse_view", "--severity", "1", "--modality", "MRI"], "--force|force=True"),
        (
            ["--name", "exposure"],
            r"2 images of each are asked for .exposure.1, exposure.2.: .* must be a folder, or .* --severity 1",
        ),
        (["--name", "exposure:1", "--severity", "1"], "leave --severity and --strength out"),
        (["--name", "exposure:low"], "'low' is no level here. Allowed: 0, 1, 2, or a strength"),
        (["--name", "all:2"], "give --modality, one of CT, "),
        (["--name", ":2"], "--name ':2' names no degradation. Write --name gaussian_noise:2"),
    ],
)
def test_mistakes(run, scan, tmp_path, arguments, message):
    result = run("degrade", scan, "-o", tmp_path / "out.png", *arguments)
    assert isinstance(result.exception, UserError)
    assert re.search(message, str(result.exception))
    assert [path.name for path in tmp_path.iterdir()] == ["scan.png"]


def test_several_degradations_and_levels_have_a_folder_each(run, scan, tmp_path):
    """--name has the form of `run --degrade`: all, levels behind a colon, both levels where none is given."""
    wanted = {
        ("exposure",): ["exposure.1", "exposure.2"],
        ("gaussian_noise:0.5,2,exposure:1",): ["exposure.1", "gaussian_noise.0.5", "gaussian_noise.2"],
        ("all", "--modality", "CT", "--strength", "1.5"): [
            f"{name}.1.5" for name in sorted(degradations.for_modality("CT"))
        ],
    }
    for number, (name, folders) in enumerate(wanted.items()):
        output = tmp_path / str(number)
        result = run("degrade", scan, "-o", output, "--name", *name)
        assert result.exit_code == 0, result.output
        assert sorted(path.relative_to(output).as_posix() for path in output.rglob("*.png")) == [
            f"{folder}/scan.png" for folder in folders
        ]
        assert f"{len(folders)} images written" in result.stderr
    expected = degradations.apply(Image.open(scan), "gaussian_noise", strength=0.5)
    assert Image.open(tmp_path / "1" / "gaussian_noise.0.5" / "scan.png").tobytes() == expected.tobytes()
    one = run("degrade", scan, "-o", tmp_path / "one.png", "--name", "exposure:2")
    assert one.exit_code == 0 and (tmp_path / "one.png").is_file()


def test_strength_is_applied_and_recorded(run, scan, tmp_path):
    output = tmp_path / "out.png"
    result = run("degrade", scan, "-o", output, "--name", "gaussian_blur", "--strength", 1.5, "--json")
    assert result.exit_code == 0, result.output
    record = json.loads(result.stdout)
    drawn = degradations.sample("gaussian_blur", strength=1.5, seed=0, size=(32, 40)).to_json()
    assert (record["strength"], record["severity"], record["parameters"]) == (1.5, None, drawn)
    with Image.open(output) as image:
        assert json.loads(image.text["degradation"]) == record
        expected = degradations.apply(Image.open(scan), "gaussian_blur", strength=1.5)
        assert image.tobytes() == expected.tobytes()
    other = run("degrade", scan, "-o", output, "--name", "gaussian_blur", "--strength", 2.5, "--existing", "skip")
    assert other.exit_code == 1 and "was made otherwise" in other.stderr


def test_the_same_share_is_applied_recorded_and_no_file_of_the_papers_pixels(run, scan, tmp_path):
    asked = ("degrade", scan, "-o", tmp_path / "out.png", "--name", "gaussian_blur", "--severity", 2, "--json")
    result = run(*asked, "--lengths", "share")
    assert result.exit_code == 0, result.output
    record = json.loads(result.stdout)
    assert (record["lengths"], record["parameters"]) == ("share", {"sigma": pytest.approx(7 * 32 / 483)})
    with Image.open(tmp_path / "out.png") as image:
        expected = degradations.apply(Image.open(scan), "gaussian_blur", severity=2, lengths="share")
        assert image.tobytes() == expected.tobytes()
    other = run(*asked, "--existing", "skip")
    assert other.exit_code == 1 and "modality, lengths ['gaussian_blur', 2, None, 0, None, 'share']" in other.stderr
    result = run("preview", scan, "-o", tmp_path, "--name", "gaussian_blur", "--lengths", "share")
    assert "Lengths are the same share of each image" in (tmp_path / "preview.html").read_text("utf-8")


def test_preview_of_ones_own_image(run, scan, tmp_path):
    names = ("gaussian_noise", "gaussian_blur")
    chosen = [part for name in names for part in ("--name", name)]
    result = run("preview", scan, "-o", tmp_path / "out", "--modality", "xray", *chosen)
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines() == [str(tmp_path / "out" / f"preview.{kind}") for kind in ("png", "html")]
    text = (tmp_path / "out" / "preview.html").read_text(encoding="utf-8")
    assert text.count("<img ") == 1 + 2 * len(names)
    assert len(re.findall(r"PSNR \d+\.\d dB, SSIM \d\.\d\d", text)) == 2 * len(names)
    assert all(f"{name} L{level}" in text for name in names for level in (1, 2))
    assert Image.open(tmp_path / "out" / "preview.png").size[0] > 500


def test_preview_names_a_bad_file_and_goes_on(run, scan, tmp_path):
    """It stopped at the first file that could not be read, and its message named no file."""
    (tmp_path / "cut.png").write_bytes(scan.read_bytes()[:200])
    other = scan.with_name("other.png")
    Image.open(scan).save(other)
    files = [scan, tmp_path / "cut.png", tmp_path / "none.png", other]
    result = run("preview", *files, "-o", tmp_path / "out", "--name", "exposure")
    assert result.exit_code == 1 and result.exception.__class__ is SystemExit
    told = result.stderr.splitlines()
    assert [line.split(":")[0] for line in told] == [str(files[1]), str(files[2])]
    text = (tmp_path / "out" / "preview.html").read_text(encoding="utf-8")
    assert re.findall("<h2>([^<]*)</h2>", text) == ["scan.png", "other.png"]
    assert "Not shown: cut.png, none.png" in text


def test_the_curves_in_the_docs_are_what_the_command_draws(run, tmp_path):
    text = (Path(__file__).parents[2] / "docs" / "degrade_pictures.md").read_text("utf-8")
    [command] = re.findall(r"^lmms-medtasks (preview --curve .*) -o curve/$", text, re.MULTILINE)
    result = run(*command.split(), "-o", tmp_path)
    assert result.exit_code == 0, result.output
    drawn = re.findall(r"PSNR ([\d.]+) dB", (tmp_path / "preview.html").read_text("utf-8"))
    rows = re.findall(r"^\| \w+ \|((?: \d+\.\d \|){6})$", text, re.MULTILINE)
    shown = [float(value) for row in rows for value in re.findall(r"[\d.]+", row)]
    assert len(shown) == 18
    assert [float(value) for value in drawn] == pytest.approx(shown, abs=0.11)


def test_preview_of_a_curve(run, scan, tmp_path):
    result = run("preview", scan, "-o", tmp_path / "out", "--name", "gaussian_blur", "--curve")
    assert result.exit_code == 0, result.output
    text = (tmp_path / "out" / "preview.html").read_text(encoding="utf-8")
    shown = re.findall(r"<figcaption>gaussian_<wbr>blur (\S+?)<", text)
    assert shown == ["0.5", "L1", "1.5", "L2", "2.5", "3"]
    decibels = [float(number) for number in re.findall(r"PSNR (\d+\.\d) dB", text)]
    assert len(decibels) == 6 and sorted(decibels, reverse=True) == decibels
    assert text.count("<polyline") == 1


def test_preview_mistakes(run, scan, tmp_path):
    for arguments, message in (
        ([tmp_path / "none.png"], "None of the 1 files"),
        ([scan, "--modality", "MRI", "--name", "sparse_view"], "only for CT"),
        ([scan, "--name", "blr"], "Unknown degradation"),
        ([scan, "-o", scan], "is a file"),
    ):
        result = run("preview", *(["-o", tmp_path / "out"] if "-o" not in arguments else []), *arguments)
        assert isinstance(result.exception, UserError) and message in str(result.exception), arguments
