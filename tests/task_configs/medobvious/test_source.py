"""Reading MedObvious's release, and everything that can be wrong with it."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from PIL import Image

from lmms_medtasks.cli.data import _describe_manifest as describe_manifest
from lmms_medtasks.data import locating, store
from lmms_medtasks.data.doctor import diagnose_release
from lmms_medtasks.data.prepare import prepare_splits
from lmms_medtasks.errors import DataNotFound, UserError
from lmms_medtasks.grid_positions import NONE_OPTION, parse_size
from lmms_medtasks.grids import tasks as grid_tasks
from lmms_medtasks.task_configs.medobvious import source as medobvious
from lmms_medtasks.task_configs.medobvious.source import ROOT, TASKS

pytestmark = pytest.mark.usefixtures("home")

TOLD = grid_tasks.ItemTexts(
    "an MRI scan", "The highlighted image is an MRI scan.", "All images show CT.", ("mri", "scan")
)


def item(number=0, tier="v1", kind="mri_vs_ct", size="2x2", position=2):
    """The eight lines of an item, with image paths of somebody else's machine."""
    name, size = f"{tier}_{kind}_{number}", parse_size(size)
    images = {"grid": f"{tier}/images/{name}_grid.png", "vis": f"{tier}/images/{name}_vis_pos.png"}
    rows = grid_tasks.make_tasks(name, size, position, TOLD, images)
    images = {"grid": f"{tier}/images/{name}_neg_grid.png", "vis": f"{tier}/images/{name}_vis_neg.png"}
    rows += grid_tasks.make_tasks(name, size, None, TOLD, images)
    return [{**row, "image_path": f"/share/users/somebody/data/{row['image_path']}"} for row in rows]


def write(folder: Path, rows, *, images=True, root=ROOT):
    """A clone with these lines (dictionaries, or texts as they are); the folder that has the JSONL."""
    base = folder / root
    base.mkdir(parents=True, exist_ok=True)
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    (base / TASKS).write_text("\n".join(lines) + "\n", encoding="utf-8")
    for row in rows:
        if images and isinstance(row, dict) and row.get("image_path"):
            path = base / row["image_path"].rpartition(f"{ROOT}/")[2]
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists():
                shade = sum(path.name.encode()) % 256  # another one for every name
                Image.new("RGB", (16, 16), (shade, len(path.name), 0)).save(path)
    return base


def documents(folder: Path):
    """Prepare a folder as a sample; (rows, rejected, notes)."""
    manifest = prepare_splits("medobvious", source=folder)
    place = store.prepared_data_folder("medobvious", manifest["data"])
    split = manifest["splits"]["test"]
    return pq.read_table(place / split["file"]).to_pylist(), store.read_rejected(place / store.REJECTED), split["notes"]


def reject(row, tmp_path):
    """The reason why a line is rejected, among good ones."""
    rows, rejected, _ = documents(write(tmp_path / "clone", [*item(7), row]).parent)
    assert len(rows) == 8
    assert [each["row"] for each in rejected] == [9]
    return rejected[0]["reason"]


@pytest.mark.parametrize("inside", [False, True], ids=["the clone", "its folder"])
def test_an_item_becomes_eight_documents(tmp_path, inside):
    base = write(tmp_path / "clone", item())
    rows, rejected, notes = documents(base if inside else base.parent)
    assert not rejected
    assert [row["task_type"] for row in rows] == [*medobvious.FORMATS, *medobvious.FORMATS[:2], medobvious.FORMATS[4]]
    assert {row["item"] for row in rows} == {"v1_mri_vs_ct_0"}
    assert {(row["tier"], row["kind"], row["grid"]) for row in rows} == {(1, "mri_vs_ct", "2x2")}
    assert [row["negative"] for row in rows] == [0, 0, 0, 0, 0, 1, 1, 1]
    first = rows[0]
    assert first["options"] == ["top-left", "top-right", "bottom-left", "bottom-right", NONE_OPTION]
    assert (first["answer"], first["answer_position"], rows[5]["answer"]) == ("C", "bottom-left", "E")
    # The highlighted panel is the outlier's: its place comes from the item's other questions.
    assert [(row["answer"], row["answer_position"]) for row in (rows[4], rows[7])] == [
        ("yes", "bottom-left"),
        ("no", "none"),
    ]
    # Four questions are about one picture.
    assert len({row["image_id"] for row in rows[:4]}) == 1
    assert len({row["image_id"] for row in rows}) == 4
    assert first["answer_keywords"] == "bottom-left; mri; scan"


def test_a_release_of_the_papers_counts_is_full(tmp_path):
    """The whole of it, in the paper's composition. One image for all: 940 would take their time.

    The authors' site shows items of a sixth tier too (v6_endo_vs_mri_6_det_mcq_neg), which is in no count.
    """
    tiers = {1: 440, 2: 480, 3: 360, 4: 320, 5: 280}
    rows = []
    for tier, count in tiers.items():
        for number in range(count // 8):
            rows += item(number, f"v{tier}", size="3x3" if tier == 3 else "2x2")
    rows = [{**row, "image_path": "one.png"} for row in (*rows, *item(6, "v6", "endo_vs_mri", size="3x3"))]
    found, rejected, _ = documents(write(tmp_path / "clone", rows))
    assert (len(found), len(rejected), {row["data"] for row in found}) == (1880, 0, {"full"})
    (other,) = store.read_prepared_splits("medobvious", "sample").items()
    assert (other[0], other[1].rows) == ("other_tiers", 8)


def test_tiers_that_the_paper_does_not_have_are_kept_apart(tmp_path, capsys):
    rows = [*item(), *item(6, "v6", "endo_vs_mri", size="3x3"), *item(1), *item(0, "v12", "ct_vs_xray")[:3]]
    base = write(tmp_path / "clone", rows)
    found, rejected, notes = documents(base)
    assert [row["tier"] for row in found] == [1] * 16 and not rejected
    groups = "11 rows of groups that the paper does not have: tier 6 (8), tier 12 (3)"
    assert notes["apart"] == {"tier 6": 8, "tier 12": 3} and groups in capsys.readouterr().err
    manifest = store.read_manifest("medobvious", "sample")
    assert "other_tiers: 11 questions of groups that the paper does not have" in manifest["data_because"]
    assert "together           16 rows; the paper: 1,880 tasks" in describe_manifest(manifest)
    assert any(groups in finding.detail for finding in diagnose_release("medobvious", base).findings)
    apart = store.find_prepared_split("medobvious", "sample", "other_tiers")
    kept = pq.read_table(apart.path).to_pylist()
    assert [(row["tier"], row["kind"], row["grid"]) for row in kept] == [
        *[(6, "endo_vs_mri", "3x3")] * 8, *[(12, "ct_vs_xray", "2x2")] * 3,
    ]  # fmt: skip


def test_a_format_that_only_another_tier_has_is_not_counted_to_the_papers_tiers(tmp_path):
    rows = item(6, "v6")
    rows[0]["id"] = "v6_mri_vs_ct_6_count"
    found, rejected, notes = documents(write(tmp_path / "clone", [*item(), *rows]))
    assert (len(found), notes["apart"]) == (8, {"tier 6": 8})
    assert [(each["split"], each["id"]) for each in rejected] == [("other_tiers", "v6_mri_vs_ct_6_count")]


def test_other_tiers_that_are_rejected_as_a_whole_do_not_end_the_preparation(tmp_path, capsys):
    rows = [{**row, "id": f"v6_mri_vs_ct_{number}_count"} for number, row in enumerate(item(6, "v6"))]
    prepare_splits("medobvious", source=write(tmp_path / "clone", [*item(), *rows]))
    assert "other_tiers (sample): all 8 rows were rejected, none is left" in capsys.readouterr().err
    assert store.find_prepared_split("medobvious", "sample", "test").rows == 8
    assert store.find_prepared_split("medobvious", "sample", "other_tiers") is None


def test_no_split_is_made_of_tiers_that_are_not_there(tmp_path):
    base = write(tmp_path / "clone", item())
    assert "apart" not in documents(base)[2]
    assert store.find_prepared_split("medobvious", "sample", "other_tiers") is None
    with pytest.raises(UserError, match="no question of another tier than the paper's: 1, 2, 3, 4, 5"):
        prepare_splits("medobvious", source=base, splits=["other_tiers"])
    only = write(tmp_path / "only", item(tier="v6"))
    with pytest.raises(UserError, match=r"none is left\. The files have 8 rows of groups .* tier 6 \(8\)"):
        prepare_splits("medobvious", source=only)


def test_larger_grids(tmp_path):
    rows, rejected, _ = documents(write(tmp_path / "clone", item(size="4x4", tier="v3", position=6)).parent)
    assert not rejected
    assert {row["answer_position"] for row in rows} == {"row 2, column 3", "none"}
    assert len(rows[0]["options"]) == 17


def test_a_broken_line_is_rejected_with_its_number(tmp_path):
    rows, rejected, _ = documents(write(tmp_path / "clone", [*item()[:3], '{"id": "v1_a', "[]", *item()[3:]]).parent)
    assert len(rows) == 8
    assert [each["row"] for each in rejected] == [4, 5]
    assert rejected[0]["reason"].startswith("line 4 is not JSON")
    assert rejected[1]["reason"] == "line 5 is no JSON object"


def test_questions_whose_images_are_missing_are_rejected(tmp_path):
    base = write(tmp_path / "clone", [*item(), *item(1)])
    (base / "v1/images/v1_mri_vs_ct_1_grid.png").unlink()
    rows, rejected, _ = documents(base)
    assert len(rows) == 12
    assert [each["row"] for each in rejected] == [9, 10, 11, 12]
    assert all("v1_mri_vs_ct_1_grid.png' is not in the source folder" in each["reason"] for each in rejected)


DETECTION, OPEN, _, _, VISUAL, *_ = item(8)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({**DETECTION, "task_type": "detection"}, "task_type 'detection' is unknown, allowed: detection_mcq, "),
        (
            {**DETECTION, "options": {"A": "top-left", "B": "top-right", "C": NONE_OPTION}},
            "options do not fit a 2x2 grid",
        ),
        ({**DETECTION, "options": {**DETECTION["options"], "F": "nowhere"}}, "options do not fit a 2x2 grid"),
        ({**DETECTION, "options": ["top-left"]}, "options are not texts by the letters"),
        ({**DETECTION, "answer": "F"}, "answer 'F' is not among the options A to E"),
        ({**OPEN, "answer": "top-center"}, "answer 'top-center' is no position of a 2x2 grid"),
        ({**VISUAL, "answer": "maybe"}, "answer 'maybe' is neither yes nor no"),
        ({**DETECTION, "answer_position": "middle-left"}, "answer_position 'middle-left' is no position of a 2x2 grid"),
        ({**DETECTION, "answer_position": "top-left"}, "answer 'C' and answer_position 'top-left' contradict"),
        ({**DETECTION, "is_negative": True}, "contradicts task_type 'detection_mcq' or is_negative true"),
        ({**OPEN, "answer": "none"}, "answer 'none' contradicts is_negative false"),
        ({**OPEN, "is_negative": 0}, "is_negative is 0, expected true or false"),
        ({**OPEN, "id": "v1_mri_vs_ct_8_ref_open"}, "contradicts task_type 'detection_open'"),
        ({**OPEN, "id": "mri_8_det_open"}, "is not of the form vTIER_KIND_NUMBER_FORM, as v1_mri_vs_ct_0_det_mcq is"),
        ({**OPEN, "question": "Which?"}, "neither a field grid nor the question says how large the grid is"),
        ({**OPEN, "grid": "9x9"}, "A grid of size '9x9'"),
        ({**OPEN, "options": DETECTION["options"]}, "there are options, but detection_open has none"),
        ({**OPEN, "question": ""}, "question is missing"),
        ({**OPEN, "answer_keywords": 3}, "answer_keywords is no list: '3'"),
        ({key: value for key, value in OPEN.items() if key != "image_path"}, "image_path is missing"),
        (
            {**OPEN, "image_path": "/share/other/../../passwd.png"},
            "image_path '/share/other/../../passwd.png': The path",
        ),
    ],
)
def test_a_bad_line_is_rejected_and_the_reason_says_why(row, reason, tmp_path):
    assert reason in reject(row, tmp_path)


def test_a_size_that_no_question_states_is_told_by_the_options(tmp_path):
    question = "Which position?"
    rows, *_ = documents(write(tmp_path / "clone", [{**DETECTION, "question": question}]).parent)
    assert rows[0]["grid"] == "2x2"


def test_an_image_that_is_none_is_rejected(tmp_path):
    base = write(tmp_path / "clone", item())
    (base / "v1/images/v1_mri_vs_ct_0_vis_pos.png").write_text("<html>")
    rows, rejected, _ = documents(base)
    assert (len(rows), len(rejected)) == (7, 1)
    assert "is a web page" in rejected[0]["reason"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "is empty"),
        (b'{"a": 1}\n', "lacks required fields. Missing: id, .* Required: id, image_path"),
        (b"nonsense\n", "Found: none"),
        (b"\xff\xfe{}", "not UTF-8"),
    ],
)
def test_a_file_of_another_form_is_an_error(text, message, tmp_path):
    base = write(tmp_path / "clone", [])
    (base / TASKS).write_bytes(text)
    with pytest.raises(UserError, match=message):
        prepare_splits("medobvious", source=base)


def test_a_folder_without_the_file_says_what_was_wanted(tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "a.txt").write_text("")
    with pytest.raises(UserError, match=f"{ROOT}/{TASKS} or {TASKS}"):
        prepare_splits("medobvious", source=tmp_path / "other")


def test_without_a_source_it_is_said_how_to_get_one():
    with pytest.raises(UserError, match="on no hub.*git clone https://github.com/Ufaqkhan/MedObvious"):
        prepare_splits("medobvious")
    with pytest.raises(DataNotFound, match="git clone") as error:
        locating.locate_split("medobvious", "test")
    assert "from the hub" not in str(error.value)
