"""Who gets whose images: never the same site, never one's own, each given once if that can be."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmms_medtasks.errors import UserError
from lmms_medtasks.task_configs.bones_joints.pairing import other_cases, other_sites, partners

# The paper's shares of 203 cases: 54, 42, 32, 29, 24, 12, 10.
FIRST = [192, 167, 87, 76, 61, 174, 130, 198]
PAPER = [site for site, n in zip("kshaewp", (54, 42, 32, 29, 24, 12, 10), strict=True) for _ in range(n)]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from("abcd"), min_size=2, max_size=30))
def test_never_the_same_site(sites):
    images = [str(n) for n in range(len(sites))]
    if len(set(sites)) == 1:
        with pytest.raises(UserError, match="have no other case"):
            other_sites(sites, images, 0)
        return
    found = other_sites(sites, images, 0)
    assert len(found) == len(sites)
    assert all(sites[one] != sites[other] for one, other in enumerate(found))
    if max(map(sites.count, sites)) <= len(sites) / 2:
        assert sorted(found) == list(range(len(sites)))  # each case's images are used once


def test_the_paper_s_sites_all_find_a_partner():
    images = [str(n) for n in range(len(PAPER))]
    found = other_sites(PAPER, images, "t8", 0)
    assert sorted(found) == list(range(203))
    assert found == other_sites(PAPER, images, "t8", 0) != other_sites(PAPER, images, "t8", 1)
    # The pairs are part of the benchmark: another way to draw them asks other questions.
    assert found[:8] == FIRST
    # No two sites are always paired: the knee gets images of every other site.
    assert len({PAPER[found[row]] for row in range(54)}) == 6


def test_the_same_images_of_two_sites_are_no_mismatch():
    for seed in range(20):
        found = other_sites("abab", ["whole leg", "whole leg", "u", "v"], seed)
        assert found[0] == 3 and found[1] == 2  # not each other's, though their sites differ


def test_more_than_half_of_one_site():
    found = other_sites("aaab", "1234", 0)
    assert [found[row] for row in range(3)] == [3, 3, 3] and found[3] in (0, 1, 2)


def test_another_disease_where_it_can_be():
    images, diseases = list("uvwxyz"), ["f", "f", "f", "o", "o", ""]
    found = other_cases(images, diseases, 0)
    assert all(one != other for one, other in enumerate(found))
    assert all(diseases[one] != diseases[other] for one, other in enumerate(found) if diseases[one])
    assert sorted(other_cases(["u", "v"], ["f", "f"], 0)) == [0, 1]  # the same disease is all there is
    with pytest.raises(UserError):
        other_cases(["u", "u"], ["f", "o"], 0)  # the same images are no others


def test_nobody_fits():
    with pytest.raises(UserError, match="1 of 2 cases"):
        partners(2, lambda one, other: one == 0 and other == 1, 0)
