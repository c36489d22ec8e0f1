"""Correlations of orders: Spearman's rho and Kendall's tau with ties, and the share of pairs in opposite order.

Functions of (..., models) numbers with any leading dimensions, NaN where they have no value.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

_DECIMALS = 12
"""Numbers that agree this far are tied."""


def share_of_opposite_pairs(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """(...) share of the pairs with different first numbers whose second numbers are in the opposite order.

    Of accuracy and shift it is the share of pairs that fulfil equation 6 of MedQ-Deg. A tie in the second is not
    opposite. NaN without such pairs, or with a NaN among the numbers.
    """
    ahead, more = signs(first), signs(second)
    return _ratio((ahead * more < 0).sum((-2, -1)), (ahead != 0).sum((-2, -1)), first + second)


def kendall(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """(...) Kendall's tau-b of (..., models) numbers: (concordant - discordant) / sqrt of the pairs untied in each.

    NaN where all are tied, with fewer than two models, or with a NaN among them.
    """
    one, other = signs(first), signs(second)
    untied = np.sqrt((one != 0).sum((-2, -1)) * (other != 0).sum((-2, -1)).astype(float))
    return _ratio((one * other).sum((-2, -1)), untied, first + second)


def spearman(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """(...) Spearman's rho of (..., models) numbers: Pearson's correlation of their mean ranks. NaN as Kendall's."""
    one, other = centred_ranks(first), centred_ranks(second)
    return _ratio((one * other).sum(-1), np.sqrt((one**2).sum(-1) * (other**2).sum(-1)), first + second)


def signs(numbers: np.ndarray) -> np.ndarray:
    """(..., models, models) integers: 1 where the row's model has more than the column's, 0 where tied, else -1."""
    rounded = np.round(numbers, _DECIMALS)
    above = rounded[..., :, None] > rounded[..., None, :]
    return above.astype(np.int8) - np.swapaxes(above, -1, -2)


def ranks(numbers: np.ndarray) -> np.ndarray:
    """(..., models) ranks, 1 for the least; tied models share their mean rank. NaN where one of them has no number.

    What scipy.stats.rankdata gives; its import takes longer than all ranks of a board.
    """
    if not numbers.shape[-1]:
        return numbers
    rounded = np.round(numbers, _DECIMALS)
    order = np.argsort(rounded, axis=-1, kind="stable")
    inorder = np.take_along_axis(rounded, order, axis=-1)
    new = np.ones(inorder.shape, dtype=bool)
    new[..., 1:] = inorder[..., 1:] != inorder[..., :-1]
    last = np.roll(new, -1, axis=-1)
    last[..., -1] = True
    place = np.arange(inorder.shape[-1])
    first_tied = np.maximum.accumulate(np.where(new, place, 0), axis=-1)
    last_tied = np.minimum.accumulate(np.where(last, place, len(place))[..., ::-1], axis=-1)[..., ::-1]
    found = np.empty(inorder.shape)
    np.put_along_axis(found, order, 1 + (first_tied + last_tied) / 2, axis=-1)
    found[np.isnan(rounded).any(axis=-1)] = np.nan
    return found


def centred_ranks(numbers: np.ndarray) -> np.ndarray:
    """(..., models) ranks less their mean, which is (models + 1) / 2, ties or not."""
    centred: np.ndarray = ranks(numbers) - (numbers.shape[-1] + 1) / 2
    return centred


def known(numbers: Mapping[str, float | None], name: str) -> bool:
    """Whether there is a number of this name."""
    found = numbers.get(name)
    return found is not None and not np.isnan(found)


def value(number: np.ndarray) -> float | None:
    """The number, None for NaN."""
    return None if np.isnan(number) else float(number)


def _ratio(above: np.ndarray, below: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.isnan(numbers).any(-1), np.nan, np.asarray(above, dtype=float) / below)
