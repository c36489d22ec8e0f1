"""The mini data of MedObvious: all formats, signs and tiers, two sizes of grids, made by the generator."""

import io
from collections import Counter

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image

from lmms_medtasks.data import documents, mini, sources
from lmms_medtasks.task_configs.medobvious.source import FORMATS
from tools.mini import medobvious


@pytest.fixture(scope="module")
def rows():
    return pq.read_table(mini.mini_file("medobvious", "test")).to_pylist()


def test_what_is_in_it(rows):
    assert mini.mini_file("medobvious", "test").stat().st_size < 1_500_000
    assert set(Counter(row["tier"] for row in rows)) == {1, 2, 3, 4, 5}
    assert {row["task_type"] for row in rows} == set(FORMATS)
    assert {row["grid"] for row in rows} == {"2x2", "3x3"}
    assert {len(row["options"]) for row in rows} == {0, 5, 10}
    sides = Counter((row["item"], row["negative"]) for row in rows)
    assert set(sides.values()) == {5, 3}


def test_rows_are_canonical_documents(rows):
    tags = sources.get("medobvious").tags
    assert all(documents.document_problem(row, tags) is None for row in rows)
    assert {row["data"] for row in rows} == {"mini"}
    assert len({row["id"] for row in rows}) == len(rows)


def test_places_of_outliers_are_known_and_spread(rows):
    places = Counter(row["answer_position"] for row in rows if not row["negative"] and row["grid"] == "2x2")
    assert set(places) == {"top-left", "top-right", "bottom-left", "bottom-right"}
    assert max(places.values()) <= 2 * min(places.values())
    assert all(row["answer_position"] == "none" for row in rows if row["negative"])


def test_the_highlighted_panel_has_a_red_box(rows):
    for row in rows:
        with Image.open(io.BytesIO(row["image"]["bytes"])) as image:
            red = (np.asarray(image.convert("RGB")) == (255, 0, 0)).all(axis=-1).sum()
        assert (red > 500) == (row["task_type"] == "visual_referring"), row["id"]


def test_the_bundled_rows_are_what_the_code_builds(rows):
    """For one tier: the pictures of all take their time."""
    tier = next(each for each in medobvious._TIERS if each.tier == 2)
    fresh = [row for item in medobvious._items(tier) for row in medobvious._documents(item, 2)]
    bundled = [row for row in rows if row["tier"] == 2]

    def plain(row):
        return {key: value for key, value in row.items() if key not in ("image", "image_id")}

    assert [plain(row) for row in fresh] == [plain(row) for row in bundled]
