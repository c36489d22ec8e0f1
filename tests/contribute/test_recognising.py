"""What `new` tells of a table's columns without an option, says, and shows before it writes."""

import base64
import csv

import datasets
import pytest
from typer.testing import CliRunner

from lmms_medtasks.cli.app import build_app
from lmms_medtasks.contribute import recognising
from lmms_medtasks.contribute.new import NewTaskRequest, adapter_arguments, make_adapter, write_task_folder
from lmms_medtasks.data import table_cells
from lmms_medtasks.errors import UserError
from lmms_medtasks.harness.template_hooks.choice_scoring import make_choice_record
from tests.contributed_tables import CARD, load, looked, made, png, table


def vlmevalkit(tmp_path):
    """A table as VLMEvalKit's: base64 pictures, rows that name another row's, options A to D, some of them empty."""
    folder = tmp_path / "asked"
    folder.mkdir()
    rows = []
    for number in range(12):
        picture = base64.b64encode(png(number * 20)).decode() if number % 3 == 0 else str(100 + number - number % 3)
        options = ["B", "A", "C" if number % 2 else "", ""]  # texts that are letters too
        rows.append([100 + number, picture, f"Which, {number}?", *options, "ABC"[number % 2], "cat", "test"])
    with (folder / "bench.tsv").open("w", encoding="utf-8", newline="") as file:
        header = ["index", "image", "question", "A", "B", "C", "D", "answer", "category", "split"]
        csv.writer(file, delimiter="\t").writerows([header, *rows])
    return folder / "bench.tsv"


def test_vlmevalkits_tables_need_no_option(tmp_path):
    path = vlmevalkit(tmp_path)
    found = looked(path)
    assert (found.wanted.template, found.wanted.answer_is) == ("multiple_choice", "letter")
    write_task_folder(found.wanted)
    documents = load(path.parent).documents
    assert documents["id"][:] == [str(100 + number) for number in range(12)]
    assert documents["answer"][:] == list("AB" * 6)
    assert len(set(documents["image_id"][:])) == 4  # each picture has three questions
    assert documents[1]["options"] == ["B", "A", "C"]


def test_the_command_shows_before_it_writes_and_look_writes_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = vlmevalkit(tmp_path)
    done = CliRunner().invoke(build_app(), ["new", "asked", "--dataset", str(path), "--look"])
    assert done.exit_code == 0, done.output
    assert "answer: column answer (letter)" in done.output and "correct: A; images: 1" in done.output
    assert "not used: category, split" in done.output
    shifted = CliRunner().invoke(
        build_app(),
        ["new", "asked", "--dataset", str(path), "--look", "--shift", "category:x:y", "--template", "shift_pair"],
    )
    assert "not used: split (" in shifted.output, shifted.output
    elsewhere = CliRunner().invoke(build_app(), ["new", "other", "--dataset", str(path), "--look"])
    assert elsewhere.exit_code == 0 and elsewhere.output.startswith(done.output), elsewhere.output
    assert "bench.tsv' is not in other/. Put the table" in elsewhere.output
    assert [each.name for each in path.parent.iterdir()] == ["bench.tsv"]
    assert CliRunner().invoke(build_app(), ["new", "asked", "--dataset", str(path)]).exit_code == 0
    assert (path.parent / "asked.yaml").is_file()


@pytest.mark.parametrize(
    ("name", "values", "kind"),
    [
        ("answer_index", [0, 1, 2], "index"),
        ("answer_idx", [1, 2, 3], "number"),
        ("label", ["low", "top", "top"], ""),
        ("correct_option", ["a", "B", "C"], ""),
        ("answer", ["(A)", "(B)", "A."], ""),
        ("answer", ["0.0", "1.0", "1.0"], None),
    ],
)
def test_what_answers_are_is_told_by_their_values(name, values, kind, tmp_path):
    records = [{"image": f"p{number}.png", "query": f"q{number}", "choices": ["low", "mid", "top"], name: value}
               for number, value in enumerate(values)]  # fmt: skip
    path = table(tmp_path, records)
    if kind is None:
        assert "write them without .0" in looked(path).problem
        return
    found, documents = made(path)
    assert found.wanted.answer_is == kind
    assert found.wanted.columns == {"image": "image", "question": "query", "answer": name, "options": "choices"}
    assert documents["answer"][0] == "A"


def test_a_count_that_could_start_at_0_or_at_1_is_asked_for(tmp_path):
    records = [{"question": f"q{number}", "options": ["low", "mid", "top"], "answer_index": 1 + number % 2}
               for number in range(6)]  # fmt: skip
    path = table(tmp_path, records)
    found = looked(path)
    assert any("Say --answer-is index or --answer-is number" in line for line in found.said)
    assert not found.wanted.answer_is
    assert looked(path, answer_is="index").wanted.answer_is == "index"


def test_the_answer_that_fits_is_taken_where_two_columns_could_be_it(tmp_path):
    """PMC-VQA's: the answer's text is not quite an option's, its letter stands in another column."""
    records = [{"Figure_path": f"p{number}.png", "Question": f"q{number}", "Choice A": "low", "Choice B": "high",
                "Answer": "LOW.", "Answer_label": "AB"[number % 2]} for number in range(3)]  # fmt: skip
    found, documents = made(table(tmp_path, records))
    assert found.wanted.columns["answer"] == "Answer_label"
    assert documents["answer"][:] == ["A", "B", "A"]


@pytest.mark.parametrize("turns", ["LLaVA", "messages"])
def test_conversations_are_open_questions_without_their_placeholder(turns, tmp_path):
    who, said, roles = (
        ("from", "value", ("human", "gpt")) if turns == "LLaVA" else ("role", "content", ("user", "assistant"))
    )
    column = "conversations" if turns == "LLaVA" else "messages"
    records = [{"id": f"x{number}", "image": f"p{number}.png",
                column: [{who: roles[0], said: "<image>\nWhich level?"}, {who: roles[1], said: f"level {number}"}]}
               for number in range(3)]  # fmt: skip
    records[1][column].insert(0, {who: "system", said: "You are a doctor."})
    found, documents = made(table(tmp_path, records))
    assert "1 of 3 conversations have a turn of the system" in "\n".join(found.said)
    assert "not shown: 'You are a doctor.'. Put it into the prompt" in "\n".join(found.said)
    assert documents["question"][:] == ["Which level?"] * 3
    assert documents["answer"][:] == ["level 0", "level 1", "level 2"]
    assert documents["id"][:] == ["x0", "x1", "x2"]


def test_a_conversation_of_several_questions_is_refused(tmp_path):
    turns = [{"from": who, "value": "x"} for who in ("human", "gpt", "human", "gpt")]
    with pytest.raises(UserError, match="row 1: .*got human, gpt, human, gpt"):
        looked(table(tmp_path, [{"image": "p0.png", "conversations": turns}]))


def test_answers_that_are_yes_or_no_are_read_without_a_judge(tmp_path):
    records = [{"image": f"p{number}.png", "question": f"q{number}", "answer": ["Yes", "no"][number % 2]}
               for number in range(3)]  # fmt: skip
    found, _ = made(table(tmp_path, records))
    assert (found.wanted.template, found.wanted.settings) == ("multiple_choice", {"parser": "yes_no"})
    assert "yes or no" in (tmp_path / "asked" / "prompt.txt").read_text("utf-8")


def test_open_questions_and_questions_without_pictures(tmp_path):
    records = [{"question": f"q{number}", "answer": f"level {number}"} for number in range(3)]
    found, _ = made(table(tmp_path, records))
    assert (found.wanted.template, found.wanted.settings) == ("open", {"no_image": True})


def test_letters_before_options_are_taken_off(tmp_path):
    records = [{"image": f"p{number}.png", "question": f"q{number}", "options": ["A. low", "(B) high"],
                "answer": "AB"[number % 2]} for number in range(3)]  # fmt: skip
    found, documents = made(table(tmp_path, records))
    assert adapter_arguments(found.wanted)["lettered"] is True
    assert documents["options"][:] == [["low", "high"]] * 3


def test_options_called_by_their_letters_and_several_numbered_pictures(tmp_path):
    records = [{"image_1": f"p{number}.png", "image_2": "p0.png", "question": f"q{number}",
                "options": {"A": "low", "B": "high"}, "answer": "AB"[number % 2]}
               for number in range(1, 3)]  # fmt: skip
    found, documents = made(table(tmp_path, records))
    assert found.wanted.columns["image"] == "image_1,image_2"
    assert [len(row["images"]) for row in documents] == [2, 2]
    assert documents["options"][:] == [["low", "high"]] * 2


@pytest.mark.parametrize("written", [["A", "C"], "A, C", "AC", "A and C", '["A", "C"]'])
def test_several_right_letters_are_several_right_answers(written, tmp_path):
    records = [{"image": "p0.png", "question": "q0", "options": ["low", "mid", "top"], "answer": written},
               {"image": "p1.png", "question": "q1", "options": ["low", "mid", "top"], "answer": "B"}]  # fmt: skip
    found, documents = made(table(tmp_path, records))
    assert (found.wanted.several, found.wanted.settings["parser"]) == ("all", "several_letters")
    assert documents["answer"][:] == ["AC", "B"]


@pytest.mark.parametrize("written", ["A or C", "A, or C", "(A) or (C)", "a OR c"])
def test_letters_with_or_between_them_are_each_right(written, tmp_path):
    records = [{"image": "p0.png", "question": "q0", "options": ["low", "mid", "top"], "answer": written},
               {"image": "p1.png", "question": "q1", "options": ["low", "mid", "top"], "answer": "B"}]  # fmt: skip
    path = table(tmp_path, records)
    found, documents = made(path)
    assert (found.wanted.several, found.wanted.settings["parser"]) == ("any", "any_letter")
    assert any("names any of them is right (--several any)" in line for line in found.said)
    assert documents["answer"][:] == ["AC", "B"]
    task = load(path.parent)
    replies = {"A": 1.0, "The answer is C.": 1.0, "C. top": 1.0, "B": 0.0, "A and C": 0.0, "": 0.0}
    scored = {reply: task.score(task.scored[0], [reply])["accuracy"]["score"] for reply in replies}
    assert scored == replies
    assert [make_choice_record(doc, ["A"], "any_letter").measures["chance"].score for doc in task.scored] == [
        2 / 3,
        1 / 3,
    ]


@pytest.mark.parametrize("written", ["A/C", "A | C"])
def test_letters_with_an_unclear_sign_between_them_are_asked_for(written, tmp_path):
    records = [{"image": "p0.png", "question": "q0", "options": ["low", "mid", "top"], "answer": written},
               {"image": "p1.png", "question": "q1", "options": ["low", "mid", "top"], "answer": "B"}]  # fmt: skip
    path = table(tmp_path, records)
    found = looked(path)
    assert found.problem and any("--several all or --several any" in line for line in found.said)
    parsers = {several: made(path, several=several)[0].wanted.settings["parser"] for several in ("all",)}
    assert parsers == {"all": "several_letters"}
    assert looked(path, several="any").wanted.settings["parser"] == "any_letter"


def test_a_second_column_with_other_answers_is_named(tmp_path):
    records = [{"question": f"q{number}", "options": ["low", "top"], "answer": "AB"[number % 2], "label": "A"}
               for number in range(4)]  # fmt: skip
    said = looked(table(tmp_path, records)).said
    assert any("`label`" in line and "differs from `answer` in 2 of 4 rows, the first is row 2" in line
               for line in said)  # fmt: skip


def test_numbers_that_are_options_texts_are_not_taken_for_counts(tmp_path):
    records = [{"question": f"q{number}", "options": ["2", "0", "1"], "answer": str(number)} for number in range(3)]
    found = looked(table(tmp_path, records))
    assert "could be options' texts or count options" in found.problem and not found.wanted.answer_is


def test_options_that_are_letters_make_no_several_answers_of_one(tmp_path):
    """Letters or options' texts: asked for, and never taken for several right answers to get out of it."""
    records = [{"question": f"q{number}", "options": ["B", "A", "D", "C"], "answer": "ABCD"[number]}
               for number in range(4)]  # fmt: skip
    path = table(tmp_path, records)
    found = looked(path)
    assert "could be letters or options' texts" in found.problem and not found.wanted.several
    assert any("--answer-is letter or --answer-is text" in line for line in found.said)
    read = {kind: make_adapter(looked(path, answer_is=kind).wanted) for kind in ("letter", "text")}
    assert {kind: (each.several, each.answer_is) for kind, each in read.items()} == {
        "letter": ("", "letter"), "text": ("", "text")
    }  # fmt: skip


def test_the_training_split_in_a_table_is_named(tmp_path):
    records = [{"question": f"q{number}", "answer": "x", "split": ["train", "test"][number % 2]} for number in range(4)]
    assert any("`split` has test, train" in line for line in looked(table(tmp_path, records)).said)


def test_nothing_is_written_where_the_table_cannot_be_taken(tmp_path):
    path = table(tmp_path, [{"image": "p0.png", "question": "q", "options": ["a", "b"], "answer": "D"}])
    result = CliRunner().invoke(build_app(), ["new", "asked", "--dataset", str(path), "--folder", str(path.parent)])
    assert isinstance(result.exception, UserError) and str(result.exception).endswith("Nothing was written.")
    assert not list(path.parent.glob("*.yaml"))


def test_several_references_of_an_open_question_are_each_right(tmp_path):
    records = [{"image": "p0.png", "question": "q0", "answers": ["liver", "hepar", "liver"]},
               {"image": "p1.png", "question": "q1", "answers": ["spleen"]}]  # fmt: skip
    path = table(tmp_path, records)
    found, documents = made(path)
    assert found.wanted.several == "any" and any("several references" in line for line in found.said)
    assert documents["answer"][:] == ["liver OR hepar", "spleen"]
    task = load(path.parent)
    scored = [task.score(task.scored[0], [reply]) for reply in ("Hepar", "liver", "spleen")]
    assert [values["exact_match"]["score"] for values in scored] == [1.0, 1.0, 0.0]


def test_what_cannot_be_told_is_asked_for(tmp_path):
    path = table(tmp_path, [{"image": "p0.png", "text": "q", "solution": "x"}])
    with pytest.raises(UserError, match="--question COLUMN and --answer COLUMN"):
        looked(path)
    assert looked(path, columns={"question": "text", "answer": "solution"}).wanted.template == "open"


def test_letters_without_their_options_are_no_open_answers(tmp_path):
    records = [{"Bild": f"p{n}.png", "Frage": f"q{n}", "Antwort A": "low", "Antwort B": "top", "Lösung": letter}
               for n, letter in enumerate("AB")]  # fmt: skip
    path = table(tmp_path, records)
    columns = looked(path).wanted.columns
    assert columns == {"image": "Bild", "question": "Frage", "options": "Antwort A,Antwort B", "answer": "Lösung"}
    path.write_text(path.read_text("utf-8").replace("Antwort", "Wahl"), "utf-8")
    with pytest.raises(UserError, match=r"Not used: 'Wahl A', 'Wahl B'\. Say --options COLUMN,.* --template open"):
        looked(path)
    assert looked(path, template="open").wanted.template == "open"
    assert looked(path, columns={"options": "Wahl A,Wahl B"}).wanted.template == "multiple_choice"


def test_a_hubs_data_set_is_looked_at_by_its_first_rows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = {"image": [png(number) for number in range(4)], "question": ["q"] * 4, "choices": [["a", "b"]] * 4,
            "answer": [0, 1, 1, 0]}  # fmt: skip
    data = datasets.Dataset.from_dict(rows).cast_column("image", datasets.Image())
    (tmp_path / "owner" / "name" / "data").mkdir(parents=True)
    data.to_parquet(tmp_path / "owner" / "name" / "data" / "test-00000-of-00001.parquet")
    monkeypatch.setattr(NewTaskRequest, "table", None)
    found = recognising.recognise_tables([NewTaskRequest("asked", "", "owner/name", tmp_path / "asked", card=CARD)])[0]
    assert found.wanted.columns == {"image": "image", "question": "question", "options": "choices", "answer": "answer"}
    assert found.wanted.answer_is == "index" and found.wanted.template == "multiple_choice"
    assert any("images: 1" in line for line in found.said)


def hub_set(tmp_path, monkeypatch, **columns):
    """What `new` tells of a hub's data set with a picture and a question in each of four rows and these columns."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(NewTaskRequest, "table", None)
    rows = {"image": [png(number) for number in range(4)], "question": [f"q{number}" for number in range(4)]}
    data = datasets.Dataset.from_dict({**rows, **columns}).cast_column("image", datasets.Image())
    if "label" in columns:
        data = data.cast_column("label", datasets.ClassLabel(names=["malignant", "benign"]))
    (tmp_path / "owner" / "name" / "data").mkdir(parents=True)
    data.to_parquet(tmp_path / "owner" / "name" / "data" / "test-00000-of-00001.parquet")
    return recognising.recognise_tables([NewTaskRequest("asked", "", "owner/name", tmp_path / "asked", card=CARD)])[0]


def test_a_hubs_class_labels_are_names_and_no_counts(tmp_path, monkeypatch):
    found = hub_set(tmp_path, monkeypatch, options=[["benign", "malignant"]] * 4, label=[0, 1, 1, 0])
    assert found.wanted.answer_is == "" and found.said[-1] == "  correct: B; images: 1"


def test_a_column_of_pictures_is_found_whatever_it_is_called(tmp_path, monkeypatch):
    """A name that nobody thought of must not make a task without pictures of a table that has them."""
    path = table(tmp_path, [{"scan": f"p{number}.png", "question": f"q{number}", "answer": "x"} for number in range(3)])
    found = looked(path)
    assert found.wanted.columns["image"] == "scan" and found.said[-1].endswith("images: 1")
    assert "image" not in looked(path, template="no_image").wanted.columns
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(NewTaskRequest, "table", None)
    data = datasets.Dataset.from_dict({"xray": [png(1), png(2)], "question": ["a", "b"], "answer": ["x", "y"]})
    (tmp_path / "owner" / "name" / "data").mkdir(parents=True)
    data.cast_column("xray", datasets.Image()).to_parquet("owner/name/data/test-00000-of-00001.parquet")
    found = recognising.recognise_tables([NewTaskRequest("asked", "", "owner/name", tmp_path / "asked", card=CARD)])[0]
    assert found.wanted.columns["image"] == "xray" and found.wanted.template == "open"


def test_which_of_several_columns_of_pictures_is_asked_for(tmp_path):
    path = table(tmp_path, [{"scan": "p0.png", "mask": "p1.png", "question": "q", "answer": "x"}])
    with pytest.raises(UserError, match="scan, mask hold images"):
        looked(path)
    assert looked(path, columns={"image": "mask"}).wanted.columns["image"] == "mask"


def test_a_hubs_columns_of_usual_names_are_recognised(tmp_path, monkeypatch):
    """ARC's options are a mapping of lists, and its answer is called answerKey."""
    choices = [{"text": ["cat", "dog"], "label": ["A", "B"]}] * 4
    found = hub_set(tmp_path, monkeypatch, choices=choices, answerKey=["A", "B", "B", "A"])
    assert found.wanted.columns["answer"] == "answerKey" and found.said[-1] == "  correct: A; images: 1"


def test_a_split_that_a_hubs_set_has_not_is_named(tmp_path, monkeypatch):
    hub_set(tmp_path, monkeypatch, answers=[["a", "b"]] * 4)
    with pytest.raises(UserError, match="validation.*Say --split NAME"):
        recognising.recognise_tables(
            [NewTaskRequest("asked", "", "owner/name", tmp_path / "asked", split="validation")]
        )[0]


def test_a_hub_that_cannot_be_reached_is_said(tmp_path, monkeypatch):
    def load_dataset(*_, **__):
        raise ConnectionError("no network")

    monkeypatch.setattr(datasets, "load_dataset", load_dataset)
    wanted = NewTaskRequest("asked", "open", "owner/nothing", tmp_path / "asked", card=CARD)
    assert recognising.recognise_tables([wanted])[0].said == [
        "owner/nothing could not be looked at (ConnectionError: no network)"
    ]
    with pytest.raises(UserError, match="--template: which one"):
        recognising.recognise_tables([NewTaskRequest("asked", "", "owner/nothing", tmp_path / "asked", card=CARD)])[0]


@pytest.mark.parametrize(
    ("record", "more", "said"),
    [
        ({"options": ["1", "2", "3"], "answer": "1"}, {}, "Say --answer-is text or --answer-is index."),
        ({"answer": ["x", "y"]}, {"several": "all"}, "--several all is for options that are right together"),
        ({"answer": "x"}, {"several": "al"}, "Unknown --several 'al'. Did you mean 'all'? Allowed: all, any."),
        ({"answer": "x"}, {"answer_is": "txt"}, "Unknown --answer-is 'txt'. Did you mean 'text'?"),
    ],
)
def test_messages_name_the_options_of_the_command(record, more, said, tmp_path):
    """They named arguments of from_columns, which nobody types at `new`."""
    path = table(tmp_path, [{"id": "a", "question": "Which?", **record}])
    try:
        message = looked(path, **more).problem
    except UserError as error:
        message = str(error)
    assert said in message
    assert not any(text in message for text in ("answer_is", 'several="', "parser", "from_columns"))


def test_an_answer_column_that_the_user_named_is_not_replaced(tmp_path):
    rows = [{"question": "Which?", "options": ["x", "y"], "gt": "A", "second": answer} for answer in ("B", "E")]
    found = looked(table(tmp_path, rows), columns={"answer": "second"})
    assert found.wanted.columns["answer"] == "second" and "'second', row 2: the answer 'E'" in found.problem


def test_a_column_that_is_not_there_is_refused(tmp_path):
    path = table(tmp_path, [{"question": "Which?", "answer": "x"}])
    with pytest.raises(UserError, match="Unknown column 'answr'.*--answer.*Did you mean 'answer'"):
        looked(path, columns={"answer": "answr"})


def test_the_option_for_several_answers_brings_its_parser():
    message = recognising._name_options(table_cells.SEVERAL)
    assert "say --several all: a reply" in message and "say --several any, or --several any alone" in message
