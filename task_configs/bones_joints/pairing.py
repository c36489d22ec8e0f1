"""Giving each case the images of another: which, drawn once and for all by a seed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from lmms_medtasks.errors import UserError
from lmms_medtasks.seeding import generator

Fits = Callable[[int, int], bool]
"""Whether row ``one`` may have the images of row ``other``."""


def partners(count: int, fits: Fits, *seed: str | int) -> list[int]:
    """For each of ``count`` rows the row whose images it gets; a row's images are given to one other row.

    Of all assignments in which every pair ``fits`` one is drawn by ``seed``. Where there is none for all rows (one site
    has more than half of the cases), those that are left get images that another row has too.

    Raises:
        UserError: a row has no partner that fits.
    """
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import maximum_bipartite_matching

    rng = generator("bones_joints partners", *seed)
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
    return partners(len(sites), lambda one, other: sites[one] != sites[other] and images[one] != images[other], *seed)


def other_cases(images: Sequence[str], diseases: Sequence[str], *seed: str | int) -> list[int]:
    """For each question the images of another case, of another disease where every case can have one."""

    def other_disease(one: int, other: int) -> bool:
        return images[one] != images[other] and (not diseases[one] or diseases[one] != diseases[other])

    try:
        return partners(len(images), other_disease, *seed)
    except UserError:
        return partners(len(images), lambda one, other: images[one] != images[other], *seed)
