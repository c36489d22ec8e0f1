#!/usr/bin/env python3
"""Take the README's picture of a report's first screen, 1440 wide, of a run on the mini data. It needs chromium.

These tasks and no other: with medq_deg beside its levels the numbers are not those that the README's text names.

MEDTASKS_DATA=mini lmms-medtasks run --model medtasks_observer --output_path runs/all \\
    --tasks bones_joints,med_cmr,medobvious,medq_deg_levels,sure_vqa
python tools/make_report_picture.py runs/all [docs/report.png]
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image, ImageChops

from lmms_medtasks.report import ReportOptions, build_report
from lmms_medtasks.report.report_page import render_html

WIDTH, HEIGHT = 1440, 1200
COLOURS = 256
_ONLY_FIRST = "main, footer { display: none !important }</style>"


def main() -> None:
    run = Path(sys.argv[1])
    target = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(__file__).parents[1] / "docs" / "report.png"
    text = render_html(build_report([run], ReportOptions())).replace("</style>", _ONLY_FIRST, 1)
    with TemporaryDirectory() as folder:
        source, taken = Path(folder) / "report.html", Path(folder) / "taken.png"
        source.write_text(text, encoding="utf-8")
        options = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            f"--window-size={WIDTH},{HEIGHT}",
        ]
        command = ["chromium", *options, f"--screenshot={taken}", source.as_uri()]
        subprocess.run(command, check=True, capture_output=True)
        with Image.open(taken) as picture:
            cropped(picture.convert("RGB")).quantize(COLOURS).save(target, optimize=True)


def cropped(picture: Image.Image) -> Image.Image:
    """The picture without the empty rows at its end but for a small margin; the last row is taken for empty."""
    empty = Image.new("RGB", picture.size, picture.getpixel((0, picture.height - 1)))
    box = ImageChops.difference(picture, empty).getbbox()
    bottom = min(box[3] + 24, picture.height) if box else picture.height
    return picture.crop((0, 0, picture.width, bottom))


if __name__ == "__main__":
    main()
