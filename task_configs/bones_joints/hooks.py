"""What Bones and Joints' YAMLs name: which rows a task has, its prompt, and the swaps of images."""

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
    """The rows of a task that have a radiology report; how many have none is said in the log."""
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
    """Task III with each question's images exchanged for those of another case, of another disease if that can be.

    The right answer stays that of the question: a model that looks should leave it.
    """
    order = other_cases(list(dataset["image_id"]), list(dataset["disease"]), "t3", SEED)
    return _with_images_of(dataset, order)


def t8_made(dataset: Dataset) -> Dataset:
    """Task VIII from the cases of Task IV: each text with the images of a case of another site, never the same site.

    ``case_id`` and ``site`` are the text's, ``image_case`` and ``image_site`` those of the images; the answer names
    both sites. Cases of a site that is none of the seven take no part, since they may overlap with one of them.
    """
    cases = _questions_of_task(dataset, "t4")
    rows = [row for row, site in enumerate(cases["site"]) if site in site_names()]
    if len(rows) < 2:
        raise UserError(
            f"Task VIII can't be made: {len(rows)} of {len(cases)} cases are of one of the seven sites "
            f"({', '.join(site_names())}). "
            "Does the release name sites in another column, or otherwise?"
        )
    there = sorted({cases["site"][row] for row in rows})
    if len(there) < 2:
        raise UserError(
            f"Task VIII can't be made: all {len(rows)} cases are of one site ({there[0]}), and each text needs the "
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
    """What a right answer to Task VIII names."""
    return f"The images show the {image_site}, the text is about the {site}."


def _with_images_of(dataset: Dataset, order: Sequence[int]) -> Dataset:
    """The rows of ``dataset``, each with the images of the row that ``order`` gives it. No image is decoded."""
    from datasets import Dataset

    table = dataset.with_format("arrow")[:]
    others = table.select(_OF_IMAGES).take(list(order))
    for name in _OF_IMAGES:
        table = table.set_column(table.column_names.index(name), table.schema.field(name), others.column(name))
    return Dataset(table, info=dataset.info.copy(), split=dataset.split)


Fits = Callable[[int, int], bool]
"""Whether row ``one`` may have the images of row ``other``."""


def draw_partners(count: int, fits: Fits, *seed: str | int) -> list[int]:
    """For each of ``count`` rows the row whose images it gets; a row's images are given to one other row.

    Of all assignments in which every pair ``fits`` one is drawn by ``seed``. Where there is none for all rows (one site
    has more than half of the cases), those that are left get images that another row has too.

    Raises:
        UserError: a row has no partner that fits.
    """
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import maximum_bipartite_matching

    rng = seeded_generator("bones_joints partners", *seed)
    rows, columns = rng.permutation(count), rng.permutation(count)
    allowed = np.array([[fits(int(one), int(other)) for other in columns] for one in rows], dtype=bool).reshape(
        count, count
    )
    lonely = [int(rows[place]) for place in range(count) if not allowed[place].any()]
    if lonely:
        raise UserError(
            f"{len(lonely)} of {count} cases have no other case whose images could be shown with their text."
        )
    matched = maximum_bipartite_matching(csr_matrix(allowed), perm_type="column")
    found = [0] * count
    for place, partner in enumerate(matched):
        free = np.flatnonzero(allowed[place])
        found[int(rows[place])] = int(columns[partner if partner >= 0 else free[rng.integers(len(free))]])
    return found


def other_sites(sites: Sequence[str], images: Sequence[str], *seed: str | int) -> list[int]:
    """For each case one of another site: never the same site, nor the same images under another site's name."""
    return draw_partners(
        len(sites), lambda one, other: sites[one] != sites[other] and images[one] != images[other], *seed
    )


def other_cases(images: Sequence[str], diseases: Sequence[str], *seed: str | int) -> list[int]:
    """For each question the images of another case, of another disease where every case can have one."""

    def other_disease(one: int, other: int) -> bool:
        return images[one] != images[other] and (not diseases[one] or diseases[one] != diseases[other])

    try:
        return draw_partners(len(images), other_disease, *seed)
    except UserError:
        return draw_partners(len(images), lambda one, other: images[one] != images[other], *seed)


def _log_warning(text: str) -> None:
    from loguru import logger  # the harness's log

    logger.warning(text)
