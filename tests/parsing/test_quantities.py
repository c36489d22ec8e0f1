"""Numbers with signs, bounds, ranges and units, worked by hand."""

import math

import pytest

from lmms_medtasks.parsing.quantities import Quantity, find_quantities, parse_quantity

INF = math.inf


@pytest.mark.parametrize(
    ("text", "quantity"),
    [
        ("5", Quantity(5, 5)),
        ("three", Quantity(3, 3)),
        ("-1", Quantity(-1, -1)),
        ("\u22122.5", Quantity(-2.5, -2.5)),
        ("+1", Quantity(1, 1)),
        ("2,5", Quantity(2.5, 2.5)),
        ("1,250", Quantity(1250, 1250)),
        ("3 cm", Quantity(3, 3, unit="cm")),
        ("< 3 cm", Quantity(-INF, 3, True, "cm")),
        (">3 cm", Quantity(3, INF, True, "cm")),
        ("≤ 3 cm", Quantity(-INF, 3, False, "cm")),
        ("at least 3 cm", Quantity(3, INF, False, "cm")),
        ("more than 3 cm", Quantity(3, INF, True, "cm")),
        ("3 cm or more", Quantity(3, INF, False, "cm")),
        ("3 cm or less", Quantity(-INF, 3, False, "cm")),
        ("65+", Quantity(65, INF)),
        ("5-10 mm", Quantity(5, 10, False, "mm")),
        ("5\u201310 mm", Quantity(5, 10, False, "mm")),
        ("5 mm to 10 mm", Quantity(5, 10, False, "mm")),
        ("between 5 and 10 mm", Quantity(5, 10, False, "mm")),
        ("20 percent", Quantity(20, 20, unit="%")),
        ("5 years", Quantity(5, 5, unit="year")),
        ("5 μm", Quantity(5, 5, unit="um")),
        ("mehr als 3 cm", Quantity(3, INF, True, "cm")),
        ("moins de 3 cm", Quantity(-INF, 3, True, "cm")),
        ("más de 3 cm", Quantity(3, INF, True, "cm")),
        ("大于 3 cm", Quantity(3, INF, True, "cm")),
    ],
)
def test_a_quantity_is_parsed(text, quantity):
    assert parse_quantity(text) == quantity


@pytest.mark.parametrize("text", ["", "L4-L5", "two cysts", "3 of the 5 cysts", "a 3 cm cyst", "5" * 80])
def test_other_texts_are_none(text):
    assert parse_quantity(text) is None


@pytest.mark.parametrize(
    ("one", "other"), [("<3 cm", ">3 cm"), ("5-10 mm", "10 mm"), ("-1", "1"), ("0.5", "5"), ("3 cm", "3 mm")]
)
def test_different_quantities_never_say_the_same(one, other):
    first, second = parse_quantity(one), parse_quantity(other)
    assert not first.says(second) and not first.nearly(second)


def test_a_unit_may_be_left_out_and_a_bound_be_open():
    assert parse_quantity("3").says(parse_quantity("3 cm"))
    bound, closed = parse_quantity(">10 mm"), parse_quantity("10 mm or more")
    assert bound.nearly(closed) and not bound.says(closed)


def test_a_plain_number_has_no_unit_sign_bound_or_range():
    plain = {text for text in ("5", "0", "-1", "2.5", "5 mm", "<5", "5-10", "≤5") if parse_quantity(text).plain}
    assert plain == {"5", "0"}


def test_quantities_are_found_with_their_places():
    text = "It is 3 cm, with walls of 5-10 mm."
    found = [(text[start:end].strip(), quantity) for start, end, quantity in find_quantities(text)]
    assert found == [("3 cm", Quantity(3, 3, unit="cm")), ("5-10 mm", Quantity(5, 10, unit="mm"))]
