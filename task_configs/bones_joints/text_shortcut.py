"""The text-shortcut rate: how often a model gives the same answer when a question's images are taken away or swapped.

Bones and Joints describes the tendency and gives no number for it; the rate is ours. 1 is a model that does not look.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lmms_medtasks.statistics.intervals import Interval, mean_interval


@dataclass(frozen=True)
class Asked:
    """What was read from a question's reply: an option's letter, or the text of an answer; "" where nothing was.

    ``right``: the right answer, "" if there is no one right answer to compare. ``failed``: the request got no reply.
    """

    image_id: str
    answer: str
    right: str = ""
    failed: bool = False


@dataclass(frozen=True)
class TextShortcut:
    """How the same questions fared with their images and without them, or with others.

    ``rate``: share of the compared questions whose answer stayed the same; ``stayed_right``: the same of those that
    were right with the images. ``chance``: the rate that two series of answers with these frequencies would have if
    they knew nothing of each other. ``unread``: questions left out because no answer could be read on a side;
    ``failed``: because a request failed; ``only_one``: questions of one side alone.
    """

    rate: Interval
    stayed_right: Interval
    chance: float | None
    n: int
    unread: int
    failed: int
    only_one: int


def text_shortcut(first: Mapping[str, Asked], second: Mapping[str, Asked]) -> TextShortcut:
    """Compare answers with the images (``first``) to those without or with others (``second``), by question id.

    The cluster is the first's image. Answers are compared as they are: hand over letters, or texts that were folded.
    """
    shared = sorted(set(first) & set(second))
    failed = [name for name in shared if first[name].failed or second[name].failed]
    rest = [name for name in shared if name not in set(failed)]
    compared = [name for name in rest if first[name].answer and second[name].answer]
    same = np.array([first[name].answer == second[name].answer for name in compared], dtype=float)
    right = np.array([bool(first[name].right) and first[name].answer == first[name].right for name in compared], bool)
    clusters = [first[name].image_id for name in compared]
    chosen = np.flatnonzero(right).tolist()
    return TextShortcut(
        rate=mean_interval(clusters, same),
        stayed_right=mean_interval([clusters[row] for row in chosen], same[right]),
        chance=_chance([first[name].answer for name in compared], [second[name].answer for name in compared]),
        n=len(compared),
        unread=len(rest) - len(compared),
        failed=len(failed),
        only_one=len(first) + len(second) - 2 * len(shared),
    )


def _chance(one: Sequence[str], other: Sequence[str]) -> float | None:
    """The sum over answers of the product of their shares on either side; None without answers."""
    if not one:
        return None
    return sum(one.count(answer) / len(one) * other.count(answer) / len(other) for answer in sorted(set(one)))
