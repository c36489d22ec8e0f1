"""Image cells: bytes, base64, paths, several of them; what is not there or ambiguous is refused with the reason."""

from __future__ import annotations

import base64
import json
import zipfile

import pytest

from lmms_medtasks.data.release_images import ImageCells, StoredImages
from lmms_medtasks.data.releases import LocalRelease
from lmms_medtasks.data.row_reader import RejectedRow


@pytest.fixture
def cells(tmp_path, png):
    folder = tmp_path / "release"
    (folder / "data" / "imgs").mkdir(parents=True)
    for number in range(3):
        (folder / "data" / "imgs" / f"{number}.png").write_bytes(png(number))
    (folder / "other").mkdir()
    (folder / "other" / "7.png").write_bytes(png(7))
    (folder / "other" / "case 1, left.png").write_bytes(png(3))
    with zipfile.ZipFile(folder / "more.zip", "w") as zipped:
        zipped.writestr("pictures/9.png", png(9))
    return ImageCells(LocalRelease(folder))


TABLE = "data/cases.csv"


def test_nothing_is_no_image(cells):
    assert cells.images([None, "", " ", []], TABLE) == []


def test_bytes_and_base64(cells, png):
    code = base64.b64encode(png(1, 40)).decode()
    in_lines = base64.encodebytes(png(1, 40)).decode()
    given = [png(0), {"bytes": png(0), "path": "x.png"}, code, f"data:image/png;base64,{code}", in_lines]
    assert in_lines.count("\n") > 1 and cells.images(given, TABLE) == [png(0), png(0), *[png(1, 40)] * 3]


@pytest.mark.parametrize(
    ("cell", "numbers"),
    [
        ("imgs/1.png", [1]),  # beside the table
        ("data/imgs/1.png", [1]),  # from the top
        ("./imgs\\1.png", [1]),
        ("7.png", [7]),  # the only one that ends so
        ("9.png", [9]),  # in a zip
        ({"bytes": None, "path": "imgs/2.png"}, [2]),
        ("imgs/0.png; imgs/1.png", [0, 1]),
        ("case 1, left.png", [3]),  # a name with a comma
        ("imgs/0.png,imgs/1.png\nimgs/2.png", [0, 1, 2]),
        (json.dumps(["imgs/2.png", "imgs/0.png"]), [2, 0]),
        ("['imgs/2.png', 'imgs/0.png']", [2, 0]),
        (["imgs/2.png", {"bytes": None, "path": "7.png"}], [2, 7]),
        ("Imgs/1", [1]),  # another case, no ending
        ("imgs/1.PNG", [1]),
        (7, [7]),
        ("other/7; imgs/0", [7, 0]),
        ("Pictures/9", [9]),
    ],
)
def test_paths(cells, png, cell, numbers):
    assert cells.images([cell], TABLE) == [png(number) for number in numbers]


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("imgs/5.png", "is not in the source folder"),
        ("../secret.png", "not inside the release"),
        ("/etc/passwd.png", "not inside the release"),
        (5, "'5': '5' is not in the source folder"),
        (5.5, "neither bytes, base64 nor a path"),
        ("%" * 100, "no base64"),
        (f"{'x' * 300}.png", "cannot be read: File name too long"),
    ],
)
def test_what_is_refused(cells, cell, said):
    with pytest.raises(RejectedRow, match=said):
        cells.images([cell], TABLE)


def test_a_named_image_that_no_path_can_be_is_refused(tmp_path):
    (tmp_path / "cases.csv").touch()
    with pytest.raises(RejectedRow, match="^image_path 'x{200}' cannot be read: File name too long"):
        StoredImages(LocalRelease(tmp_path), "image_path").read(f"{'x' * 300}.png")


def test_two_files_of_one_name_are_ambiguous(cells, tmp_path, png):
    (tmp_path / "release" / "data" / "7.png").write_bytes(png(8))
    (tmp_path / "release" / "third").mkdir()
    with pytest.raises(RejectedRow, match="in 2 places: data/7.png, other/7.png"):
        cells.images(["7.png"], "third/cases.csv")


def test_a_name_that_two_files_may_have_is_refused_with_the_way_out(tmp_path, png):
    """Sites number their images alike: none is guessed."""
    for site in ("Ankle", "Knee"):
        (tmp_path / site).mkdir()
        (tmp_path / site / "1.jpg").write_bytes(png(1))
    cells = ImageCells(LocalRelease(tmp_path))
    assert cells.images(["Ankle/1"], TABLE) == [png(1)] and cells.missing(["1", "Hip/1"], TABLE) == ["Hip/1"]
    for name in ("1", "1.JPG"):
        with pytest.raises(RejectedRow, match="is in 2 places: Ankle/1.jpg, Knee/1.jpg. Write the folder and the"):
            cells.images([name], TABLE)
