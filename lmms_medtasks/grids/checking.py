"""The leak check of a written set: its pictures and its manifest are read, and tested."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmms_medtasks.errors import UserError
from lmms_medtasks.grid_positions import parse_size
from lmms_medtasks.grids import features, layout, leaks
from lmms_medtasks.grids.tasks import ROOT
from lmms_medtasks.progress import bar

if TYPE_CHECKING:
    from PIL.Image import Image

MANIFEST = "manifest.json"
TASKS = f"{ROOT}/all_tasks.jsonl"


def check(folder: Path, *, alpha: float = leaks.ALPHA) -> list[leaks.Row]:
    """The rows of the leak check of the set in ``folder``; see :mod:`lmms_medtasks.grids.leaks`.

    Raises:
        UserError: no set of ours (no manifest.json that says how its grids were made), or a file of it is missing or
            not what the manifest says.
    """
    manifest = read_manifest(folder)
    grids: list[leaks.Panels] = []
    wholes: list[leaks.Whole] = []
    positions: list[tuple[int, int]] = []
    entries = list(_grids(manifest))
    with bar(len(entries), "Looking for leaks", "grids") as step:
        for item, record in entries:
            size = parse_size(item["size"])
            whole = _opened(folder / ROOT / record["image"])
            panels = [
                features.of_panel(whole.crop(layout.panel_box(size, index, item["panel"])), panel)
                for index, panel in enumerate(record["panels"])
            ]
            wholes.append(leaks.Whole(_of_whole(folder / ROOT / record["image"], whole), record["outlier"] is not None))
            if record["outlier"] is not None:
                grids.append(leaks.Panels(panels, record["outlier"], item["kind"]))
                positions.append((record["outlier"], size.panels))
            step(1)
    return leaks.tested(grids, wholes, _questions(folder), positions, alpha=alpha)


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a generated set; UserError if there is none, or it is another kind of file."""
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(manifest["items"], list):
            raise TypeError("items is no list")
    except FileNotFoundError as error:
        raise UserError(
            f"{str(folder)!r} is no set of generated grids: it has no {MANIFEST}. The check needs to know where every "
            "panel came from; give a folder that `lmms-medtasks grids build` wrote."
        ) from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{path} is not a manifest of generated grids ({error!r}). Build the set again.") from error
    result: dict[str, Any] = manifest
    return result


def _grids(manifest: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    for item in manifest["items"]:
        for record in item["grids"]:
            yield item, record


def _opened(path: Path) -> Image:
    from lmms_medtasks import pictures

    try:
        return pictures.rgb8(pictures.opened(path.read_bytes()))
    except OSError as error:
        raise UserError(f"{path}, which the manifest names, cannot be read: {error.strerror or error}.") from error
    except UserError as error:
        raise UserError(f"{path}: {error}") from error


def _of_whole(path: Path, image: Image) -> dict[str, float]:
    pixels = features.measured(image)
    return {
        "grid file size": float(path.stat().st_size),
        "grid mean brightness": pixels.mean,
        "grid standard deviation": pixels.deviation,
    }


def _questions(folder: Path) -> list[tuple[str, str, bool]]:
    path = folder / TASKS
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        rows = [json.loads(line) for line in lines]
        return [(row["task_type"], row["question"], row["is_negative"]) for row in rows]
    except (OSError, ValueError, KeyError) as error:
        raise UserError(f"{path} cannot be read as the set's tasks: {error!r}. Build the set again.") from error
