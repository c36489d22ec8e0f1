"""Charts of several models: ranks with the best on top, a look for each model."""

import re
import xml.etree.ElementTree as ElementTree

from lmms_medtasks.report.charts import MODELS
from lmms_medtasks.statistics.calibration import Calibration
from lmms_medtasks.task_configs.medq_deg.report_models_charts import bump, overconfidence

SVG = "{http://www.w3.org/2000/svg}"


def texts(figure):
    return [each.text for each in ElementTree.fromstring(figure.svg).iter(f"{SVG}text")]


def test_ranks_stand_below_each_other_and_lines_that_change_are_joined_in_colour():
    figure = bump({"clean (ours)": {"a": 1, "b": 2, "c": 3}, "mild (ours)": {"a": 2, "b": 1, "c": 3}})
    root = ElementTree.fromstring(figure.svg)
    # 26 pixels a rank, from half a rank below the plot's top at 34: a falls from 1 to 2, c keeps the third.
    places = {each.find(f"{SVG}title").text: (each.get("cx"), each.get("cy")) for each in root.iter(f"{SVG}circle")}
    assert places["a, clean (ours): rank 1"] == ("25%", "47")
    assert places["a, mild (ours): rank 2"] == ("75%", "73")
    kinds = {each.find(f"{SVG}title").text: each.get("class") for each in root.iter(f"{SVG}line") if len(each)}
    assert kinds == {"a": "joined", "b": "joined", "c": "joined-published"}
    assert {"clean", "mild", "ours"} <= set(texts(figure)) and figure.table == "ranks"


def test_task_sets_that_differ_are_numbered_and_named_below():
    figure = bump({"clean (ours)": {"a": 1, "b": 2}, "severe (theirs)": {"a": 1, "b": 2}})
    assert {"1", "2"} <= set(texts(figure)) and "1: clean (ours). 2: severe (theirs)." in figure.about


def test_each_model_has_a_look_and_many_share_one():
    def point(number):
        return Calibration(n=10, accuracy=0.05 * number, confidence=0.5, shift=0.5 - 0.05 * number, no_reply=0,
                           single_option=0, no_answer=0)  # fmt: skip

    names = [f"m{number}" for number in range(len(MODELS) + 2)]
    found = {"clean (ours)": {name: point(number) for number, name in enumerate(names)}}
    figure = overconfidence(found, 3)
    assert set(names[: len(MODELS)]) <= set(texts(figure)) and "other models" in texts(figure)
    assert len(re.findall("<title>m\\d+: accuracy", figure.svg)) == len(names)
