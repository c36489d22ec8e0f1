"""Draws the mini data: ``python -m lmms_medtasks.data.mini.build OUT`` writes the bundled files anew into OUT.

The same versions of NumPy, SciPy, Pillow and PyArrow give the same bytes; others may differ in the last grey level and
in how a file is packed.
"""

from __future__ import annotations

import io
import os
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lmms_medtasks.data import documents, suites
from lmms_medtasks.data.mini import FILES, bones_joints, design, med_cmr, medobvious, phantoms, sure_vqa
from lmms_medtasks.data.mini.questions import Question, all_questions
from lmms_medtasks.errors import UserError, unknown
from lmms_medtasks.seeding import generator

if TYPE_CHECKING:
    import pyarrow as pa
    from PIL import Image

SOURCE = "mini phantoms"

RELEASED_PICTURES = 2
RELEASED_DEGRADATIONS = 2
GENERAL = (
    "object_rotation", "object_movement", "adjust_brightness", "exposure", "reduce_contrast", "gaussian_noise",
    "low_resolution", "motion_blur", "gaussian_blur",
)  # fmt: skip
"""The release form shows these, so that it does not change when degradations of single modalities are added."""

Splits = dict[str, dict[str, list[dict[str, Any]]]]
"""Documents by suite and split."""

TRAIN_ROWS = 40
"""Training rows for each question and modality."""


def build(folder: Path, only: Sequence[str] | None = None) -> list[Path]:
    """Write the files of the mini data into ``folder`` (made if need be) and return their paths.

    ``only``: these benchmarks (keys of :data:`MAKERS`), all unless given.

    Raises:
        UserError: an unknown benchmark, or the folder cannot be written to.
    """
    folder = Path(folder)
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in MAKERS if only is None else only:
            if name not in MAKERS:
                raise unknown("benchmark", name, MAKERS, "the mini data")
            for suite, made in MAKERS[name]().items():
                written += [_write(folder / file, made[split], suite) for split, file in FILES[suite].items()]
    except OSError as error:
        raise UserError(f"Can't write the mini data into {folder}: {error}") from error
    return written


def clean_rows() -> list[dict[str, Any]]:
    """The canonical documents of the split "clean"; questions about one picture share the same bytes object."""
    drawn: dict[str, bytes] = {}
    numbers: Counter[str] = Counter()
    rows = []
    for asked in design.asked():
        picture, question = asked.picture, asked.question
        if picture.id not in drawn:
            pixels = phantoms.draw(picture.modality, picture.facts, picture.rng())
            drawn[picture.id] = png(pixels)
        numbers[picture.id] += 1
        row = _row(question, picture.modality, asked.options, asked.right)
        row["id"] = f"{picture.id}-q{numbers[picture.id]}"
        row["image_id"] = picture.id
        row["image"] = {"bytes": drawn[picture.id], "path": None}
        rows.append(row)
    return rows


def release_rows(clean: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Questions about a few pictures of each modality again, with the pictures degraded at L1 and at L2."""
    from PIL import Image

    from lmms_medtasks import degradations

    chosen = {
        f"mini-{phantoms.short_name(modality)}-{i:03d}"
        for modality in phantoms.MODALITIES
        for i in range(RELEASED_PICTURES)
    }
    rows = []
    spoilt: dict[tuple[str, str, int], bytes] = {}
    for row in clean:
        if row["image_id"] not in chosen:
            continue
        names = degradations.draw_for_question(
            row["modality"], row["image_id"], count=RELEASED_DEGRADATIONS, among=GENERAL
        )
        for name in names:
            for level in (1, 2):
                key = (row["image_id"], name, level)
                if key not in spoilt:
                    image = Image.open(io.BytesIO(row["image"]["bytes"]))
                    spoilt[key] = _png_of(
                        degradations.apply(image, name, severity=level, seed=row["image_id"], modality=row["modality"])
                    )
                rows.append({
                    **row,
                    "id": f"{row['id']}-{name}-L{level}",
                    "image": {"bytes": spoilt[key], "path": None},
                    "degradation": name,
                    "severity": level,
                })  # fmt: skip
    return rows


def train_rows() -> list[dict[str, Any]]:
    """Questions with answers about pictures that are never drawn: their facts are drawn at random, images are null."""
    rows = []
    for question in all_questions():
        for modality in question.modalities:
            rng = generator("mini train", question.name, modality)
            values = {**phantoms.facts_of(modality), "modality": (modality,)}
            for number in range(TRAIN_ROWS):
                right = None
                while right is None:
                    facts = {fact: str(rng.choice(values[fact])) for fact in question.facts}
                    right = question.answer(facts)
                options = [list(question.options)[i] for i in rng.permutation(len(question.options))]
                row = _row(question, modality, options, options.index(right))
                row["id"] = row["image_id"] = f"mini-train-{question.name}-{phantoms.short_name(modality)}-{number:03d}"
                rows.append(row)
    return rows


def _row(question: Question, modality: str, options: list[str] | tuple[str, ...], right: int) -> dict[str, Any]:
    return {
        "id": "",
        "image": None,
        "images": [],
        "question": question.text,
        "options": list(options),
        "answer": documents.LETTERS[right],
        "image_id": "",
        "data": "mini",
        "modality": modality,
        "degradation": "",
        "severity": 0,
        "capability": question.capability,
        "source": SOURCE,
    }


def png(pixels: np.ndarray) -> bytes:
    """The PNG file of a uint8 picture, (n, n) or (n, n, 3), without any metadata."""
    from PIL import Image

    return _png_of(Image.fromarray(pixels))


def _png_of(image: Image.Image) -> bytes:
    buffer = io.BytesIO()
    # Higher levels take five times as long for files 4 % smaller; the default optimiser makes larger ones.
    image.save(buffer, "PNG", compress_level=7)
    return buffer.getvalue()


def _write(path: Path, rows: list[dict[str, Any]], suite: str) -> Path:
    """Write ``rows`` of ``suite`` as parquet in one row group; a picture that rows share is stored once."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = documents.schema(suites.get(suite).tags)
    table: pa.Table = pa.Table.from_pylist(rows, schema=schema)
    part = path.with_name(path.name + ".part")
    pq.write_table(
        table,
        part,
        row_group_size=len(rows),
        compression="zstd",
        use_dictionary=True,
        dictionary_pagesize_limit=64 * 1024 * 1024,
        write_statistics=False,
    )
    os.replace(part, path)
    return path


def _medq_deg() -> Splits:
    rows = clean_rows()
    return {"medq_deg": {"clean": rows, "release": release_rows(rows), "train": train_rows()}}


MAKERS: Mapping[str, Callable[[], Splits]] = {
    "medq_deg": _medq_deg,
    "med_cmr": lambda: {"med_cmr": med_cmr.rows()},
    "medobvious": lambda: {"medobvious": {"test": medobvious.rows()}},
    "sure_vqa": sure_vqa.rows,
    "bones_joints": lambda: {"bones_joints": bones_joints.rows()},
}
"""Benchmark -> what makes its documents, by suite and split."""


def main(arguments: list[str]) -> int:
    """The command line: one argument, the folder to write into."""
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print("usage: python -m lmms_medtasks.data.mini.build OUT", file=sys.stderr)
        return 2
    for path in build(Path(arguments[0])):
        print(f"{path}  {path.stat().st_size / 1e6:.2f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
