"""The hooks of SURE-VQA's YAMLs: the prompt, the images, and the i.i.d. and OoD tests made from the data sets' splits.

``process_docs`` of a YAML names a function of this module after a shift of ``shift_rules.yml``: ``sure_slake_modality``
gives both tests, ``sure_slake_modality_iid`` and ``_ood`` one, and ``sure_slake_modality_corrupted_low`` (medium, high)
the i.i.d. test clean and, in place of the OoD test, corrupted (Appendix D). A shift needs only its entry in the file.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from lmms_medtasks import pictures
from lmms_medtasks.data import release_images, store
from lmms_medtasks.data.documents import images_of
from lmms_medtasks.data.locating import find_split
from lmms_medtasks.errors import UserError
from lmms_medtasks.harness import hooks
from lmms_medtasks.task_configs.sure_vqa import source_shifts
from lmms_medtasks.task_configs.sure_vqa.source_reader import SEPARATOR, YES_NO, list_numbers
from lmms_medtasks.task_configs.sure_vqa.source_shifts import Shift

if TYPE_CHECKING:
    from datasets import Dataset
    from PIL.Image import Image

Document = Mapping[str, Any]
Settings = Mapping[str, Any]


def doc_to_text(doc: Document, settings: Settings | None = None) -> str:
    """The question; a question with the options yes and no in the task's prompt file, which names these options.

    As in the authors' public code. The texts of all other questions include their options.
    """
    if tuple(doc.get("choices", "").split(SEPARATOR)) != YES_NO:
        return str(doc["question"])
    return hooks.doc_to_text({**doc, "options": []}, settings)


def doc_to_target(doc: Document) -> str:
    """Always "": the record holds the expected answer if the data's terms allow it."""
    return ""


def doc_to_visual(doc: Document, settings: Settings | None = None) -> list[Image]:
    """The question's image as 8-bit RGB, corrupted if the document's ``corruption`` is low, medium or high.

    The corruption depends on the question, its strength and the task's ``seed`` (default 0), as in the authors' code.
    """
    settings = settings or {}
    strength = doc.get("corruption") or ""
    if not strength or settings.get("no_image"):
        return hooks.doc_to_visual(doc, {**settings, "rendered": True})
    from lmms_medtasks.degradations import corruptions

    parameters = corruptions.sample(strength=strength, seed=f"{doc['question_id']}/{settings.get('seed', 0)}")
    hooks.RENDERED.put(str(doc["id"]), 0, parameters.to_json())
    return [
        corruptions.apply_parameters(pictures.to_rgb8(pictures.open_image(picture)), parameters)
        for picture in images_of(doc)
    ]


Wanted = Literal["both", "iid", "ood"]
STRENGTHS = ("low", "medium", "high")


def __getattr__(name: str) -> Callable[[Dataset], Dataset]:
    """The function that a YAML names; AttributeError if there is no such shift."""
    shifts = {} if name.startswith("__") else source_shifts.all_shifts()
    for shift in shifts:
        if name == shift:
            return _make_process_docs(name, shift, "both", "")
        end = name.removeprefix(f"{shift}_")
        if end in ("iid", "ood"):
            return _make_process_docs(name, shift, end, "")  # type: ignore[arg-type]
        if end.removeprefix("corrupted_") in STRENGTHS and end != name:
            return _make_process_docs(name, shift, "iid", end.removeprefix("corrupted_"))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}; shifts: {', '.join(shifts)}")


@functools.cache
def _make_process_docs(name: str, shift_name: str, wanted: Wanted, strength: str) -> Callable[[Dataset], Dataset]:
    shift = source_shifts.get(shift_name)

    def process_docs(dataset: Dataset) -> Dataset:
        chosen = shift_test_questions(dataset, shift, wanted)
        return corrupted_test_questions(chosen, strength) if strength else chosen

    process_docs.__name__ = process_docs.__qualname__ = name
    return process_docs


def shift_test_questions(dataset: Dataset, shift: Shift, wanted: Wanted = "both") -> Dataset:
    """The test questions of a shift, with columns ``suite``, ``shift`` and ``set``, their side ("iid" or "ood").

    The two sides take turns in proportion to their sizes, so that a prefix (``--limit``) has both.

    Raises:
        UserError: a side is empty, or an image file is missing or was changed.
    """
    tags = list(dataset.select_columns(list(dict.fromkeys([*shift.fields, "split"]))))
    sides = source_shifts.question_sides(shift, tags)
    _check_references(dataset, shift.suite)
    rows = [row for row in in_turns(sides) if wanted == "both" or sides[row] == wanted]
    count = len(dataset)
    chosen = dataset.add_column("set", sides).add_column("suite", [shift.suite] * count)
    chosen = chosen.add_column("shift", [shift.name] * count).select(rows)
    hooks.RENDERED.reset(chosen["id"])
    return chosen


def corrupted_test_questions(iid: Dataset, strength: str) -> Dataset:
    """Each i.i.d. question followed by its copy with corrupted images as the other side.

    The copy's id is the question's id with the strength; ``question_id`` pairs the two.
    """
    import datasets

    iid = iid.add_column("question_id", list(iid["id"]))
    count = len(iid)
    clean = iid.add_column("corruption", [""] * count)
    corrupted = (
        iid.remove_columns(["id", "set"])
        .add_column("id", [f"{name}/{strength}" for name in iid["id"]])
        .add_column("set", ["ood"] * count)
        .add_column("corruption", [strength] * count)
        .select_columns(clean.column_names)
    )
    both = datasets.concatenate_datasets([clean, corrupted])
    both = both.select([row for i in range(count) for row in (i, count + i)])
    hooks.RENDERED.reset(both["id"])
    return both


def in_turns(sides: Sequence[str]) -> list[int]:
    """The rows that are on a side, both sides spread evenly over the whole.

    >>> in_turns(["iid", "iid", "iid", "iid", "ood", "", "ood"])
    [0, 4, 1, 2, 6, 3]
    """
    keys = []
    for side in ("iid", "ood"):
        rows = [row for row, side_of_row in enumerate(sides) if side_of_row == side]
        keys += [((index + 0.5) / len(rows), side, row) for index, row in enumerate(rows)]
    return [row for _, _, row in sorted(keys)]


def _check_references(dataset: Dataset, suite: str) -> None:
    """UserError for images that are missing, or were written after the data was prepared and have other bytes now."""
    files = reference_answers(dataset)
    missing = release_images.missing_files([path for path, _ in files])
    if missing:
        raise UserError(
            f"{len(missing):,} images are no longer where they were when the data was prepared: "
            f"{list_numbers(missing, 3)}. Put the folder back, or prepare again with --source DIR --force."
        )
    prepared = find_split(suite, "test", store.chosen_data()) if files else None
    if prepared is not None and prepared.created:
        since = datetime.fromisoformat(prepared.created).timestamp()
        changed = release_images.changed_files(release_images.touched_files(files, since))
        if changed:
            raise UserError(
                f"{len(changed):,} images have other bytes than when the data was prepared: "
                f"{list_numbers(changed, 3)}. Put them back, or prepare again with --source DIR --force."
            )


def reference_answers(dataset: Any) -> list[tuple[str, str]]:
    """(path, image_id) of the images that stay in the user's folder; no image is read."""
    import pyarrow.compute as pc

    image = dataset.data.column("image")
    is_file = pc.is_null(pc.struct_field(image, "bytes"))
    paths = pc.struct_field(image, "path").filter(is_file).to_pylist()
    names = dataset.data.column("image_id").filter(is_file).to_pylist()
    return list(dict.fromkeys((path, name) for path, name in zip(paths, names, strict=True) if path is not None))
