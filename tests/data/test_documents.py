"""The canonical document: what is one, what is none and why, and what its digest depends on."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from lmms_medtasks.data import documents

TAGS = {"modality": "text", "severity": "integer"}


def image(level: int = 0) -> dict[str, Any]:
    buffer = io.BytesIO()
    Image.new("L", (4, 4), level).save(buffer, "PNG")
    return {"bytes": buffer.getvalue(), "path": None}


def document(**changes: Any) -> dict[str, Any]:
    good = {
        "id": "7",
        "image": image(),
        "images": [],
        "question": "Which?",
        "options": ["one", "two"],
        "answer": "B",
        "image_id": "abc",
        "data": "sample",
        "modality": "CT",
        "severity": 0,
    }
    return {**good, **changes}


def test_a_good_document_has_no_problem() -> None:
    assert documents.document_problem(document(), TAGS) is None
    assert documents.document_problem(document(image=None, images=[image(1), image(2)]), TAGS) is None
    assert documents.document_problem(document(options=[], answer="a free text"), TAGS) is None


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"id": " "}, "id is empty"),
        ({"question": ""}, "question is empty"),
        ({"answer": ""}, "answer is empty"),
        ({"image_id": ""}, "image_id is empty"),
        ({"data": "all"}, "data is 'all', allowed: full, sample, mini"),
        ({"answer": "C"}, "answer 'C' is not among the options A to B"),
        ({"answer": "b"}, "answer 'b' is not among the options A to B"),
        ({"answer": "AB"}, "answer 'AB' is not among the options A to B"),
        ({"options": ["one"]}, "there are 1 options, expected 2 to 26"),
        ({"options": ["one", " ", "three"]}, "option B is empty"),
        ({"image": None}, "there is no image"),
        ({"images": [image(1), image(2)]}, "both image and images are filled"),
        ({"image": None, "images": [image()]}, "images holds one image, which belongs into image"),
        ({"image": "file.png"}, "image is not image: 'file.png'"),
        ({"severity": "1"}, "severity is not integer: '1'"),
        ({"severity": True}, "severity is not integer: 'True'"),
        ({"modality": 3}, "modality is not text: '3'"),
        ({"options": "one"}, "options is not texts: 'one'"),
    ],
)
def test_the_reason_is_exact(changes: dict[str, Any], reason: str) -> None:
    assert documents.document_problem(document(**changes), TAGS) == reason


def test_missing_and_extra_fields_are_named() -> None:
    row = document(extra="x")
    del row["modality"]
    reason = documents.document_problem(row, TAGS)
    assert reason == "fields differ from the schema: missing ['modality'], not in it ['extra']"


def test_datasets_sees_images_where_the_schema_has_them(tmp_path: Path) -> None:
    from datasets import Features, Image, Value

    path = tmp_path / "one.parquet"
    rows = [document(), document(id="8", image=None, images=[image(1), image(2)])]
    pq.write_table(pa.Table.from_pylist(rows, documents.document_schema(TAGS)), path)
    features = Features.from_arrow_schema(pq.read_schema(path))
    assert list(features) == [*documents.FIELDS, "modality", "severity"]
    assert features["image"] == Image() and features["images"].feature == Image()
    assert features["severity"] == Value("int64") and features["options"].feature == Value("string")


def test_a_tag_may_not_hide_a_field() -> None:
    with pytest.raises(ValueError, match="'answer'"):
        documents.document_schema({"answer": "text"})
    with pytest.raises(ValueError, match="'float'"):
        documents.document_schema({"dose": "float"})


def test_images_of_takes_one_or_several() -> None:
    one, several = document(), document(image=None, images=[image(1), image(2)])
    assert documents.images_of(one) == [one["image"]]
    assert documents.images_of(several) == several["images"]
    assert documents.images_of({"image": "decoded"}) == ["decoded"]  # documents without the column for several
    assert documents.images_of(document(image=None)) == []  # training questions of the mini data


def test_the_digest_sees_every_field_and_the_order() -> None:
    first, second = document(), document(id="8", image=image(9))
    digest = documents.rows_digest([first, second])
    assert digest == documents.rows_digest([dict(reversed(first.items())), second])
    changed = [
        documents.rows_digest([second, first]),
        documents.rows_digest([first]),
        documents.rows_digest([first, document(id="8", image=image(8))]),
        documents.rows_digest([first, document(id="8", image=image(9), severity=1)]),
        documents.rows_digest([first, document(id="8", image=image(9), question="Which one?")]),
    ]
    assert len({digest, *changed}) == len(changed) + 1


def test_the_digest_does_not_depend_on_the_file(tmp_path: Path) -> None:
    rows = [document(), document(id="8")]
    for name, compression in (("a", "none"), ("b", "gzip")):
        pq.write_table(
            pa.Table.from_pylist(rows, documents.document_schema(TAGS)), tmp_path / name, compression=compression
        )
    read = [documents.rows_digest(pq.read_table(tmp_path / name).to_pylist()) for name in ("a", "b")]
    assert read == [documents.rows_digest(rows)] * 2


texts = st.text(min_size=1).filter(str.strip)


@given(options=st.lists(texts, min_size=2, max_size=26), question=texts, data=st.data())
def test_any_letter_of_the_options_may_be_the_answer_and_no_other(
    options: list[str], question: str, data: st.DataObject
) -> None:
    letter = data.draw(st.sampled_from(documents.LETTERS))
    reason = documents.document_problem(document(options=options, question=question, answer=letter), TAGS)
    assert (reason is None) == (documents.LETTERS.index(letter) < len(options))
