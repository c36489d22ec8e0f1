"""Bones and Joints: tables of several layouts become documents; what can't is refused, and by name."""

from __future__ import annotations

import csv
import json

import openpyxl
import pytest

from lmms_medtasks.data import documents, store
from lmms_medtasks.data.doctor import diagnose_release
from lmms_medtasks.data.prepare import prepare_splits
from lmms_medtasks.data.releases import LocalRelease
from lmms_medtasks.data.row_reader import RejectedRow
from lmms_medtasks.errors import UserError
from lmms_medtasks.task_configs.bones_joints import source as bones_joints
from lmms_medtasks.task_configs.bones_joints.source import BONES_JOINTS
from lmms_medtasks.task_configs.bones_joints.source_forms import (
    forms_table,
    site_named,
    site_names,
    task_forms,
    task_of_file,
    tasks_named,
)
from lmms_medtasks.task_configs.bones_joints.source_layout import options_in, survey_release
from lmms_medtasks.task_configs.bones_joints.source_rows import figures_named, parse_options

pytestmark = pytest.mark.usefixtures("home")

LETTERS = dict(zip("ABCDE", ("fracture", "tear", "cyst", "gout", "nothing"), strict=True))


def exam(task, number, **changes):
    row = {"id": str(number), "task": task, "question": f"Which is number {number}?", **LETTERS, "answer": "B"}
    return {**row, "site": "Knee joint", **changes}


def case(number, **changes):
    row = {
        "case_id": f"c{number}", "anatomical_site": "Left knee", "disease": "Anterior cruciate ligament tear",
        "medical_history": f"Fell {number} days ago.", "physical_examination": "Swollen.",
        "radiology_report": "The ligament is torn.", "images": f"imgs/{number}.png",
        "diagnosis": "a torn ligament", "diagnostic_reasoning": "1. It swelled. 2. It is torn.",
        "treatment": "reconstruction", "treatment_reasoning": ["young", "active"],
    }  # fmt: skip
    return {**row, **changes}


@pytest.fixture
def source(tmp_path, png):
    """Call as source(name=rows ...): a folder with images 1 to 3 and a table of each name."""

    def make(**tables):
        folder = tmp_path / "source"
        (folder / "imgs").mkdir(parents=True, exist_ok=True)
        for number in range(1, 4):
            (folder / "imgs" / f"{number}.png").write_bytes(png(number))
        for name, rows in tables.items():
            (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        return folder

    return make


def read(folder, split):
    reader = bones_joints.BonesJointsReader(LocalRelease(folder), BONES_JOINTS.split(split))
    found = list(reader.candidates())
    return [each.document for each in found if each.document], [each.reason for each in found if each.reason], reader


def test_a_row_a_question_with_a_task_column(source):
    folder = source(all=[
        exam("Task I", 1), exam("Clinical Note Interpretation", 2, question="A note. Which?"),
        exam("3", 3, image="imgs/1.png"), exam("IV", 4, image="imgs/1.png", answer="a tear", history="Fell."),
    ])  # fmt: skip
    for split, task in (("t1", "t1"), ("t2", "t2"), ("t3", "t3"), ("open", "t4")):
        found, refused, _ = read(folder, split)
        assert [document["task"] for document in found] == [task] and not refused
        assert documents.document_problem({**found[0], "data": "full"}, BONES_JOINTS.tags, images_optional=True) is None
    knowledge, image, diagnosis = (read(folder, split)[0][0] for split in ("t1", "t3", "open"))
    assert knowledge["options"] == list(LETTERS.values()) and knowledge["answer"] == "B"
    assert knowledge["image"] is None and knowledge["image_id"] == "text-t1-1" and knowledge["site"] == "knee"
    assert image["image"]["bytes"] and image["image_count"] == 1
    assert diagnosis["options"] == [] and diagnosis["question"] == "Medical history: Fell.\nWhich is number 4?"
    # The same picture, so the same cluster.
    assert diagnosis["image_id"] == image["image_id"] == image["case_id"]


def workbook(path, **sheets):
    """A workbook with a sheet of each name; the first row is the header."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        sheet.append([*rows[0]])
        for row in rows:
            sheet.append([json.dumps(value) if isinstance(value, list) else value for value in row.values()])
    book.create_sheet("Sheet9")  # Excel's own, empty
    book.save(path)


def test_workbooks_beside_folders_of_images(source):
    """The release's page shows an image folder of sites, and no table that its viewer can read."""
    folder = source()
    (folder / "imgs").rename(folder / "knee")
    exams = [{k: v for k, v in exam("", n, image=f"knee/{n}.png").items() if k != "task"} for n in (1, 2)]
    workbook(folder / "questions.xlsx", **{"Task I": exams[:1], "Task III": exams})
    workbook(folder / "cases.xlsx", Cases=[case(1, images=["knee/1.png", "knee/2.png"])])
    (folder / "~$cases.xlsx").write_bytes(b"locked by Excel")
    assert [each["id"] for each in read(folder, "t1")[0]] == ["t1-1"]
    found, refused, reader = read(folder, "t3")
    assert [(each["id"], each["image_count"], each["options"][4]) for each in found] == [
        ("t3-1", 1, "nothing"), ("t3-2", 1, "nothing"),
    ] and not refused  # fmt: skip
    assert reader.notes["layout"] == {"questions.xlsx, sheet 'Task III'": "file name"}
    found, refused, _ = read(folder, "open")
    assert [(each["id"], each["image_count"]) for each in found] == [(f"t{n}-c1", 2) for n in (4, 5, 6, 7)]
    manifest = prepare_splits("bones_joints", source=folder)
    files = {name: [file["name"] for file in split["source"]["files"]] for name, split in manifest["splits"].items()}
    assert files == {"t1": ["questions.xlsx"], "t3": ["questions.xlsx"], "open": ["cases.xlsx"]}


def test_a_table_of_something_else_is_left_out_with_a_message(source, capsys):
    folder = source()
    workbook(folder / "all.xlsx", Questions=[exam("I", 1)], Legend=[{"word": "ACL", "meaning": "a ligament"}])
    (folder / "metadata.csv").write_text("file_name,site\nimgs/1.png,knee\n", "utf-8")  # of an image folder
    assert [each["id"] for each in read(folder, "t1")[0]] == ["t1-1"]
    said = capsys.readouterr().err
    assert "Left out as no table of questions: all.xlsx, sheet 'Legend' does not say which tasks" in said
    assert "Found columns: word, meaning." in said and "metadata.csv does not say" in said


def test_copies_of_a_table_count_once(source, capsys):
    """The same rows as workbook, as CSV, and by task; rows in another folder name other images."""
    rows = [exam("I", 1, image=""), exam("III", 2, image="imgs/1.png"), exam("III", 3, image="imgs/2.png")]
    folder = source(task_3=[{**row, "id": "", "task": "3"} for row in rows[1:]])
    workbook(folder / "all.xlsx", Questions=rows)
    for path in (folder / "all.csv", folder / "knee" / "all.csv"):
        path.parent.mkdir(exist_ok=True)
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, rows[1])
            writer.writeheader()
            writer.writerows(rows[:2])
    assert [len(read(folder, split)[0]) for split in ("t1", "t3")] == [2, 3] and read(folder, "t3")[2].records == 3
    said = capsys.readouterr().err
    assert "Left out as a copy: the questions of task_3.jsonl are all in all.xlsx, sheet 'Questions'." in said
    assert "questions of all.csv are all in all.xlsx" in said and "knee" not in said


@pytest.mark.parametrize("sign", [";", "|"])
def test_other_separators_are_read(source, sign):
    folder = source()
    rows = [exam("I", 1), exam("I", 2, question="Which, of these?")]
    lines = [sign.join(map(str, cells)) for cells in (rows[0], *(row.values() for row in rows))]
    (folder / "all.csv").write_text("\n".join(lines), "utf-8")
    assert [each["question"] for each in read(folder, "t1")[0]] == ["Which is number 1?", "Which, of these?"]


def test_old_workbooks_are_refused_with_the_way_out(source):
    folder = source()
    (folder / "all.xls").write_bytes(b"\xd0\xcf\x11\xe0" + bytes(600))
    with pytest.raises(UserError, match=r"all.xls is a file of Excel before 2007 .* Save it as .xlsx"):
        prepare_splits("bones_joints", source=folder)


def test_texts_have_no_images(source, capsys):
    manifest = prepare_splits("bones_joints", source=source(all=[exam("I", 1), exam("I", 2)]))
    assert manifest["splits"]["t1"]["images"] == 0 and "2 rows, 0 rejected, 0 images" in capsys.readouterr().err


def test_a_file_a_task(source):
    folder = source(task_1=[{k: v for k, v in exam("", n).items() if k != "task"} for n in (1, 2)])
    assert [each["id"] for each in read(folder, "t1")[0]] == ["t1-1", "t1-2"]


def test_a_row_a_case(source):
    folder = source(cases=[case(1), case(2, images=["imgs/2.png", "imgs/3.png"], disease="Gout")])
    found, refused, reader = read(folder, "open")
    assert [each["id"] for each in found] == [f"t{task}-c{n}" for n in (1, 2) for task in (4, 5, 6, 7)] and not refused
    assert [each["answer"] for each in found[:4]] == [
        "a torn ligament", "1. It swelled. 2. It is torn.", "reconstruction", "young\nactive",
    ]  # fmt: skip
    assert found[0]["question"] == "Medical history: Fell 1 days ago.\nPhysical examination: Swollen."
    assert "ligament" not in found[0]["question"]  # neither report nor diagnosis
    assert found[0]["disease_listed"] == "listed" and found[4]["disease_listed"] == "unlisted"
    assert len(found[4]["images"]) == 2 and found[4]["image"] is None
    assert reader.notes["layout"] == {"cases.jsonl": "cases"}
    assert reader.records == 8


def test_a_cell_may_name_two_tasks(source):
    folder = source(all=[exam("IV & V", 1, image="imgs/1.png", answer="a tear", reasoning="fell -> torn")])
    found, _, _ = read(folder, "open")
    assert [(each["task"], each["answer"]) for each in found] == [("t4", "a tear"), ("t5", "fell -> torn")]


def test_task_three_shows_no_history(source):
    folder = source(all=[exam("III", 1, image="imgs/1.png", history="It must be a tear.")])
    assert read(folder, "t3")[0][0]["question"] == "Which is number 1?"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"images": ""}, "there is no image, which Task IV"),
        ({"images": "imgs/9.png"}, "is not in the source folder"),
        ({"diagnosis": "  "}, r"the reference \(diagnosis\) is empty"),
        ({"medical_history": None, "physical_examination": ""}, "there is no text of the case"),
        ({"image_count": 2}, "image count is 2, there are 1 images"),
    ],
)
def test_cases_that_are_refused(source, changes, reason):
    folder = source(cases=[case(1, **changes), case(2)])
    _, refused, _ = read(folder, "open")
    assert any(reason.replace("\\", "") in each for each in refused), refused


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"answer": ""}, "the reference (answer) is empty"),
        ({"answer": "F"}, "is not among the options"),
        ({"answer": "A B"}, "is not among the options"),
        ({"B": ""}, "option B is empty"),
        ({letter: "" for letter in "ABCDE"}, "there are no options"),
        ({"question": ""}, "question is empty"),
    ],
)
def test_exam_questions_that_are_refused(source, changes, reason):
    found, refused, _ = read(source(all=[exam("I", 1, **changes), exam("I", 2)]), "t1")
    assert len(found) == 1 and reason in refused[0]


def test_how_many_figures_the_text_names_stands_beside_how_many_there_are(source):
    text = "See Figure 1, 2 and 3."
    found, *_ = read(source(cases=[case(1, medical_history=text), case(2)]), "open")
    assert found[0]["figures"] == 3 and found[0]["image_count"] == 1


def test_a_site_that_is_none_of_the_seven_is_kept(source):
    found, *_ = read(source(cases=[case(1, anatomical_site="Skull")]), "open")
    assert found[0]["site"] == "skull"


def test_unknown_columns_are_an_error_that_names_both_sides(source):
    folder = source(task_3=[{"frage": "?", "antwort": "A", "bild": "imgs/1.png"}])
    with pytest.raises(UserError) as caught:
        read(folder, "t3")
    said = str(caught.value)
    assert "task_3.jsonl lacks required columns" in said and "Found: frage, antwort, bild" in said
    for what in ("the text: question, prompt", "the options: options, choices", "ground truth", "the images: image"):
        assert what in said


def test_a_table_that_names_no_task(source):
    with pytest.raises(UserError, match="does not say which tasks its rows are of(.|\n)*Found columns: a"):
        read(source(data=[{"a": 1}]), "t1")


def test_tasks_that_are_unknown(source):
    with pytest.raises(UserError, match="task, 2 rows, first in row 2: Unknown task 'Task IX'. Allowed"):
        read(source(all=[exam("I", 1), exam("Task IX", 2), exam("Task IX", 3)]), "t1")


def test_no_row_of_a_task(source):
    with pytest.raises(UserError, match="no row of Task II, Clinical Note.*have rows of: t1"):
        read(source(all=[exam("I", 1)]), "t2")


def test_a_column_called_type_counts_only_if_it_holds_tasks(source):
    rows = [{**exam("", n), "type": kind} for n, kind in ((1, "I"), (2, "II"))]
    for row in rows:
        del row["task"]
    assert len(read(source(all=rows), "t1")[0]) == 1
    rows[1]["type"] = "easy"
    survey_release.cache_clear()
    with pytest.raises(UserError, match="does not say which tasks"):
        read(source(all=rows), "t1")


def test_prepare_from_a_folder(source, home):
    folder = source(cases=[case(n) for n in (1, 2, 3)], exam_t1=[exam("I", n) for n in (1, 2)])
    manifest = prepare_splits("bones_joints", source=folder)
    assert set(manifest["splits"]) == {"t1", "open"} and manifest["data"] == "sample"
    assert manifest["splits"]["open"]["rows"] == 12
    assert manifest["splits"]["open"]["notes"]["columns"]["cases.jsonl"]["history"] == "medical_history"
    assert "radiology_report" not in manifest["splits"]["open"]["notes"]["columns_unused"]["cases.jsonl"]
    assert store.find_prepared_split("bones_joints", "sample", "open").rows == 12


def test_the_hub_s_files_are_found_by_what_they_hold(source, monkeypatch):
    import types

    import huggingface_hub

    from lmms_medtasks.data import hub

    folder = source(t1=[exam("I", n) for n in (1, 2)])
    (folder / "README.md").write_text("a card")

    def dataset_info(self, repository, revision, timeout):
        assert timeout and (repository, revision) == ("PUTH2025/Bones_and_Joints_Benchmark", "main")
        names = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]
        return types.SimpleNamespace(sha="abc", siblings=[types.SimpleNamespace(rfilename=name) for name in names])

    monkeypatch.setattr(hub, "is_hub_unreachable", lambda: False)
    monkeypatch.setattr(huggingface_hub.HfApi, "dataset_info", dataset_info)
    fetched = []

    def download(repository, name, repo_type, revision):
        fetched.append((name, revision))
        return str(folder / name)

    manifest = prepare_splits("bones_joints", splits=["t1"], download=download)
    assert (manifest["data"], manifest["splits"]["t1"]["counts"]) == ("sample", "2 questions, 129 expected")
    assert set(fetched) == {("t1.jsonl", "abc")}  # of one commit, and no picture that no row names
    monkeypatch.setattr(hub, "is_hub_unreachable", lambda: True)
    with pytest.raises(UserError, match="cannot be listed: no network"):
        hub.HubRelease("x/y", "main").names()


def test_a_csv_with_images_as_base64(tmp_path, png):
    import base64

    folder = tmp_path / "csv"
    folder.mkdir()
    row = {**exam("III", 1), "image": base64.b64encode(png(5, 40)).decode()}
    with (folder / "all.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(row))
        writer.writeheader()
        writer.writerow(row)
    assert read(folder, "t3")[0][0]["image"]["bytes"] == png(5, 40)


# --- spellings --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "tasks"),
    [
        ("I", ("t1",)), ("task_8", ("t8",)), ("T3", ("t3",)), ("Task VII", ("t7",)), ("Diagnosis Generation", ("t4",)),
        ("Task III: Radiological Image Interpretation", ("t3",)), ("Diagnostic Reasoning (Task V)", ("t5",)),
        ("IV & V", ("t4", "t5")), ("VI, VII", ("t6", "t7")), ("Task IX", ()), ("", ()), ("I & x", ()), ("9", ()),
        ("Task III: Diagnosis Generation", ()),
    ],
)  # fmt: skip
def test_task_names(text, tasks):
    assert tasks_named(text) == tasks


@pytest.mark.parametrize(
    ("name", "task"),
    [
        ("task_3.csv", "t3"), ("data/Knowledge Recall/test.jsonl", "t1"), ("t8-00000-of-00001.parquet", "t8"),
        ("Task_VII_test.json", "t7"), ("data/test.csv", ""), ("1.csv", ""), ("bones.json", ""),
    ],
)  # fmt: skip
def test_task_of_a_file(name, task):
    assert task_of_file(name) == task


@pytest.mark.parametrize(
    ("text", "site"),
    [("knee", "knee"), ("Right Shoulder joint", "shoulder"), ("膝关节", "knee"), ("Foot and Ankle", "ankle"),
     ("Lumbar Spine", "spine"), ("左侧膝关节", "knee"), ("右肩", "shoulder"), ("双髋", "hip"), ("skull", ""), ("", "")],
)  # fmt: skip
def test_sites(text, site):
    assert site_named(text) == site


def test_no_name_means_two_things():
    from lmms_medtasks.task_configs.bones_joints.source_forms import fold_name

    names = [fold_name(name) for names in forms_table()["columns"].values() for name in names]
    assert len(names) == len(set(names))
    assert len(task_forms()) == 8 and len(site_names()) == 7
    assert sum(task.paper for task in task_forms().values() if task.key != "t8") == 1245


def test_the_expected_counts_are_the_papers():
    counts = {split: questions for (split,), questions, _ in BONES_JOINTS.expected}
    paper = dict.fromkeys(counts, 0)
    for task in task_forms().values():
        paper[task.split] += task.paper
    assert counts == paper == {"t1": 129, "t2": 101, "t3": 203, "open": 812, "t8": 203}


@pytest.mark.parametrize(
    ("value", "options"),
    [
        (["a", "b"], ["a", "b"]),
        ('["A. a", "B. b"]', ["a", "b"]),
        ({"B": "b", "A": "a", "C": None}, ["a", "b"]),
        ("A. a\nB. b", ["a", "b"]),
        ("a\nb", ["a", "b"]),
    ],
)
def test_options(value, options):
    assert parse_options(value) == options


@pytest.mark.parametrize("value", ["[broken", 5, ["a", ""]])
def test_options_that_are_none(value):
    with pytest.raises(RejectedRow):
        parse_options(value)


def test_options_in_the_question():
    assert options_in("Which?\n(A) one\n(B) two") == ("Which?", ["one", "two"])
    assert options_in("A. is a letter") == ("A. is a letter", [])


def test_figures():
    assert [figures_named(text) for text in ("Fig. 2 and Figures 4-5", "images 1 and 2", "aged 31", "图3")] == [
        5,
        2,
        0,
        3,
    ]


def test_the_doctor_misses_tasks_without_a_table(source):
    found = diagnose_release("bones_joints", source(cases=[case(1)]))
    states = {each.what: each.state for each in found.findings}
    missing = dict.fromkeys(("split t1", "split t2", "split t3"), "missing")
    notes = {"split open": "note", "split t8": "note"}  # fewer cases than the paper's; not prepared by default
    assert states == {"cases.jsonl": "there", **missing, **notes} and not found.complete
    assert any(each.detail.startswith("4 questions, 812 expected") for each in found.findings)
    assert any("rows of Task I, Knowledge Recall" in each.detail for each in found.findings)
