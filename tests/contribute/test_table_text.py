"""A table's text in the documents: as it stands in CSV and TSV, and nothing that is no text from JSON and parquet."""

import csv
import datetime
import json

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lmms_medtasks.contribute.new import NewTaskRequest, write_task_folder
from lmms_medtasks.data.adapter import documents, from_columns
from lmms_medtasks.errors import UserError
from tests.contributed_tables import CARD, COLUMNS, TEXTS, errors, load, table_rows


def write_table(path, rows, columns=COLUMNS, encoding="utf-8"):
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding=encoding, newline="") as file:
        writer = csv.writer(file, delimiter="\t" if path.suffix == ".tsv" else ",")
        writer.writerows([columns, *rows])
    return path


def new(path, template="no_image", **more):
    columns = more.pop("columns", {"options": "a,b,c"})
    write_task_folder(
        NewTaskRequest(path.parent.name, template, str(path), path.parent, columns=columns, card=CARD, **more)
    )
    return path.parent


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_documents_have_the_tables_text_to_the_character(suffix, encoding, tmp_path):
    rows = table_rows()
    path = write_table(tmp_path / "text" / f"q{suffix}", rows, encoding=encoding)
    folder = new(path, tags=("note",), answer_is="letter")
    assert errors(folder) == []
    made = [[doc["id"], doc["question"], doc["options"], doc["answer"], doc["note"]] for doc in load(folder).scored]
    assert made == [[row[0], row[1], [text for text in row[2:5] if text], row[5], row[6]] for row in rows]


def test_open_references_keep_their_text(tmp_path):
    rows = [[str(number), f"q{number}", text] for number, text in enumerate(TEXTS)]
    path = write_table(tmp_path / "references" / "q.csv", rows, ["id", "question", "answer"])
    folder = new(path, "open", columns={}, settings={"no_image": True})
    assert load(folder).scored["answer"][:] == TEXTS


def test_a_row_with_another_number_of_cells_is_named(tmp_path):
    path = write_table(tmp_path / "short" / "q.csv", table_rows())
    folder = new(path)
    path.write_text(path.read_text("utf-8") + "x,y\n", "utf-8")
    assert (
        f"row {len(TEXTS) + 1} (line {len(TEXTS) + 2} with the header): 2 cells, the header has {len(COLUMNS)}"
        in errors(folder)[0]
    )


@pytest.mark.parametrize("option", ["keep_default_na: true", "na_values: [x]", "decimal: ','"])
def test_an_option_that_would_change_the_text_is_refused(option, tmp_path):
    folder = new(write_table(tmp_path / "option" / "q.csv", table_rows()), answer_is="letter")
    path = folder / "option.yaml"
    path.write_text(path.read_text("utf-8").replace("  data_files:", f"  {option}\n  data_files:"), "utf-8")
    assert f"dataset_kwargs.{option.partition(':')[0]}" in errors(folder)[0]


def test_a_csv_table_that_was_loaded_elsewhere_is_refused_where_its_text_is_lost(tmp_path):
    from lmms_medtasks.harness.template_hooks.prepared_documents import prepare_documents

    def loaded_by_guessing(*rows):
        path = write_table(
            tmp_path / f"g{len(list(tmp_path.iterdir()))}.csv", rows, ["id", "question", "answer", "age"]
        )
        return datasets.load_dataset("csv", data_files=str(path), split="train", cache_dir=str(tmp_path / "cache"))

    said = {}
    for name, rows in {"number": [["007", "q", "x", 1]], "missing": [["a", "q", "x", 1], ["b", "q", "NA", 2]]}.items():
        with pytest.raises(UserError) as error:
            prepare_documents(loaded_by_guessing(*rows), adapt=documents, settings={})
        said[name] = str(error.value)
    assert "Column 'id'" in said["number"] and "int64" in said["number"]
    assert "Column 'answer'" in said["missing"]
    # A column that no document is made of may be a number.
    assert prepare_documents(loaded_by_guessing(["a", "q", "x", 1]), adapt=documents, settings={})["answer"][:] == ["x"]


def test_a_severity_in_a_csv_table_is_a_whole_number(tmp_path):
    data = datasets.Dataset.from_dict({"question": ["q"] * 3, "answer": ["x"] * 3, "severity": ["0", "2", ""]})
    assert documents(data)["severity"][:] == [0, 2, None]
    bad = datasets.Dataset.from_dict({"question": ["q"], "answer": ["x"], "severity": ["mild"]})
    with pytest.raises(UserError, match="row 1: 'mild', expected a whole number"):
        documents(bad)


@pytest.mark.parametrize(
    ("options", "answers", "letters"),
    [
        (["7", "8", "9"], ["7", "9"], ["A", "C"]),  # neither an index nor a number of an option
        (["1", "2", "3"], ["2", "3"], None),  # text, number: B and C; index: C, and none for 3
        (["0", "1", "2"], ["1", "2"], None),  # as number A and B, as text B and C
        (["1", "2", "3"], ["1", "2"], None),  # as index B and C
        (["x", "y", "z"], ["1", "2"], None),
    ],
)
def test_whole_numbers_as_text_are_options_only_where_nothing_else_fits(options, answers, letters):
    data = datasets.Dataset.from_dict({"question": ["q", "r"], "options": [options] * 2, "answer": answers})
    if options == ["1", "2", "3"] and answers == ["2", "3"]:
        assert documents(data)["answer"][:] == ["B", "C"]
    elif letters:
        assert documents(data)["answer"][:] == letters
    else:
        with pytest.raises(UserError, match="answer_is="):
            documents(data)


def test_options_as_json_keep_how_a_number_is_written():
    data = datasets.Dataset.from_dict({"question": ["q"], "options": ["[2.50, 3, 1e3]"], "answer": ["2.50"]})
    assert documents(data)[0]["options"] == ["2.50", "3", "1e3"]


def write_records(path, records):
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(records), path)
    else:
        path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    return path


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
@pytest.mark.parametrize(("template", "options"), [("open", None), ("no_image", ["liver", "hepar", "spleen"])])
def test_a_list_of_answers_is_refused_with_row_and_id(suffix, template, options, tmp_path):
    # JSON lines may mix both; a parquet column has one type. A list of one is that one.
    first = "liver" if suffix == ".jsonl" else ["liver"]
    records = [
        {"id": "n1", "question": "q", "answer": first},
        {"id": "n2", "question": "r", "answer": ["liver", "hepar"]},
    ]
    records = [{**record, **({"options": options} if options else {})} for record in records]
    path = write_records(tmp_path / "lists" / f"q{suffix}", records)
    folder = new(path, template, columns={}, settings={"no_image": True})
    said = errors(folder)
    assert said and "Column 'answer', row 2 (id 'n2'): ['liver', 'hepar']" in said[0], said
    assert 'several="all"' in said[0] and 'several="any"' in said[0]


def test_a_list_of_answers_of_another_adapter_is_refused():
    from lmms_medtasks.harness.template_hooks.prepared_documents import prepare_documents

    data = datasets.Dataset.from_dict({"id": ["n1"], "question": ["q"], "options": [["x", "y"]], "answer": [["x"]]})
    with pytest.raises(UserError, match=r"row 1 \(id 'n1'\): \['x'\]"):
        prepare_documents(data, adapt=lambda dataset: dataset, settings={})


@pytest.mark.parametrize("text", ["2.50", "1e3", "3", "true", '"2020-01-01"', '"007"'])
def test_json_keeps_how_a_value_is_written(text, tmp_path):
    path = tmp_path / "numbers" / "q.jsonl"
    path.parent.mkdir()
    lines = ['{"id": "a", "question": "q", "answer": 3}', f'{{"id": "b", "question": "r", "answer": {text}}}']
    path.write_text("\n".join(lines), "utf-8")
    folder = new(path, "open", columns={}, settings={"no_image": True})
    assert errors(folder) == []
    assert load(folder).scored["answer"][:] == ["3", text.strip('"')]


@pytest.mark.parametrize(("value", "way_out"), [(2.5, "as text"), (datetime.datetime(2020, 1, 2), "CSV")])
def test_what_parquet_lost_the_writing_of_is_refused(value, way_out, tmp_path):
    records = [{"id": "0", "question": "q", "answer": value}]
    path = write_records(tmp_path / "numbers" / "q.parquet", records)
    said = errors(new(path, "open", columns={}, settings={"no_image": True}))
    assert said and "Column 'answer', row 1 (id '0')" in said[0] and way_out in said[0], said


def test_whole_numbers_are_texts():
    data = datasets.Dataset.from_dict({"id": [3, 4], "question": ["q", "r"], "answer": [7, None]})
    with pytest.raises(UserError, match=r"row 2 \(id 4\): empty"):
        documents(data)
    assert from_columns()(data.select([0]))[0]["answer"] == "7"
