"""Names in a chart: beside no mark and on no other name where there is room, in their order at the ends of lines."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_medtasks.report.charts.planes import Box, box_of, find_leader_end, name_places, spread_labels

HEIGHT = 320.0
WIDTHS = (290.0, 600.0)


def apart(one: Box, other: Box) -> bool:
    return one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]


def inside(box: Box, width: float) -> bool:
    return box[0] >= 0 and box[2] <= width and box[1] >= 0 and box[3] <= HEIGHT


def near(box: Box, x: float, y: float, margin: float = 3.0) -> bool:
    left, top, right, bottom = box
    return left - margin < x < right + margin and top - margin < y < bottom + margin


@pytest.mark.parametrize(
    "points",
    [
        [(50.0, 50.0), (56.0, 50.0)],  # another mark to the right
        [(50.0, 50.0), (56.0, 50.0), (44.0, 50.0), (54.0, 54.0)],
        [(98.0, 98.0), (1.0, 1.0)],  # at the edges
        [(60.9, 70.7), (62.0, 71.0), *((float(x), 71.0) for x in range(52, 72))],  # within a bar
    ],
)
@pytest.mark.parametrize("width", WIDTHS, ids=["phone", "wide"])
def test_a_name_touches_no_mark_and_no_other_name(points: list[tuple[float, float]], width: float) -> None:
    marked = [(x, HEIGHT * (1 - y / 100)) for x, y in points]
    named = [("Some-Model-7B\n12.3, loses 4.5", *marked[0]), ("Other-Model-8B", *marked[1])]
    found = name_places(named, marked, [], WIDTHS, HEIGHT)
    boxes = [box_of(name, width * x / 100, y, place) for (name, x, y), place in zip(named, found, strict=True) if place]
    assert len(boxes) == 2
    for box in boxes:
        assert inside(box, width)
        assert not [(x, y) for x, y in marked if near(box, width * x / 100, y)]
    assert apart(*boxes)


@given(st.lists(st.tuples(st.floats(0, 100), st.floats(0, HEIGHT)), min_size=2, max_size=12, unique=True))
def test_no_name_hides_a_mark_nor_is_nearer_to_another_than_to_its_own(marked: list[tuple[float, float]]) -> None:
    named = [(f"Model-{number}", *each) for number, each in enumerate(marked)]
    for (name, x, y), place in zip(named, name_places(named, marked, [], WIDTHS, HEIGHT), strict=True):
        for width in WIDTHS if place else ():
            left, top, right, bottom = box_of(name, width * x / 100, y, place)
            distances = {
                (at, down): math.hypot(max(left - width * at / 100, width * at / 100 - right, 0),
                                       max(top - down, down - bottom, 0))
                for at, down in marked
            }  # fmt: skip
            assert min(distances.values()) > 0
            assert find_leader_end(place) or distances[x, y] == min(distances.values())


@given(st.sets(st.tuples(st.integers(0, 2), st.integers(0, 5)), min_size=1, max_size=18), st.randoms())
def test_where_there_is_room_no_two_names_touch_and_none_leaves_the_plot(
    cells: set[tuple[int, int]], random: object
) -> None:
    """At most one mark in each cell of 96 by 53 pixels, away from its edge; names of ten letters are narrower."""
    named = [
        (
            f"model {column}/{row}x",
            100 * (column + random.uniform(0.2, 0.8)) / 3,  # type: ignore[attr-defined]
            HEIGHT * (row + random.uniform(0.3, 0.7)) / 6,  # type: ignore[attr-defined]
        )
        for column, row in sorted(cells)
    ]
    found = name_places(named, [(x, y) for _, x, y in named], [], WIDTHS, HEIGHT)
    for width in WIDTHS:
        boxes = [
            box_of(name, width * x / 100, y, place) for (name, x, y), place in zip(named, found, strict=True) if place
        ]
        assert len(boxes) == len(named)
        assert all(inside(box, width) for box in boxes)
        assert all(apart(one, other) for one, other in itertools.combinations(boxes, 2))


def test_a_name_alone_stands_to_the_right_and_at_the_right_edge_to_the_left() -> None:
    for x, anchor in ((50.0, "start"), (99.0, "end")):
        [place] = name_places([("name", x, 100.0)], [(x, 100.0)], [], WIDTHS, HEIGHT)
        assert place and place[2] == anchor


def test_a_name_that_would_lie_on_others_marks_is_left_out() -> None:
    crowd = [(float(x), float(y)) for x in range(0, 101, 2) for y in range(0, 321, 8)]
    assert name_places([("a name", 50.0, 160.0)], crowd, [], WIDTHS, HEIGHT) == [None]
    assert name_places([("a name", 50.0, 160.0)], crowd[:1], crowd, WIDTHS, HEIGHT) != [None]  # bars may be hidden


def test_no_line_leads_to_a_name_past_another_mark() -> None:
    # Two models that guess, with their bars, on the line of guessing and on that of no loss.
    height, widths = 400.0, (299.0, 616.0)
    one, other = (7.33, 347.0), (8.87, 333.0)
    steps = [step / 20 for step in range(21)]
    bars = [(x + reach * (2 * step - 1), y) for (x, y), reach in ((one, 3.0), (other, 5.6)) for step in steps]
    bars += [(one[0], one[1] - 36 + 73 * step) for step in steps]
    lines = [(8.87, height * step) for step in steps] + [(100 * step, 333.0) for step in steps]
    places = name_places([("random", *one), ("most frequent", *other)], [one, other], [*bars, *lines], widths, height)
    for (x, y), place, (beside, below) in zip((one, other), places, (other, one), strict=True):
        end = find_leader_end(place) if place else None
        for width in widths if end else ():
            way = [(width * x / 100 + end[0] * step, y + end[1] * step) for step in steps]
            assert min(math.dist(each, (width * beside / 100, below)) for each in way) >= 7


def test_without_names_there_are_no_places() -> None:
    assert name_places([], [(1.0, 2.0)], [], WIDTHS, HEIGHT) == []


@pytest.mark.parametrize(("anchor", "left", "right"), [("start", 0, 1), ("end", -1, 0), ("middle", -0.5, 0.5)])
def test_a_box_lies_as_its_anchor_says(anchor: str, left: float, right: float) -> None:
    box = box_of("abcd", 100.0, 50.0, (0.0, 0.0, anchor))
    width = box[2] - box[0]
    assert width > 0 and box[0] == pytest.approx(100 + left * width) and box[2] == pytest.approx(100 + right * width)
    assert box[1] < 50 < box[3]
    moved = box_of("abcd", 100.0, 50.0, (7.0, -3.0, anchor))
    assert [new - old for new, old in zip(moved, box, strict=True)] == pytest.approx([7, -3, 7, -3])


@pytest.mark.parametrize(
    ("places", "moved"),
    [
        ([10.0, 11.0, 12.0, 90.0], [10.0, 24.0, 38.0, 90.0]),
        ([99.0, 98.0], [100.0, 86.0]),  # the second is above: 98 must leave 14 to 100
        ([-5.0, 120.0], [0.0, 100.0]),
        ([50.0] * 3, [50.0, 64.0, 78.0]),  # ties in their order
        ([50.0] * 11, [10.0 * number for number in range(11)]),  # no room for 14 each: 100 / 10
        ([95.0], [95.0]),
        ([], []),
    ],
)
def test_names_at_lines_ends_are_moved_as_worked_by_hand(places: list[float], moved: list[float]) -> None:
    assert spread_labels(places, 14.0, 0.0, 100.0) == pytest.approx(moved)


@given(st.lists(st.floats(-50, 150), max_size=12), st.floats(0, 40))
def test_names_at_lines_ends_keep_their_order_their_distance_and_the_range(places: list[float], wanted: float) -> None:
    moved = spread_labels(places, wanted, 0.0, 100.0)
    assert len(moved) == len(places) and all(-1e-6 <= each <= 100 + 1e-6 for each in moved)
    order = sorted(range(len(places)), key=lambda number: places[number])
    room = min(wanted, 100 / max(1, len(places) - 1))
    for one, other in itertools.pairwise(order):
        assert moved[other] - moved[one] >= room - 1e-6
    # Who has room already is not moved.
    kept = [min(max(place, 0.0), 100.0) for place in places]
    if all(kept[other] - kept[one] >= wanted for one, other in itertools.pairwise(order)):
        assert moved == pytest.approx(kept)
