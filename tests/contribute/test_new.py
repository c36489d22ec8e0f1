"""The folder that ``lmms-medtasks new`` writes."""

import json
from pathlib import Path

import pytest

from lmms_medtasks.contribute.new import NewTaskRequest, write_task_folder
from lmms_medtasks.contribute.validate import validate_folder
from lmms_medtasks.data import text_tables
from lmms_medtasks.errors import UserError
from lmms_medtasks.suites import templates


def said(call):
    with pytest.raises(UserError) as error:
        call()
    return str(error.value)


@pytest.mark.parametrize("template", [name for name in templates.names() if name != "grid"])
def test_every_template_gives_a_folder_without_errors(template, make):
    more = {}
    if template == "degraded":
        more["settings"] = {"modality": "X-ray"}
    if template.endswith("shift_pair"):
        column = {"column": "hospital", "iid": ["north", "south"], "ood": "harbour"}
        more["settings"] = {"shift": column if template.startswith("open") else {"column": "unit", "iid": 0, "ood": 1}}
    folder = make(
        f"my_{template}", template, data="lesion_words" if template.startswith("open") else "chest_side", **more
    )
    found = validate_folder(folder, write=True)
    assert [str(each) for each in found.problems] == []
    variants = {path.stem for path in folder.glob("*.yaml")}
    assert variants == {f"my_{template}", *(f"my_{template}_{each}" for each in templates.get(template).variants)}
    assert set(json.loads((folder / "prompts.json").read_text("utf-8"))) == variants


def test_a_grid_folder(make, tmp_path):
    folder = tmp_path / "my_grid"
    made = make("base")
    folder.mkdir()
    (made / "images").rename(folder / "images")
    rows = "".join(
        f"images/p{n:02}.png,Where is the outlier?,{a},2x2\n" for n, a in enumerate(["top-left", "none"] * 6)
    )
    (folder / "questions.csv").write_text("image,question,answer,grid\n" + rows, "utf-8")
    card = dict.fromkeys(("paper", "licence", "terms", "about", "deviations"), "none")
    write_task_folder(NewTaskRequest("my_grid", "grid", str(folder / "questions.csv"), folder, card=card))
    found = validate_folder(folder, write=True)
    assert [str(each) for each in found.problems] == []
    assert not (folder / "adapter.py").exists()  # the columns are called as ours
    assert any("chance 0.200" in line for line in found.told)  # four positions and none


def test_the_adapter_is_one_line(chest_side):
    code = [line for line in (chest_side / "adapter.py").read_text("utf-8").splitlines() if line]
    assert code[1:] == ['documents = from_columns(image="img", question="q", options=["a", "b"], answer="label")']


def test_nothing_is_overwritten(chest_side):
    (chest_side / "chest_side.yaml").write_text("mine", "utf-8")
    again = NewTaskRequest("chest_side", "multiple_choice", str(chest_side / "questions.csv"), chest_side,
                   columns={"image": "img", "question": "q", "options": "a,b", "answer": "label"})  # fmt: skip
    assert "is there already. Nothing was written" in said(lambda: write_task_folder(again))
    assert (chest_side / "chest_side.yaml").read_text("utf-8") == "mine"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"name": "My Task"}, "The name 'My Task': expected small letters"),
        ({"name": "class", "part": "open"}, "The name 'class'"),  # of the group
        ({"name": "slake"}, "The name 'slake' is taken: a task of lmms-eval (slake/slake.yaml)"),
        ({"template": "multiple_choise"}, "Did you mean 'multiple_choice'?"),
        ({"dataset": "nowhere.csv"}, "no such file"),
        ({"columns": {"image": "img", "question": "quest"}}, "Unknown column 'quest'"),
        ({"settings": {"severity": 7}}, "severity: '7': no such severity. Allowed: 0, 1, 2"),
        ({"settings": {"judge": "open_answer"}}, "judge is not for the template 'multiple_choice'"),
        ({"template": "shift_pair"}, "the template 'shift_pair' needs"),
        ({"settings": {"shift": {"column": "unti", "iid": 0, "ood": 1}}}, "Did you mean 'unit'?"),
        ({"settings": {"cluster": "unti"}}, "Did you mean 'unit'?"),
    ],
)
def test_says_what_is_wrong(fields, message, example_data, tmp_path):
    folder = example_data / "chest_side"
    columns = {"image": "img", "question": "q", "options": "a,b", "answer": "label"}
    standard = {"name": "a_task", "template": "multiple_choice", "folder": folder, "columns": columns}
    standard["dataset"] = str(folder / "questions.csv")
    assert message in said(lambda: write_task_folder(NewTaskRequest(**{**standard, **fields})))
    assert not list(folder.glob("*.yaml"))


def test_a_table_elsewhere_is_not_taken(example_data, tmp_path):
    wanted = NewTaskRequest(
        "a_task", "multiple_choice", str(example_data / "chest_side" / "questions.csv"), tmp_path / "a_task"
    )
    text = said(lambda: write_task_folder(wanted))
    assert "Put the table and its images there first" in text and f"mv {wanted.dataset} {wanted.folder}/" in text
    assert f"then --dataset {wanted.folder / 'questions.csv'})" in text
    assert f"--folder {example_data / 'chest_side'}." in text


def test_a_table_named_without_its_folder_is_found(example_data, monkeypatch):
    monkeypatch.chdir(example_data)
    for dataset, there in {
        "questions.csv": "There is chest_side/questions.csv: say --dataset chest_side/questions.csv.",
        "chest_side/question.csv": "Did you mean 'chest_side/questions.csv'?",
    }.items():
        wanted = NewTaskRequest("a_task", "multiple_choice", dataset, Path("chest_side"))
        assert there in said(lambda wanted=wanted: write_task_folder(wanted))


def test_data_on_a_hub_and_of_ours(tmp_path):
    for dataset, line in (
        ("owner/name", "dataset_path: owner/name"),
        ("medtasks://medq_deg/clean", "    test: medtasks://"),
    ):
        folder = tmp_path / dataset.partition("/")[0].strip(":")
        write_task_folder(NewTaskRequest("a_task", "multiple_choice", dataset, folder))
        assert line in (folder / "a_task.yaml").read_text("utf-8")


def test_columns_of_tables(tmp_path):
    texts = {
        "a.csv": "x,y\n1,2\n",
        "a.tsv": "x\ty\n1\t2\n",
        "a.jsonl": '{"x": 1, "y": 2}\n',
        "a.json": '[{"x": 1, "y": 2}]',
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, "utf-8")
        path = tmp_path / name
        assert text_tables.read_text_table(path, text_tables.dataset_loader_name(path)).column_names == ["x", "y"]
    (tmp_path / "a.jsonl").write_text("no json\n", "utf-8")
    assert "line 1 is not JSON" in said(lambda: text_tables.read_text_table(tmp_path / "a.jsonl", "json"))
    assert "Allowed: .csv" in said(lambda: text_tables.dataset_loader_name(tmp_path / "a.ods"))
    assert "call it .csv" in said(lambda: text_tables.dataset_loader_name(tmp_path / "a.txt"))
    assert "Save it as .xlsx" in said(lambda: text_tables.dataset_loader_name(tmp_path / "a.xls"))
    assert "Unpack it (gunzip q.jsonl.gz)" in said(lambda: text_tables.dataset_loader_name(Path("q.jsonl.gz")))


def test_no_variant_that_is_the_task_itself(make):
    folder = make(template="degraded", settings={"degradation": "gaussian_noise", "severity": 2})
    assert sorted(path.stem for path in folder.glob("*.yaml")) == [
        "chest_side", "chest_side_clean", "chest_side_noimage",
    ]  # fmt: skip


def test_a_column_that_nobody_named_is_asked_for(tmp_path):
    folder = tmp_path / "my_t"
    folder.mkdir()
    (folder / "t.csv").write_text("file,stem,choices,correct\na.png,x,\"['b', 'c']\",b\n", "utf-8")
    columns = {"image": "file", "options": "choices"}
    wanted = NewTaskRequest("my_t", "multiple_choice", str(folder / "t.csv"), folder, columns=columns)
    text = said(lambda: write_task_folder(wanted))
    assert "which column is the question? Say --question COLUMN. It has 'file', 'stem', 'choices', 'correct'." in text
