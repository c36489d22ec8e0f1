"""Charts of several models: ranks with the best on top, a look for each model."""

import xml.etree.ElementTree as ElementTree

from lmms_medtasks.report.cells import decimal, label, share
from lmms_medtasks.report.charts.svg import MODELS
from lmms_medtasks.report.document import Cell, Frame, FrameRow
from lmms_medtasks.task_configs.medq_deg.report_models_charts import BUMP, OVERCONFIDENCE

SVG = "{http://www.w3.org/2000/svg}"


def texts(figure):
    return [each.text for each in ElementTree.fromstring(figure.svg).iter(f"{SVG}text")]


def ranks(conditions, models):
    rows = tuple(FrameRow((Cell(name), *map(Cell, places))) for name, places in models.items())
    return Frame("ranks", "Ranks", (label("model"), *map(decimal, conditions)), rows)


def test_ranks_stand_below_each_other_and_lines_that_change_are_joined_in_colour():
    figure = BUMP.of(ranks(["clean (ours)", "mild (ours)"], {"a": (1, 2), "b": (2, 1), "c": (3, 3)}))
    root = ElementTree.fromstring(figure.svg)
    # 26 pixels a rank: a falls from 1 to 2.
    places = {each.find(f"{SVG}title").text: (each.get("cx"), each.get("cy")) for each in root.iter(f"{SVG}circle")}
    (left, first), (right, second) = places["a, clean (ours): 1.000"], places["a, mild (ours): 2.000"]
    assert (left, right) == ("25%", "75%") and float(second) - float(first) == 26
    kinds = {each.find(f"{SVG}title").text: each.get("class") for each in root.iter(f"{SVG}line") if len(each)}
    assert kinds == {"a": "joined-thin", "b": "joined-thin", "c": "joined-published"}
    assert {"clean", "mild", "ours"} <= set(texts(figure)) and figure.table == "ranks"


def test_task_sets_that_differ_have_their_whole_names():
    figure = BUMP.of(ranks(["clean (ours)", "severe (theirs)"], {"a": (1, 1), "b": (2, 2)}))
    assert {"clean (ours)", "severe (theirs)"} <= set(texts(figure))


def test_each_model_has_a_look_and_many_share_one():
    names = [f"m{number}" for number in range(len(MODELS) + 2)]
    columns = (label("level and task set"), label("model"), share("accuracy"), decimal("shift", signed=True))
    rows = tuple(FrameRow((Cell("clean (ours)"), Cell(name), Cell(5.0 * number), Cell(0.5 - 0.05 * number)))
                 for number, name in enumerate(names))  # fmt: skip
    figure = OVERCONFIDENCE.of(Frame("points", "Points", columns, rows))
    assert set(names[: len(MODELS)]) <= set(texts(figure)) and "other models" in texts(figure)
    assert {each["series"] for each in figure.marks} == set(names)
