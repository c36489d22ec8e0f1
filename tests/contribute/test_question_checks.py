"""What `validate` says of questions as a whole, and that it shows what a model gets."""

import json

import datasets
import numpy as np
import pytest
from PIL import Image

from lmms_medtasks.contribute.new import NewTaskRequest, write_task_folder
from lmms_medtasks.contribute.validate import validate_folder
from lmms_medtasks.data.adapter import documents
from lmms_medtasks.errors import UserError
from lmms_medtasks.harness.template_hooks.choice_scoring import make_choice_record
from lmms_medtasks.harness.template_hooks.prepared_documents import prepare_documents
from tests.contributed_tables import CARD, load

NINE = list("ABCABCABC")


def folder_of(tmp_path, records, template="no_image", **more):
    folder = tmp_path / "asked"
    folder.mkdir()
    path = folder / "questions.jsonl"
    lines = [{"question": f"question {number}", "options": ["x", "y", "z"], "answer": NINE[number % 9], **record}
             for number, record in enumerate(records)]  # fmt: skip
    path.write_text("".join(json.dumps(each) + "\n" for each in lines), "utf-8")
    write_task_folder(NewTaskRequest("asked", template, str(path), folder, card=CARD, **more))
    return folder


def found(folder):
    return [(each.level, str(each)) for each in validate_folder(folder, write=True).problems]


def the_only_one(folder):
    [(level, text)] = found(folder)
    return level, text


def test_nothing_is_said_of_sound_questions(tmp_path):
    assert found(folder_of(tmp_path, [{}] * 40)) == []


@pytest.mark.parametrize(
    ("records", "level", "said"),
    [
        ([{"question": "same"}, {"question": "same", "answer": "A"}], "warning", "asked twice: '0' and '1'"),
        ([{"question": "same"}, {"question": "same", "answer": "C"}], "error", "another correct answer: ['x'] and"),
        # The right option is the same one in another order.
        ([{"question": "q"}, {"question": "q", "options": ["z", "x", "y"], "answer": "B"}], "warning", "asked twice"),
        ([{"answer": "B"}] * 10, "warning", "the correct answer of all 10 questions is B"),
        ([{"answer": "BC"[number % 2]} for number in range(30)], "warning", "the first option is right in none of 30"),
        ([{"answer": "AB"[number % 2]} for number in range(30)], "warning", "the last option is right in none of 30"),
        ([{"question": "<image> What is it?"}, {}], "warning", "1 questions hold <image>, the first is '0'"),
        ([{"options": ["A. x", "B. y"], "answer": "A"}, {}], "warning", "begin with their letters"),
        ([{"options": ["B. x", "A. y"], "answer": "A"}, {}], "error", "its options begin with B, A"),
    ],
)  # fmt: skip
def test_what_looks_wrong_is_said(records, level, said, tmp_path):
    records = [{"answer": "A", **record} if len(records) == 2 else record for record in records]
    got = [each for each in found(folder_of(tmp_path, records)) if "reads its own answer" not in each[1]]
    assert [each[0] for each in got] == [level] and said in got[0][1], got


def test_questions_without_a_picture_are_counted_wherever_they_stand(make):
    folder = make()
    table = folder / "questions.csv"
    table.write_text(table.read_text("utf-8").replace("images/p09.png", ""), "utf-8")
    assert [each for each in found(folder) if each[0] != "note"] == [
        ("warning", "chest_side.yaml: warning: questions: 1 of 12 questions have no image, the first is '9'.")
    ]


def test_a_prompt_in_the_yaml_is_shown_as_the_harness_makes_it(tmp_path):
    folder = folder_of(tmp_path, [{}] * 9)
    path = folder / "asked.yaml"
    path.write_text(path.read_text("utf-8") + 'doc_to_text: "{{question}}"\n', "utf-8")
    page = folder / "page.html"
    problems = validate_folder(folder, write=True, show=page).problems
    assert {each.level for each in problems} == {"warning"}
    assert all("the option 'x' is not in the prompt" in str(each) for each in problems)
    assert "question 0" in page.read_text("utf-8") and "{{" not in page.read_text("utf-8")


def test_a_prompt_in_the_yaml_that_names_no_field_is_an_error(tmp_path):
    folder = folder_of(tmp_path, [{}] * 9)
    path = folder / "asked.yaml"
    path.write_text(path.read_text("utf-8") + 'doc_to_text: "{{qestion}}"\n', "utf-8")
    assert any("'qestion' is undefined" in text for level, text in found(folder) if level == "error")


def test_examples_before_a_question_are_refused(tmp_path):
    folder = folder_of(tmp_path, [{}] * 9)
    path = folder / "asked.yaml"
    path.write_text(path.read_text("utf-8") + "num_fewshot: 3\n", "utf-8")
    level, text = the_only_one(folder)
    assert level == "error" and "num_fewshot" in text and "expected 0" in text


@pytest.mark.parametrize(("name", "refused"), [("low_dose", True), ("motion_blur", True), ("gaussian_noise", False)])
def test_a_degradation_that_depends_on_the_modality_wants_one(name, refused, make):
    folder = make(template="multiple_choice", settings={"degradation": name, "severity": 1})
    errors = [str(each) for each in validate_folder(folder, write=True).errors]
    assert any("of what modality are the images" in each for each in errors) is refused, errors
    path = folder / "chest_side.yaml"
    path.write_text(path.read_text("utf-8").replace("    parser:", "    modality: CT\n    parser:"), "utf-8")
    assert [str(each) for each in validate_folder(folder, write=True).errors] == []


def test_several_right_options_are_read_and_scored_as_all_of_them(tmp_path):
    records = [{"answer": ["A", "C"]}, {"answer": ["B"]}, {"answer": ["A", "B", "C"]}]
    settings = {"parser": "several_letters"}
    folder = folder_of(tmp_path, records, several="all", answer_is="letter", settings=settings)
    assert found(folder) == []
    task = load(folder)
    assert task.scored["answer"][:] == ["AC", "B", "ABC"]
    replies = {"A, C": 1.0, "C and A": 1.0, "A": 0.0, "ABC": 0.0, "The answer is: A. x, C. z": 1.0, "no idea": 0.0}
    scores = {reply: task.score(task.scored[0], [reply]) for reply in replies}
    assert {reply: values["accuracy"]["score"] for reply, values in scores.items()} == replies
    record = make_choice_record(task.scored[0], ["A, C"], "several_letters")
    assert record.measures["chance"].score == 1 / 7


def test_several_right_options_without_their_parser_are_refused(tmp_path):
    folder = folder_of(tmp_path, [{"answer": ["A", "C"]}], several="all", answer_is="letter")
    assert any("say `parser: several_letters`" in text for level, text in found(folder) if level == "error")


@pytest.mark.parametrize(
    ("column", "value", "named"),
    [
        ("modality", "banana", "Unknown modality 'banana'"),
        ("degradation", "banana", "Unknown degradation 'banana'"),
        ("degradation", "low_dose", "'low_dose' is not for 'Dermoscopy'"),
        ("severity", "7", "got 7"),
        ("modality", "", "is empty. Allowed: CT"),
    ],
)
def test_a_degradation_that_a_row_cannot_have_is_named_before_a_run(column, value, named, tmp_path):
    """Only five questions are shown, the twentieth has it: a run would have ended there."""
    given = {"degradation": "gaussian_noise", "severity": "1", "modality": "Dermoscopy"}
    if not value:
        given |= {"degradation": "low_dose", "modality": "CT"}
    records = [given] * 19
    data = datasets.Dataset.from_list([
        {"id": f"n{n}", "question": "q", "options": ["x", "y"], "answer": "A", **each}
        for n, each in enumerate([*records, {**given, column: value}])
    ])  # fmt: skip
    with pytest.raises(UserError, match=r"row 20 \(id 'n19'\)") as error:
        prepare_documents(data, adapt=documents, settings={})
    assert named in str(error.value)


def test_what_is_odd_about_pictures_is_told(make):
    folder = make()
    odd = np.random.default_rng(0).integers(0, 4000, (40, 40)).astype(np.uint16)
    Image.fromarray(odd).save(folder / "images" / "p00.png")
    Image.new("RGB", (40, 9), (7, 7, 7)).save(folder / "images" / "p01.png")
    page = folder / "page.html"
    told = [
        str(each) for each in validate_folder(folder, write=True, show=page).problems if "images looked at" in str(each)
    ]
    assert [next(kind for kind in ("window", "a side of", "colour") if kind in text) for text in told] == [
        "window", "a side of", "colour",
    ]  # fmt: skip
    assert all(text.startswith("chest_side.yaml: warning: pictures: 1 of 12") for text in told)
    assert "(16 bits)" in page.read_text("utf-8")


@pytest.mark.parametrize(("several", "parser"), [("any", "several_letters"), ("all", "any_letter")])
def test_an_adapter_and_a_parser_must_mean_the_same_by_several_answers(several, parser, tmp_path):
    records = [{"answer": ["A", "C"]}, {"answer": ["B"]}]
    folder = folder_of(tmp_path, records, several=several, answer_is="letter", settings={"parser": parser})
    assert any("Change one of them" in text for level, text in found(folder) if level == "error")
