"""Files that cells name: what finds them, what leads out of the folder, and which options are proposed."""

import unicodedata

import datasets
import pytest

from lmms_medtasks.data.adapter import from_columns
from lmms_medtasks.data.picture_files import PictureFiles, PicturePlace, describe_places
from lmms_medtasks.errors import UserError
from lmms_medtasks.pictures import image_id


def folder_with(tmp_path, *names):
    """A folder with files of these names, each holding its own name."""
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(name.encode())
    return tmp_path


def adapted(folder, images, **columns):
    """The documents of a table with these cells in the column ``image``."""
    data = {"image": images, "question": ["q"] * len(images), "answer": ["x"] * len(images)}
    return from_columns(**columns).in_folder(folder)(datasets.Dataset.from_dict(data))


@pytest.mark.parametrize(
    ("names", "texts", "places"),
    [
        (["imgs/a/s.jpg", "imgs/b/s.jpg"], ["a/s.jpg", "b/s.jpg"], [("imgs", ())]),
        (["images/a.jpg", "images/b.jpg"], ["a", "b"], [("images", (".jpg",))]),
        (["a.png", "b.png", "1.png"], ["a", "b"], [("", (".png",))]),
        (["x/a.jpg", "x/b.png"], ["a", "b"], [("x", (".jpg", ".png"))]),
        (["x/a.jpg", "x/a.png", "x/b.jpg", "x/b.png"], ["a", "b"], [("x", (".jpg",)), ("x", (".png",))]),
        (["images/a.jpg", "masks/a.jpg"], ["a.jpg"], [("images", ()), ("masks", ())]),
        (["x/a.jpg", "y/b.jpg"], ["a.jpg", "b.jpg"], []),
        (["x/a.jpg"], ["a.jpg", "b.jpg"], []),
        (["x/a.txt", "x/.a.jpg", ".git/a.jpg", "x/aa.jpg"], ["a"], []),
        (["Image Folder/a.jpg"], ["a.jpg"], [("Image Folder", ())]),
    ],
)
def test_a_place_is_proposed_where_it_fits_all_names(names, texts, places, tmp_path):
    suggested = PictureFiles(folder_with(tmp_path, *names)).suggest_places(texts)
    assert suggested == [PicturePlace(*place, len(texts)) for place in places]
    for place in suggested:
        files = PictureFiles(tmp_path, place.folder, place.endings)
        assert all(files.find_file(text) for text in texts)


def test_a_proposal_is_typed_as_it_stands():
    places = [PicturePlace("Image Folder", (".jpg", ".png"), 3), PicturePlace("", (".jpg",), 3)]
    assert describe_places(places, "img_id") == (
        "Say --image img_id --images-in 'Image Folder' --image-ending .jpg,.png or --image img_id --image-ending .jpg "
        '(in adapter.py: image="img_id", images_in="Image Folder", image_ending=[".jpg", ".png"] or image="img_id", '
        'image_ending=".jpg")'
    )


def test_missing_images_are_one_message_with_the_options_that_find_them(tmp_path):
    folder_with(tmp_path, *(f"imgs/{number}.jpg" for number in range(30)))
    cells = [f"{number}.jpg" for number in range(30)]
    with pytest.raises(UserError) as error:
        adapted(tmp_path, cells)
    assert str(error.value).count("no file") == 1 and "row 1" in str(error.value)
    assert "29 more name none" in str(error.value) and 'Say --images-in imgs (in adapter.py: images_in="imgs")' in str(
        error.value
    )
    assert adapted(tmp_path, cells, images_in="imgs")["image_id"][29] == image_id([b"imgs/29.jpg"])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        *(
            ({"images_in": each}, "leads out of the task's folder")
            for each in ("../x", "x/../..", "/x", "C:\\x", "..\\x")
        ),
        *(({"image_ending": each}, "expected one such as .jpg") for each in ("jpg", "/a.jpg", [".jpg", "png"])),
    ],
)
def test_a_place_that_is_none_is_refused(given, message):
    with pytest.raises(UserError, match=message):
        from_columns(**given)


@pytest.mark.parametrize(
    ("files", "images", "given", "message", "not_said"),
    [
        (["a.jpg", "imgs/b.jpg"], ["a.jpg", "b.jpg"], {}, "no file 'b.jpg'", "--images-in"),
        (["scan_01.jpg"], ["scan_02.jpg"], {}, "no file 'scan_02.jpg'", "Did you mean"),
        (["set_b/scan35.png"], ["scan05.png"], {}, "no file 'scan05.png'", "Did you mean"),
        (["images/a.jpg"], ["a.jpg"], {"images_in": "image"}, "no such folder.*Did you mean 'images'", "no file"),
    ],
)
def test_no_place_is_proposed_that_would_lose_images_or_show_others(tmp_path, files, images, given, message, not_said):
    folder_with(tmp_path, *files)
    with pytest.raises(UserError, match=message) as error:
        adapted(tmp_path, images, **given)
    assert not_said not in str(error.value)


def test_images_that_no_place_finds_all_of_are_counted(tmp_path):
    folder_with(tmp_path, *(f"{number % 2}/{number}.jpg" for number in range(4)))
    cells = [f"{number}.jpg" for number in range(4)]
    with pytest.raises(UserError, match=r"several folders \(0, 1\). Put them into one"):
        adapted(tmp_path, cells)
    folder_with(tmp_path, "0/4.jpg")
    with pytest.raises(UserError, match="--images-in 0 .*: with it 3 of 5 are found. 2 others lie in 1: put all"):
        adapted(tmp_path, [*cells, "4.jpg"])
    (tmp_path / "0" / "4.jpg").unlink()
    (tmp_path / "1" / "3.jpg").unlink()
    with pytest.raises(UserError, match="--images-in 0 .*: with it 2 of 4 are found"):
        adapted(tmp_path, cells)


def test_what_is_wrong_with_many_cells_is_told_once(tmp_path):
    cells = [f"../{number}.jpg" for number in range(9)] + [f"https://x.org/{number}.jpg" for number in range(9)]
    with pytest.raises(UserError) as error:
        adapted(tmp_path, cells)
    assert str(error.value).count("leads out of") == 1 and str(error.value).count("on the web") == 1
    assert str(error.value).count("So are 8 more.") == 2


def test_a_name_may_have_its_ending_already(tmp_path):
    folder_with(tmp_path, "x/a.jpg", "x/b.png")
    made = adapted(tmp_path, ["a.jpg", "b"], images_in="x", image_ending=[".jpg", ".png"])
    assert made["image_id"][:] == [image_id([b"x/a.jpg"]), image_id([b"x/b.png"])]


def test_two_stems_with_different_endings_are_asked_for(tmp_path):
    folder_with(tmp_path, "a.jpg", "a.png")
    with pytest.raises(UserError, match="'a' could be 'a.jpg' and 'a.png'"):
        adapted(tmp_path, ["a"], image_ending=[".jpg", ".png"])
    assert adapted(tmp_path, ["a"], image_ending=".png")["image_id"][0] == image_id([b"a.png"])


@pytest.mark.parametrize("link", ["file", "folder", "images_in"])
def test_links_out_of_the_folder_are_refused(link, tmp_path):
    folder_with(tmp_path, "out/a.jpg", "task/in.jpg")
    folder = tmp_path / "task"
    if link == "file":
        (folder / "a.jpg").symlink_to(tmp_path / "out" / "a.jpg")
    else:
        (folder / "x").symlink_to(tmp_path / "out")
    cell = {"file": "a.jpg", "folder": "x/a.jpg", "images_in": "a.jpg"}[link]
    with pytest.raises(UserError, match="row 2: .* is a link that leads out of the task's folder"):
        adapted(folder, [None, cell], images_in="x" if link == "images_in" else "")
    (folder / "b.jpg").symlink_to("in.jpg")
    assert adapted(folder, ["b.jpg"])["image_id"][0] == image_id([b"task/in.jpg"])


def test_names_that_differ_by_case_or_unicode_form_only_are_the_files_that_are_written_so(tmp_path):
    composed, decomposed = (unicodedata.normalize(form, "é.jpg") for form in ("NFC", "NFD"))
    names = ["a.jpg", "A.jpg", composed, decomposed]
    folder_with(tmp_path, *names)
    assert adapted(tmp_path, names)["image_id"][:] == [image_id([name.encode()]) for name in names]
    (tmp_path / composed).unlink()
    with pytest.raises(UserError, match="NFC and NFD"):
        adapted(tmp_path, [composed])
    with pytest.raises(UserError, match="Did you mean 'A.jpg'"):
        adapted(tmp_path, ["A.JPG"])
