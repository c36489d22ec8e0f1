"""The seven dimensions in any spelling."""

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.task_configs.med_cmr import dimensions as med_cmr_dimensions
from lmms_medtasks.task_configs.med_cmr.dimensions import dimension_name, dimensions


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("SOD", "SOD"), ("sod", "SOD"), ("Subtle Object Detection", "SOD"), ("small-object detection", "SOD"),
        ("Subtle Object Detection (SOD)", "SOD"), ("SOD: Subtle Object Detection", "SOD"),
        ("Fine-grained Detail Discrimination", "FDD"), ("fine_grained_detail_discrimination", "FDD"),
        ("Spatial Understanding", "SU"), ("Temporal Prediction", "TP"), ("causal reasoning", "CR"),
        ("Long-tail Generalization", "LTG"), ("Long Tail Generalisation", "LTG"), ("Multi-source integration", "MSI"),
        ("MultiSource Integration", "MSI"),
    ],
)  # fmt: skip
def test_dimensions_in_any_spelling(text: str, short: str) -> None:
    assert dimension_name(text) == short


def test_other_dimensions_are_refused_by_name() -> None:
    with pytest.raises(UserError, match=r"Unknown dimension 'OCR'.*Allowed: CR \(Causal Reasoning\)"):
        dimension_name("OCR")


def test_seven_dimensions_whose_spellings_are_each_of_one() -> None:
    assert [each.short for each in dimensions()] == ["SOD", "FDD", "SU", "TP", "CR", "LTG", "MSI"]
    assert [each.side for each in dimensions()] == ["visual"] * 3 + ["reasoning"] * 4
    spellings = [
        med_cmr_dimensions._folded(name)
        for short, entry in med_cmr_dimensions._spellings().items()
        for name in (short, entry["name"], *entry["also"])
    ]
    assert len(spellings) == len(set(spellings))
