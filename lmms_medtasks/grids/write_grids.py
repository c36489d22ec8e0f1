"""A set on disk: the release's form (benchmark_refined/all_tasks.jsonl and pictures) beside manifest.json.

A written set is read again for its leak check.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmms_medtasks.errors import UserError
from lmms_medtasks.grid_positions import parse_size
from lmms_medtasks.grids import leaks
from lmms_medtasks.grids.build_grids import GridItem
from lmms_medtasks.grids.panels import panel_box
from lmms_medtasks.grids.tasks import ROOT
from lmms_medtasks.progress import progress_bar

if TYPE_CHECKING:
    from PIL.Image import Image

MANIFEST_VERSION = 1


@dataclass(frozen=True)
class WrittenGridSet:
    """Where a set is, its rows of the leak check (empty if unchecked), and whether it was refused for a leak."""

    folder: Path
    _: KW_ONLY
    items: int
    tasks: int
    rows: list[leaks.LeakTest]
    refused: bool


def write_grid_set(
    items: Iterable[GridItem],
    out: Path,
    *,
    settings: Mapping[str, Any],
    total: int,
    check: bool = True,
    keep_leaks: bool = False,
    force: bool = False,
    alpha: float = leaks.ALPHA,
) -> WrittenGridSet:
    """Write ``items`` (``total`` of them) to the folder ``out``, whole or not at all.

    They are written to OUT.part first; what an interrupted run left there is thrown away. A set whose leak check finds
    a leak becomes OUT.refused, unless ``keep_leaks``. ``force`` replaces an earlier set of ours in ``out``.

    Raises UserError for an ``out`` that cannot be written, or exists and may not be replaced.
    """
    check_target(out, force)
    part = out.with_name(out.name + ".part")
    try:
        shutil.rmtree(part, ignore_errors=True)
        (part / ROOT).mkdir(parents=True)
        try:
            tasks, records = _write_all(items, part, total)
            manifest: dict[str, Any] = {
                "manifest_version": MANIFEST_VERSION,
                "lmms_medtasks": metadata.version("lmms-medtasks"),
                "settings": dict(settings),
                "items": records,
            }
            _write_json(part / MANIFEST, manifest)
            rows = check_set(part, alpha=alpha) if check else []
            manifest["leak_check"] = {"alpha": alpha, "rows": [row.to_json() for row in rows]} if check else None
            _write_json(part / MANIFEST, manifest)
            refused = any(row.leak for row in rows) and not keep_leaks
            target = out.with_name(out.name + ".refused") if refused else out
            _replace_folder(part, target)
        finally:
            shutil.rmtree(part, ignore_errors=True)
    except OSError as error:
        raise UserError(f"The set cannot be written to {out}: {error.strerror or error}.") from error
    return WrittenGridSet(target, items=len(records), tasks=tasks, rows=rows, refused=refused)


def check_target(out: Path, force: bool) -> None:
    """UserError unless a set may be written to ``out``."""
    if not out.exists():
        return
    if not out.is_dir() or (any(out.iterdir()) and not (out / MANIFEST).is_file()):
        raise UserError(f"{out} is there already and is no set of generated grids: it is left alone. Choose another.")
    if any(out.iterdir()) and not force:
        raise UserError(f"{out} holds a set already. Choose another folder, or replace it with --force.")


def _write_all(items: Iterable[GridItem], part: Path, total: int) -> tuple[int, list[dict[str, Any]]]:
    records, tasks = [], 0
    with (part / TASKS).open("w", encoding="utf-8") as lines, progress_bar(total, "Building", "items") as step:
        for item in items:
            for name, data in item.images.items():
                path = part / ROOT / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
            for task in item.tasks:
                lines.write(json.dumps(task, ensure_ascii=False) + "\n")
            tasks += len(item.tasks)
            records.append(item.record)
            step(1)
    return tasks, records


def _write_json(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _replace_folder(part: Path, target: Path) -> None:
    """Put ``part`` where ``target`` is; an earlier set there goes only when the new one is whole."""
    if target.exists():
        old = target.with_name(target.name + ".old")
        shutil.rmtree(old, ignore_errors=True)
        os.replace(target, old)
        os.replace(part, target)
        shutil.rmtree(old, ignore_errors=True)
    else:
        os.replace(part, target)


MANIFEST = "manifest.json"
TASKS = f"{ROOT}/all_tasks.jsonl"


def check_set(folder: Path, *, alpha: float = leaks.ALPHA) -> list[leaks.LeakTest]:
    """The rows of the leak check of the set in ``folder``; see :mod:`lmms_medtasks.grids.leaks`.

    Raises UserError if the folder has no manifest.json of ours, or lacks a file that the manifest names.
    """
    manifest = read_manifest(folder)
    grids: list[leaks.PanelFeatures] = []
    wholes: list[leaks.GridFeatures] = []
    entries = [(item, record) for item in manifest["items"] for record in item["grids"]]
    with progress_bar(len(entries), "Looking for leaks", "grids") as step:
        for item, record in entries:
            size = parse_size(item["size"])
            whole = _open_image(folder / ROOT / record["image"])
            panels = [
                leaks.measure_panel(whole.crop(panel_box(size, index, item["panel"])), panel)
                for index, panel in enumerate(record["panels"])
            ]
            wholes.append(
                leaks.GridFeatures(_measure_grid(folder / ROOT / record["image"], whole), record["outlier"] is not None)
            )
            if record["outlier"] is not None:
                grids.append(leaks.PanelFeatures(panels, record["outlier"], item["kind"]))
            step(1)
    return leaks.run_leak_tests(grids, wholes, _read_questions(folder), alpha=alpha)


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a generated set; UserError if there is none, or it is another kind of file."""
    path = folder / MANIFEST
    try:
        manifest: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(manifest["items"], list):
            raise TypeError("items is no list")
    except FileNotFoundError as error:
        raise UserError(
            f"{str(folder)!r} is no set of generated grids: it has no {MANIFEST}. The check needs to know where every "
            "panel came from; give a folder that `lmms-medtasks grids build` wrote."
        ) from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{path} is not a manifest of generated grids ({error!r}). Build the set again.") from error
    return manifest


def _open_image(path: Path) -> Image:
    from lmms_medtasks import pictures

    return pictures.to_rgb8(pictures.open_image(path, f"The manifest's image {path}"))


def _measure_grid(path: Path, image: Image) -> dict[str, float]:
    pixels = leaks.measure_pixels(image)
    return {
        "grid file size": float(path.stat().st_size),
        "grid mean brightness": pixels.mean,
        "grid standard deviation": pixels.deviation,
    }


def _read_questions(folder: Path) -> list[tuple[str, str, bool]]:
    path = folder / TASKS
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        rows = [json.loads(line) for line in lines]
        return [(row["task_type"], row["question"], row["is_negative"]) for row in rows]
    except (OSError, ValueError, KeyError) as error:
        raise UserError(f"{path} cannot be read as the set's tasks: {error!r}. Build the set again.") from error
