"""What is made, before a picture is looked at."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_medtasks.errors import UserError
from lmms_medtasks.grid_positions import GridSize
from lmms_medtasks.grids.plan import KINDS, balance_values, count_grids, plan_items
from lmms_medtasks.grids.pool import ImagePool, Picture
from lmms_medtasks.seeding import seeded_generator


def labelled(count=40, **labels):
    return [Picture(id=f"{'-'.join(labels.values())}-{i:03d}", data=b"", **labels) for i in range(count)]


def pool():
    return ImagePool.of([
        *labelled(modality="X-ray", anatomy="chest", view="PA"),
        *labelled(modality="X-ray", anatomy="chest", view="lateral"),
        *labelled(modality="CT", anatomy="abdomen", view="axial"),
        *labelled(modality="Dermoscopy", anatomy="skin", view="close"),
        *labelled(5, modality="X-ray", anatomy="chest", view="PA", finding="fracture"),
    ])  # fmt: skip


def planned(**changes):
    settings = {
        "items": 10, "sizes": [GridSize(2)], "kinds": KINDS, "negatives": 0.375, "seed": 0, "reuse": False, **changes,
    }  # fmt: skip
    return plan_items(pool(), **settings)


@pytest.mark.parametrize(
    ("items", "share", "expected"),
    [
        (100, 0.375, (100, 100)),  # 3 / (5 + 3)
        (100, 0.0, (100, 0)),
        (100, 1.0, (0, 100)),
        (100, 0.5, (60, 100)),  # 300 = 5 * 60
        (100, 0.2, (100, 42)),  # 3 * 42 = 126 of 626 is 0.201
    ],
)
def test_counts(items, share, expected):
    assert count_grids(items, share) == expected


@given(st.integers(1, 500), st.floats(0, 1))
def test_counts_give_the_share(items, share):
    positive, negative = count_grids(items, share)
    assert max(positive, negative) == items
    # One grid more or less is five tasks of the smaller side at most.
    assert abs(3 * negative / (5 * positive + 3 * negative) - share) <= 5 / (3 * items)


@given(st.integers(0, 60), st.integers(1, 25))
def test_balanced_up_to_one(count, values):
    found = Counter(balance_values(count, values, seeded_generator("test")))
    assert sum(found.values()) == count
    assert max(found.values(), default=0) - min((found[i] for i in range(values)), default=0) <= 1


def test_kinds_take_turns_and_positions_are_balanced():
    items = planned(items=10)
    assert [item.kind for item in items] == list(KINDS) * 2
    assert [item.number for item in items] == list(range(10))
    assert sorted(Counter(item.position for item in items).values()) == [2, 2, 3, 3]
    assert sorted(Counter(item.box for item in items).values()) == [2, 2, 3, 3]


def test_categories_fit_the_kinds():
    for item in planned(items=10):
        if item.kind == "category":
            assert (item.other.modality, item.other.anatomy) != (item.category.modality, item.category.anatomy)
        if item.kind == "viewpoint":
            assert item.other[:2] == item.category[:2] and item.other.view != item.category.view
        if item.kind == "orientation":
            assert item.category.modality != "Dermoscopy" and item.other is None
        if item.kind == "finding":
            assert item.category == ("X-ray", "chest", "PA")
        if item.violation == "texture":
            assert item.other.modality != item.category.modality


def test_colours_stay_among_themselves_where_they_can():
    rest = frozenset(key for key in pool().categories if key.modality == "Dermoscopy")
    for item in planned(items=12, kinds=("category",), coloured=rest, reuse=True):
        if item.category.modality != "Dermoscopy":
            assert item.other.modality != "Dermoscopy"


def test_no_more_pictures_are_planned_than_there_are():
    used = Counter()
    for item in planned(items=16, kinds=("category", "orientation", "integrity")):
        inner = item.kind != "category"
        used[item.category] += 4 + (4 if inner else 3)
        used[item.other] += item.other is not None
    assert all(used[key] <= 40 for key in pool().categories)


def test_too_few_pictures_say_what_there_is_and_what_it_takes():
    with pytest.raises(UserError) as caught:
        planned(items=100)
    message = str(caught.value)
    assert "of 100 items can be made" in message
    assert "X-ray chest PA: have 40 and 5 with a finding" in message
    assert "need about 200" in message  # 800 panels over 4 categories
    assert "--reuse" in message
    assert len(planned(items=100, reuse=True)) == 100


def test_reuse_still_needs_a_whole_grid():
    few = ImagePool.of(labelled(3, modality="CT", anatomy="abdomen", view="axial"))
    with pytest.raises(UserError, match="CT abdomen axial: have 3"):
        plan_items(few, items=1, sizes=[GridSize(2)], kinds=["integrity"], negatives=0.375, seed=0, reuse=True)


@pytest.mark.parametrize(
    ("kind", "needs"),
    [("viewpoint", "two labelled views"), ("finding", "with and without a finding"), ("category", "two categories"),
     ("orientation", "with an up")],
)  # fmt: skip
def test_kinds_that_the_labels_do_not_allow(kind, needs):
    few = ImagePool.of(labelled(modality="Histopathology", anatomy="", view=""))
    with pytest.raises(UserError, match=needs) as caught:
        plan_items(few, items=1, sizes=[GridSize(2)], kinds=[kind], negatives=0, seed=0, reuse=False)
    assert "Histopathology (40)" in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kinds": ("categry",)}, "Did you mean 'category'"),
        ({"kinds": ()}, "No kind of outlier"),
        ({"negatives": 1.5}, "from 0 to 1, got 1.5"),
        ({"items": 0}, "At least one item"),
    ],
)
def test_mistakes(changes, message):
    with pytest.raises(UserError, match=message):
        planned(**changes)


def test_unlabelled_anatomies_are_no_other_category():
    few = ImagePool.of(
        [*labelled(modality="CT", anatomy="", view=""), *labelled(modality="CT", anatomy="head", view="")]
    )
    with pytest.raises(UserError, match="two categories that differ"):
        plan_items(few, items=1, sizes=[GridSize(2)], kinds=["category"], negatives=0, seed=0, reuse=False)
