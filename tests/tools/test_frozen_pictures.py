"""Which pages are taken, and what is found wrong in them."""

import json

from PIL import Image

from tools.frozen_pictures import MANY, collisions, differing, faults, main, model_name, pages


def text(x, y, **more):
    return {"text": f"{x} {y}", "x": x, "y": y, "w": 40, "h": 15, "size": 12.0, "cut": "", **more}


def test_pages_and_models_have_names_of_their_own():
    names = [page.name for page in pages()]
    assert len(set(names)) == len(names) > 20
    assert len({model_name(number) for number in range(MANY)}) == MANY


def test_texts_that_touch_do_not_collide():
    assert collisions([text(0, 0), text(40, 0), text(0, 14)]) == []
    assert collisions([text(0, 0), text(30, 5)]) == [("0 0", "30 5")]


def test_what_is_small_cut_and_too_wide_is_counted():
    chart = {"title": "", "texts": [text(0, 0, size=11.0), text(0, 30, cut="cut"), text(0, 60, cut="scrolls")]}
    found = faults({"charts": [chart], "words": [text(0, 0, broken=["wo"])], "wide": 400, "width": 390})
    assert {kind: len(each) for kind, each in found.items() if each} == {
        "small": 1, "cut": 1, "scrolls": 1, "broken": 1, "too wide": 1
    }  # fmt: skip


def test_pairs_are_unlabelled_and_those_that_are_the_same_are_left_out(tmp_path, capsys):
    for side, shade in (("before", "white"), ("after", "black")):
        (tmp_path / side).mkdir()
        Image.new("RGB", (30, 30), "white").save(tmp_path / side / "same.png")
        Image.new("RGB", (30, 30), shade).save(tmp_path / side / "moved.png")
    Image.new("RGB", (30, 30)).save(tmp_path / "after" / "new.png")
    assert main(["pair", *(str(tmp_path / each) for each in ("before", "after", "pairs"))]) == 0
    assert sorted(path.name for path in (tmp_path / "pairs").iterdir()) == ["moved.left.png", "moved.right.png"]
    key = json.loads((tmp_path / "pairs_key.json").read_text())
    with Image.open(tmp_path / "pairs" / "moved.left.png") as left:
        assert (left.getpixel((0, 0)) == (0, 0, 0)) == (key["pairs"]["moved"]["left"] == "after")
    assert key["only_after"] == ["new.png"]
    assert "1 pairs, 1 the same" in capsys.readouterr().out


def test_rows_that_one_picture_lacks_count():
    one, other = Image.new("RGB", (10, 20)), Image.new("RGB", (10, 25))
    assert differing(one, one.copy()) == (0, 0)
    assert differing(one, other)[0] == 50
