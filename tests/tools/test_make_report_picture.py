"""The README's picture of a report's first screen."""

from pathlib import Path

from PIL import Image, ImageDraw

from tools.make_report_picture import WIDTH, cropped

SHOWN = Path(__file__).parents[2] / "docs" / "report.png"


def test_picture_is_as_wide_as_a_screen_and_small():
    with Image.open(SHOWN) as shown:
        assert shown.width == WIDTH
        assert shown.height < 1000
    assert SHOWN.stat().st_size < 250_000


def test_empty_rows_at_the_end_are_cut_off():
    picture = Image.new("RGB", (40, 300), "white")
    ImageDraw.Draw(picture).rectangle((5, 10, 20, 99), "black")
    assert cropped(picture).size == (40, 124)
