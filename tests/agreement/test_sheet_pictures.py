"""The pictures of a rating sheet: those of the drawn questions, from data that is on this machine."""

import io
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from PIL import Image

from lmms_medtasks.agreement import judged_answers, sheet_pictures
from lmms_medtasks.agreement.sheet import draw
from lmms_medtasks.data import locating
from lmms_medtasks.samples import runs


@pytest.fixture
def ids():
    located = locating.find("med_cmr", "open", "mini")
    return pq.read_table(located.path, columns=["id"]).column("id").to_pylist()[:3]


def of_run(folder, **told):
    """What is found for a run whose task reads the mini questions of Med-CMR."""
    path = Path(folder) / "x_results.json"
    content = json.loads(path.read_text())
    config = content["configs"]["open"]
    config |= {"dataset_kwargs": {"data_files": {"test": "medtasks://med_cmr/open"}}, "metadata": {"data": "mini"}}
    config["lmms_eval_specific_kwargs"]["default"] |= told
    path.write_text(json.dumps(content))
    drawn = draw(judged_answers.read([Path(folder)]), 10)
    return sheet_pictures.read(runs.find([Path(folder)]), drawn), drawn


def test_the_pictures_of_the_drawn_questions(write_run, ids):
    found, drawn = of_run(write_run({id: ["34"] for id in ids}))
    assert sorted(found.of_question) == sorted(ids) and not found.problems
    for each in drawn:
        for name in found.names(each):
            assert each.answer.key.id not in name
            with Image.open(io.BytesIO(found.files[name])) as picture:
                assert picture.mode == "RGB" and max(picture.size) <= 640 and not picture.info.get("exif")


def test_no_pictures_where_the_model_had_none_or_the_data_is_not_here(write_run, ids):
    assert not of_run(write_run({id: ["34"] for id in ids}), no_image=True)[0].files
    assert not of_run(write_run({"other": ["34"]}, "other"))[0].files
