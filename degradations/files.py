"""Image files in, degraded image files out: formats, names, several processes, and what to do with bad files."""

from __future__ import annotations

import json
import multiprocessing
import os
import warnings
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import KW_ONLY, dataclass, replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from PIL import Image, PngImagePlugin

from lmms_medtasks import degradations
from lmms_medtasks.degradations import own, own_modalities
from lmms_medtasks.degradations.base import is_custom_degradation
from lmms_medtasks.degradations.threads import thread_count
from lmms_medtasks.errors import UserError, unknown_name_error
from lmms_medtasks.pictures import WindowWarning, open_image, shown_as, window_info
from lmms_medtasks.progress import progress_bar
from lmms_medtasks.writing import atomic_write

KEPT_FORMATS = {".png": "PNG", ".tif": "TIFF", ".tiff": "TIFF", ".bmp": "BMP"}
"""Formats without loss, by suffix: a file in one of them stays in it."""

EXISTING = ("refuse", "overwrite", "skip")

_TIFF_MODES = ("CMYK", "F")  # what PNG cannot hold
_TIFF_DESCRIPTION = 270
_FEW = 4  # files for which starting processes does not pay


@dataclass(frozen=True)
class FileDegradation:
    """What to apply to every file; see :func:`lmms_medtasks.degradations.apply`. ``vary``: a seed for each file."""

    name: str
    severity: int | None = None
    _: KW_ONLY
    seed: int | str = 0
    modality: str | None = None
    force: bool = False
    vary: bool = False
    strength: float | None = None

    def checked(self) -> FileDegradation:
        """The order in canonical names and plain numbers. Raises UserError if it is wrong; no file is open yet."""
        level = degradations.check_level(self.severity, self.strength)
        if is_custom_degradation(self.name) and level:
            own.get(degradations.canonical_name(self.name)).check_strength(level)
        return replace(
            self,
            name=degradations.canonical_name(self.name),
            severity=None if self.severity is None else int(self.severity),
            strength=None if self.strength is None else float(self.strength),
            seed=degradations.check_seed(self.seed),
            modality=degradations.check_modality(self.name, self.modality, self.force),
        )


@dataclass(frozen=True)
class FolderOutcome:
    """``records``: what was applied to each written file; ``problems``: files that failed, and why."""

    records: list[dict[str, Any]]
    problems: list[tuple[Path, str]]
    skipped: int

    def __add__(self, other: FolderOutcome) -> FolderOutcome:
        problems = [*self.problems, *other.problems]
        return FolderOutcome([*self.records, *other.records], problems, self.skipped + other.skipped)


@dataclass(frozen=True)
class _Job:
    source: Path
    stem: Path  # where to write, without the suffix that depends on the image's mode
    suffix: str
    label: str  # the file's path within its folder
    order: FileDegradation
    existing: str


def degrade_files(
    source: Path,
    output: Path,
    order: FileDegradation,
    *,
    pattern: str = "*",
    workers: int = 0,
    existing: str = "refuse",
) -> FolderOutcome:
    """Degrades the file ``source``, or every file of the folder, into ``output``; hidden files are left out.

    ``workers``: processes, 0 for one a core. ``existing``: "refuse", "overwrite" or "skip" files that are there. Every
    file is written whole or not at all, so an interrupted run is resumed with "skip".

    Raises UserError for a wrong order, a missing input, an output that would become input, or a lossy output format.
    """
    order = order.checked()
    if existing not in EXISTING:
        raise unknown_name_error("way with existing files", existing, EXISTING)
    jobs = _plan_jobs(source, output, order, pattern, existing)
    records, problems, skipped = [], [], 0
    with progress_bar(len(jobs), degradations.title(order.name), "image") as step:
        for job, result in zip(jobs, _iter_results(jobs, workers), strict=True):
            if isinstance(result, str):
                problems.append((job.source, result))
            elif result is None:
                skipped += 1
            else:
                records.append(result)
            step(1)
    return FolderOutcome(records, problems, skipped)


def _plan_jobs(source: Path, output: Path, order: FileDegradation, pattern: str, existing: str) -> list[_Job]:
    if not source.exists():
        raise UserError(f"There is no file or folder {source}.")
    if source.is_file():
        inside = output.is_dir() or not output.suffix
        target = output / source.name if inside else output
        if not inside and output.suffix.lower() not in KEPT_FORMATS:
            raise UserError(
                f"{output.name!r} would be compressed with loss, which degrades the image again. Give a name that ends "
                f"in {', '.join(KEPT_FORMATS)}, or a folder."
            )
        if target.resolve() == source.resolve():
            raise UserError(f"{target} is the input itself. Give another --output.")
        return [_Job(source, target.with_suffix(""), target.suffix, source.name, order, existing)]
    if output.resolve() == source.resolve() or source.resolve() in output.resolve().parents:
        raise UserError(f"The output {output} is inside of the input {source}: it would be degraded next time.")
    if output.is_file():
        raise UserError(f"{source} is a folder, so the output must be one too; {output} is a file.")
    return list(_iter_folder_jobs(source, output, order, pattern, existing))


def _iter_folder_jobs(
    source: Path, output: Path, order: FileDegradation, pattern: str, existing: str
) -> Iterator[_Job]:
    files = [path.relative_to(source) for path in sorted(source.rglob("*")) if path.is_file()]
    files = [p for p in files if fnmatch(p.name, pattern) and not any(part.startswith(".") for part in p.parts)]
    if not files:
        raise UserError(f"There is no file that matches {pattern!r} in {source}.")
    for path, unique in zip(files, _unique_stems(files), strict=True):
        label = path.as_posix()
        one = replace(order, seed=f"{order.seed}/{label}") if order.vary else order
        yield _Job(source / path, output / unique, path.suffix, label, one, existing)


def _unique_stems(files: list[Path]) -> list[Path]:
    """Where to write, without suffix. Of files that become PNG, the suffix joins a name that another has: a.jpg.png."""
    taken = Counter(path.with_suffix("") for path in files)
    stems = []
    for path in files:
        stem = path.with_suffix("")
        if path.suffix.lower() not in KEPT_FORMATS and taken[stem] > 1:
            stem = path
            while taken[stem]:
                stem = stem.with_name(stem.name + path.suffix)
            taken[stem] += 1
        stems.append(stem)
    return stems


def _iter_results(jobs: list[_Job], workers: int) -> Iterator[dict[str, Any] | str | None]:
    processes = min(workers or thread_count(), len(jobs))
    if processes == 1 or (not workers and len(jobs) < _FEW):
        yield from map(_run_job, jobs)
        return
    # Started afresh, not forked: a fork of a process with threads may hang.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(
        processes, mp_context=context, initializer=_begin_worker, initargs=(own_modalities.list_given_modalities(),)
    ) as pool:
        try:
            yield from pool.map(_run_job, jobs)
        except BrokenProcessPool as error:
            raise UserError(
                "A worker process was ended from outside, perhaps for want of memory. What is written is whole: go on "
                "with --existing skip and fewer --workers."
            ) from error
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _begin_worker(modalities: tuple[own_modalities.Modality, ...]) -> None:
    os.environ["OMP_NUM_THREADS"] = "1"
    for modality in modalities:
        own_modalities.add_modality(modality)


def _run_job(job: _Job) -> dict[str, Any] | str | None:
    """The record of a written file, None for one that is there already, or what went wrong."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", WindowWarning)  # the record says so
            return _degrade_file(job)
    except UserError as error:
        return str(error)
    except OSError as error:
        return f"It could not be written: {error}."


def _degrade_file(job: _Job) -> dict[str, Any] | None:
    image = open_image(job.source, "It")
    suffix = job.suffix if job.suffix.lower() in KEPT_FORMATS else ".tif" if image.mode in _TIFF_MODES else ".png"
    if image.mode in _TIFF_MODES and KEPT_FORMATS[suffix.lower()] != "TIFF":
        raise UserError(f"An image of mode {image.mode!r} can only be stored as TIFF; give a name that ends in .tif.")
    path = job.stem.with_name(job.stem.name + suffix)
    if path.exists() and job.existing != "overwrite":
        if job.existing == "skip":
            _check_same_order(path, job.order)
            return None
        raise UserError(f"{path} is there already. Use --existing overwrite, or --existing skip to resume.")
    order = job.order
    record: dict[str, Any] = {
        "file": job.label,
        "written": path.as_posix(),
        "degradation": degradations.title(order.name),
        "severity": order.severity,
        "strength": order.strength,
        "seed": order.seed,
        "modality": order.modality,
        "parameters": {},
        "degradations": degradations.code_of(order.name, order.modality),
    }
    size = degradations.images.size_of(image)
    level = degradations.check_level(order.severity, order.strength)
    if level == 0:
        result = degradations.apply(image, order.name, severity=0)
    else:
        drawn = degradations.sample(order.name, strength=level, seed=order.seed, size=size, modality=order.modality)
        record["parameters"] = drawn.to_json()
        record["shown_as"] = shown_as(image)
        result = degradations.apply_parameters(image, order.name, drawn, modality=order.modality)
    with atomic_write(path) as part:
        _save_image(result, part, KEPT_FORMATS[path.suffix.lower()], record)
    return record


def _check_same_order(path: Path, order: FileDegradation) -> None:
    """Raise UserError if the existing file names another order (BMP files name none)."""
    with Image.open(path) as image:
        text = image.info.get("degradation") or (getattr(image, "tag_v2", None) or {}).get(_TIFF_DESCRIPTION)
    if not text:
        return
    recorded = json.loads(text)
    expected = [degradations.title(order.name), order.severity, order.strength, order.seed, order.modality]
    written = [recorded.get(key) for key in ("degradation", "severity", "strength", "seed", "modality")]
    if written != expected:
        raise UserError(
            f"{path} is there already and was made otherwise (name, severity, strength, seed, modality {written}, not "
            f"{expected}). Use --existing overwrite, or another --output."
        )


def _save_image(image: Image.Image, path: Path, kind: str, record: dict[str, Any]) -> None:
    text = json.dumps(record)
    options: dict[str, Any] = {}
    if kind == "PNG":
        options["pnginfo"] = PngImagePlugin.PngInfo()
        options["pnginfo"].add_text("degradation", text)
        for key, value in window_info(image).items():
            options["pnginfo"].add_text(key, value)
    elif kind == "TIFF":
        options["tiffinfo"] = {_TIFF_DESCRIPTION: text}
    if "dpi" in image.info:
        options["dpi"] = image.info["dpi"]
    image.save(path, kind, **options)
