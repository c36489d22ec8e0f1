"""A set on disk: the release's form (benchmark_refined/all_tasks.jsonl and pictures) beside manifest.json."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from lmms_medtasks.errors import UserError
from lmms_medtasks.grids import checking, leaks
from lmms_medtasks.grids.build_grids import Item
from lmms_medtasks.grids.tasks import ROOT
from lmms_medtasks.progress import bar

MANIFEST_VERSION = 1


@dataclass(frozen=True)
class Written:
    """Where a set is, its rows of the leak check (empty if unchecked), and whether it was refused for a leak."""

    folder: Path
    items: int
    tasks: int
    rows: list[leaks.Row]
    refused: bool


def write(
    items: Iterable[Item],
    out: Path,
    *,
    settings: Mapping[str, Any],
    total: int,
    check: bool = True,
    keep_leaks: bool = False,
    force: bool = False,
    alpha: float = leaks.ALPHA,
) -> Written:
    """Write ``items`` (``total`` of them) to the folder ``out``, whole or not at all.

    They are written to OUT.part first; what an interrupted run left there is thrown away. A set whose leak check finds
    a leak becomes OUT.refused, unless ``keep_leaks``. ``force`` replaces an earlier set of ours in ``out``.

    Raises:
        UserError: ``out`` is there already (and is no set of ours, or ``force`` is not given), or cannot be written.
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
            _write_json(part / checking.MANIFEST, manifest)
            rows = checking.check(part, alpha=alpha) if check else []
            manifest["leak_check"] = {"alpha": alpha, "rows": [row.to_json() for row in rows]} if check else None
            _write_json(part / checking.MANIFEST, manifest)
            refused = any(row.leak for row in rows) and not keep_leaks
            target = out.with_name(out.name + ".refused") if refused else out
            _replace(part, target)
        finally:
            shutil.rmtree(part, ignore_errors=True)
    except OSError as error:
        raise UserError(f"The set cannot be written to {out}: {error.strerror or error}.") from error
    return Written(target, len(records), tasks, rows, refused)


def check_target(out: Path, force: bool) -> None:
    """UserError unless a set may be written to ``out``."""
    if not out.exists():
        return
    if not out.is_dir() or (any(out.iterdir()) and not (out / checking.MANIFEST).is_file()):
        raise UserError(f"{out} is there already and is no set of generated grids: it is left alone. Choose another.")
    if any(out.iterdir()) and not force:
        raise UserError(f"{out} holds a set already. Choose another folder, or replace it with --force.")


def _write_all(items: Iterable[Item], part: Path, total: int) -> tuple[int, list[dict[str, Any]]]:
    records, tasks = [], 0
    with (part / checking.TASKS).open("w", encoding="utf-8") as lines, bar(total, "Building", "items") as step:
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


def _replace(part: Path, target: Path) -> None:
    """Put ``part`` where ``target`` is; an earlier set there goes only when the new one is whole."""
    if target.exists():
        old = target.with_name(target.name + ".old")
        shutil.rmtree(old, ignore_errors=True)
        os.replace(target, old)
        os.replace(part, target)
        shutil.rmtree(old, ignore_errors=True)
    else:
        os.replace(part, target)
