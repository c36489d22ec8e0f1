"""What a model gets of a task's pictures that their owner may not expect: windows, turns, sizes, one colour."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lmms_medtasks import pictures
from lmms_medtasks.contribute.loaded import Loaded
from lmms_medtasks.data import picture_checks
from lmms_medtasks.data.documents import images_of
from lmms_medtasks.task_yaml.problems import Findings

LOOKED_AT = 100
"""Pictures that are looked at, the first ones."""
SMALLEST = 28
"""Pixels of the shorter side that Qwen2-VL and its kin need."""
_ORIENTATION = 0x0112

_MESSAGES = {
    "window": "have more than 8 bits and state no window: each is shown from its own darkest to its own brightest "
    "value. State the window in the files: WindowCenter and WindowWidth (DICOM fields, texts of a PNG)",
    "turned": "say in their EXIF data that they are to be turned: models get them as they are stored. Turn the pixels "
    "themselves",
    "small": f"have a side of fewer than {SMALLEST} pixels: several models refuse them",
    "plain": "show one colour and nothing else, as after an export that failed",
}


def check(task: Loaded, found: Findings) -> None:
    """Warn of what is found among the first pictures of a task on a template."""
    rows = picture_checks.encoded(task.documents)
    if rows is None or task.settings.get("no_image"):
        return
    ids: dict[str, list[str]] = {kind: [] for kind in _MESSAGES}
    count = 0
    for name, picture in _first(rows, list(task.documents["id"][:])):
        count += 1
        for kind in _kinds(picture):
            ids[kind].append(name)
    for kind, named in ids.items():
        if named:
            message = f"{len(named)} of {count} images looked at (question {named[0]!r} first) {_MESSAGES[kind]}"
            found.add(task.path, message, key="pictures", level="warning")


def _first(rows: Any, ids: list[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    left = LOOKED_AT
    for number, row in enumerate(rows):
        for picture in images_of(row)[:left]:
            left -= 1
            yield str(ids[number]), picture
        if left <= 0:
            return


def _kinds(picture: Mapping[str, Any]) -> list[str]:
    """Which of the messages are true of an encoded picture that decodes."""
    from PIL import Image

    data = picture.get("bytes") or Path(str(picture["path"])).read_bytes()
    with Image.open(io.BytesIO(data)) as image:
        image.load()
        view = image.info.get(pictures.SHOWN_AS, "")
        wide = image.mode in pictures.WIDE_MODES and "WindowCenter" not in image.info
        wide = wide and image.getextrema()[1] <= pictures.FULL_WINDOW[1] // 2
        extremes = image.getextrema()
        bands = extremes if isinstance(extremes[0], tuple) else (extremes,)
        facts = {
            "window": wide or "own smallest" in view,
            "turned": image.getexif().get(_ORIENTATION, 1) not in (0, 1),
            "small": min(image.size) < SMALLEST,
            "plain": image.mode != "P" and all(low == high for low, high in bands),
        }
    return [kind for kind, true in facts.items() if true]
