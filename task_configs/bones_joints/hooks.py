"""The hooks of Bones and Joints' YAMLs: the rows of a task, its prompt, and the swaps of images."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lmms_medtasks.errors import UserError
from lmms_medtasks.harness import hooks
from lmms_medtasks.seeding import seeded_generator
from lmms_medtasks.task_configs.bones_joints.source_forms import site_names, task_forms

if TYPE_CHECKING:
    from datasets import Dataset

Document = Mapping[str, Any]
Settings = Mapping[str, Any]

REPORT = "Radiology report"
SEED = 0
_ASKED = ("t4", "t5", "t6", "t7")
_OF_IMAGES = ["image", "images", "image_id", "image_case", "image_site", "image_count", "modality"]
"""What goes with the images when they are given to another text."""


def doc_to_text(doc: Document, settings: Settings | None = None) -> str:
    """The task's prompt with the case in it; with ``report: true`` the radiology report follows the case's text."""
    question = doc["question"]
    if (settings or {}).get("report"):
        question = f"{question}\n{REPORT}: {doc.get('report', '')}"
    return hooks.doc_to_text({**doc, "question": question}, settings)


def _questions_of_task(dataset: Dataset, task: str) -> Dataset:
    rows = [row for row, name in enumerate(dataset["task"]) if name == task]
    if not rows:
        raise UserError(f"The data has no question of {task_forms()[task].title}.")
    return dataset.select(rows)


def _with_report(dataset: Dataset, task: str) -> Dataset:
    """The rows of a task that have a radiology report; a warning says how many have none."""
    chosen = _questions_of_task(dataset, task)
    rows = [row for row, report in enumerate(chosen["report"]) if report.strip()]
    if not rows:
        raise UserError(f"No case of {task_forms()[task].title} has a radiology report: the *_report tasks need them.")
    if len(rows) < len(chosen):
        _log_warning(f"{len(chosen) - len(rows)} of {len(chosen)} cases have no radiology report and are not asked.")
    return chosen.select(rows)


t4, t5, t6, t7 = (functools.partial(_questions_of_task, task=task) for task in _ASKED)
t4_report, t5_report, t6_report, t7_report = (functools.partial(_with_report, task=task) for task in _ASKED)


def t3_swapped(dataset: Dataset) -> Dataset:
    """Task III with each question's images exchanged for those of another case, of another disease if possible.

    The expected answer stays that of the question: a model that looks should no longer give it.
    """
    return _with_images_of(dataset, other_cases(list(dataset["image_id"]), list(dataset["disease"]), "t3", SEED))


def t8_made(dataset: Dataset) -> Dataset:
    """Task VIII from the cases of Task IV: each text with the images of a case of another site, never the same site.

    ``case_id`` and ``site`` are the text's, ``image_case`` and ``image_site`` those of the images; the answer names
    both sites. Cases of any site but the seven are left out, since it may overlap with one of them.
    """
    cases = _questions_of_task(dataset, "t4")
    rows = [row for row, site in enumerate(cases["site"]) if site in site_names()]
    if len(rows) < 2:
        raise UserError(
            f"Task VIII can't be made: {len(rows)} of {len(cases)} cases are of one of the seven sites "
            f"({', '.join(site_names())}). "
            "Does the release name sites in another column, or otherwise?"
        )
    sites = sorted({cases["site"][row] for row in rows})
    if len(sites) < 2:
        raise UserError(
            f"Task VIII can't be made: all {len(rows)} cases are of one site ({sites[0]}), and each text needs the "
            "images of another. Leave bones_joints_t8_inconsistency out: name the other tasks."
        )
    if len(rows) < len(cases):
        _log_warning(
            f"Task VIII: {len(cases) - len(rows)} of {len(cases)} cases have none of the seven sites and take no part."
        )
    chosen = cases.select(rows)
    made = _with_images_of(chosen, other_sites(list(chosen["site"]), list(chosen["image_id"]), "t8", SEED))
    answers = [contradiction(*both) for both in zip(made["site"], made["image_site"], strict=True)]
    ids = [f"t8-{name.removeprefix('t4-')}" for name in made["id"]]
    made = made.remove_columns(["id", "task", "answer"])
    return made.add_column("id", ids).add_column("task", ["t8"] * len(ids)).add_column("answer", answers)


def contradiction(site: str, image_site: str) -> str:
    """The expected answer to Task VIII."""
    return f"The images show the {image_site}, the text is about the {site}."


def _with_images_of(dataset: Dataset, order: Sequence[int]) -> Dataset:
    """The rows of ``dataset``, each with the images of the row that ``order`` gives it. No image is decoded."""
    from datasets import Dataset

    table = dataset.with_format("arrow")[:]
    others = table.select(_OF_IMAGES).take(list(order))
    for name in _OF_IMAGES:
        table = table.set_column(table.column_names.index(name), table.schema.field(name), others.column(name))
    return Dataset(table, info=dataset.info.copy(), split=dataset.split)


def draw_partners(count: int, fits: Callable[[int, int], bool], *seed: str | int) -> list[int]:
    """A random permutation without fixed points: row i gets the images of row ``result[i]``.

    ``fits(i, j)``: whether row i may have the images of row j. ``seed`` draws one of the permutations in which every
    pair fits. If there is none (one site has more than half of the cases), the rows left over share the images of a row
    that fits with another row.

    Raises:
        UserError: a row has no partner that fits.
    """
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import maximum_bipartite_matching

    rng = seeded_generator("bones_joints partners", *seed)
    rows, columns = rng.permutation(count), rng.permutation(count)
    pairs = [[fits(int(row), int(column)) for column in columns] for row in rows]
    allowed = np.array(pairs, dtype=bool).reshape(count, count)
    lonely = int((~allowed.any(axis=1)).sum())
    if lonely:
        raise UserError(f"{lonely} of {count} cases have no other case whose images could be shown with their text.")
    matched = maximum_bipartite_matching(csr_matrix(allowed), perm_type="column")
    partners = [0] * count
    for row, fitting, partner in zip(rows, allowed, matched, strict=True):
        free = np.flatnonzero(fitting)
        partners[int(row)] = int(columns[partner if partner >= 0 else free[rng.integers(len(free))]])
    return partners


def other_sites(sites: Sequence[str], images: Sequence[str], *seed: str | int) -> list[int]:
    """A case of another site for each case: never the same site, nor the same images under another site's name."""
    return draw_partners(len(sites), lambda i, j: sites[i] != sites[j] and images[i] != images[j], *seed)


def other_cases(images: Sequence[str], diseases: Sequence[str], *seed: str | int) -> list[int]:
    """The images of another case for each question, of another disease if every case can have one."""

    def is_other_disease(i: int, j: int) -> bool:
        return images[i] != images[j] and (not diseases[i] or diseases[i] != diseases[j])

    try:
        return draw_partners(len(images), is_other_disease, *seed)
    except UserError:
        return draw_partners(len(images), lambda i, j: images[i] != images[j], *seed)


def _log_warning(text: str) -> None:
    from loguru import logger  # the harness's log

    logger.warning(text)
