"""What the comparison of two dumps names, and what it ends with."""

import json

import pytest

from tools import frozen_cells, frozen_numbers

TABLE = "report|core|suite-model|main"


def cells(**changed):
    found = {f"{TABLE}|{row}|{column}": {"value": place + len(column) / 10, "n": 7}
             for place, row in enumerate(("CT", "MRI")) for column in ("mean", "share")}  # fmt: skip
    return found | {f"{TABLE}|{name.replace('_', '|')}": cell for name, cell in changed.items()}


@pytest.fixture
def compared(tmp_path, capsys):
    def compare(one, other, moved=None):
        paths = []
        for name, found in (("a", one), ("b", other)):
            paths.append(tmp_path / name)
            paths[-1].write_text("".join(json.dumps({"key": key, **cell}) + "\n" for key, cell in found.items()))
        listed = ["--moved", str(tmp_path / "moved.yml")] if moved is not None else []
        (tmp_path / "moved.yml").write_text(json.dumps(moved))
        status = frozen_numbers.main(["compare", *map(str, paths), *listed])
        return status, "".join(capsys.readouterr())

    return compare


def test_noise_below_the_ninth_digit_is_no_difference(compared):
    assert compared(cells(CT_mean={"value": 0.4}), cells(CT_mean={"value": 0.4 + 1e-12}))[0] == 0


def test_moved_dropped_and_new_cells_are_named_by_table(compared):
    after = cells(CT_mean={"value": 0.41, "n": 7}, MRI_more={"value": 1})
    del after[f"{TABLE}|MRI|share"]
    status, said = compared(cells(), after)
    assert status == 1
    assert f"{TABLE}: 1 moved, 1 new, 1 dropped" in said
    assert "CT|mean: value 0.4 -> 0.41" in said


def test_a_reason_covers_what_it_names_and_nothing_else(compared):
    after = cells(CT_mean={"value": 0.41, "n": 7})
    reason = [{"cells": f"{TABLE}|CT|*", "reason": "another interval"}]
    assert compared(cells(), after, reason)[0] == 0
    assert compared(cells(), after | {f"{TABLE}|MRI|mean": {"value": 9}}, reason)[0] == 1


@pytest.mark.parametrize("moved", [[{"cells": "report|*"}], [{"cells": "gate|*", "reason": "none"}], {"cells": "*"}])
def test_a_list_without_reason_or_that_names_nothing_is_wrong(compared, moved):
    assert compared(cells(), cells(CT_mean={"value": 5}), moved)[0] == 2


def test_words_may_change_where_numbers_stay(compared):
    after = {key.replace("share", "share (90 %)").replace("main", "first"): cell for key, cell in cells().items()}
    status, said = compared(cells(), after)
    assert status == 0
    assert "main -> first" in said
    moved = after | {f"{TABLE.replace('main', 'first')}|CT|mean": {"value": 3}}
    assert compared(cells(), moved)[0] == 1


def test_dates_and_digests_of_a_dump_are_no_part_of_it():
    assert frozen_cells.key("a", "20261127_080211_results") == "a|DATE_results"
    assert frozen_cells.plain("code 0123456789abcdef") == "code HEX"


def test_a_second_cell_with_a_key_keeps_its_place():
    lines = [json.loads(line) for line in frozen_numbers.numbered([("k", {"value": 1}), ("k", {"value": None})])]
    assert lines == [{"key": "k", "value": 1}, {"key": "k#2"}]
