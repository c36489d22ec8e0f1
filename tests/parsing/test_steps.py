"""Chains of reasoning taken apart."""

import pytest

from lmms_medtasks.parsing.steps import split_steps


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("a fall\na gap\n\na fracture", ["a fall", "a gap", "a fracture"]),
        ("1. A fall.\n2) A gap.\n- So what.", ["A fall.", "A gap.", "So what."]),
        ("Step 1: a fall. Step 2: a gap.", ["a fall.", "a gap."]),
        ("(1) a fall (2) a gap of 2.5 mm", ["a fall", "a gap of 2.5 mm"]),
        ("①外伤②骨折", ["外伤", "骨折"]),
        ("fall → gap → fracture", ["fall", "gap", "fracture"]),
        ("He fell. There is a gap of 2.5 mm. It is a fracture.",
         ["He fell.", "There is a gap of 2.5 mm.", "It is a fracture."]),
        ("有外伤史。影像示骨折。", ["有外伤史。", "影像示骨折。"]),
        ("pain at rest", ["pain at rest"]),
        ("See e.g. the cortex", ["See e.g. the cortex"]),
        ("2.5 mm wide\n0.5 mm deep", ["2.5 mm wide", "0.5 mm deep"]),
        (" \n", []),
        ("1.\n2.", []),
    ],
)  # fmt: skip
def test_split(text, steps):
    assert split_steps(text) == steps
