"""Checks that execute a contribution, the page, and the command."""

import json

import pytest
from typer.testing import CliRunner

from lmms_medtasks.cli.app import build_app
from lmms_medtasks.contribute.validate import validate_folder
from lmms_medtasks.suites import registry

OWN_HOOK = """\
from lmms_medtasks.data.adapter import from_columns

documents = from_columns(image="img", question="q", options=["a", "b"], answer="label")
seen = []

def process_results(doc, results):
    {body}
"""


OWN_METRICS, AGGREGATE = ("accuracy", "chance"), "lmms_medtasks.harness.scoring.aggregate"


def errors(folder, **more):
    return [str(each) for each in validate_folder(folder, **{"write": True, **more}).errors]


def own_hook(folder, body):
    (folder / "adapter.py").write_text(OWN_HOOK.format(body=body), "utf-8")
    path = folder / "_template_yaml"
    text = path.read_text("utf-8")
    rows = [f"{{metric: {name}, aggregation: !function {AGGREGATE}, higher_is_better: true}}" for name in OWN_METRICS]
    text = text.replace("!function lmms_medtasks.harness.scoring.DECLARED", f"[{', '.join(rows)}]")
    path.write_text(
        text.replace("lmms_medtasks.harness.template_hooks.choice_scoring.process_results", "adapter.process_results"),
        "utf-8",
    )
    return folder


def test_a_wrong_chart_in_its_report(chest_side, monkeypatch):
    monkeypatch.setattr(registry, "_GIVEN", {})
    chart = 'from lmms_medtasks.report.charts import Chart\nCHART = Chart("pie", "c", "C", "", "t", ("a",))\n'
    (chest_side / "report.py").write_text(chart)
    assert any("pie" in each and "report.py, line 2" in each for each in errors(chest_side)), errors(chest_side)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("model,acuracy\nGPT-5,60\n", "published.csv, line 1. Did you mean 'accuracy'"),
        ("model,accuracy\nGPT-5,n/a\n", "published.csv, line 2: accuracy is 'n/a', expected a number"),
        ("model,accuracy\nGPT-5,60\n", ""),
    ],
)
def test_the_published_rows(chest_side, row, said):
    (chest_side / "reference").mkdir(exist_ok=True)
    (chest_side / "reference" / "published.csv").write_text(row, "utf-8")
    found = errors(chest_side)
    assert any(said in each for each in found) if said else not found, found


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return {'accuracy': {}, 'other': 1}", "gives values under 'other', which metric_list does not have"),
        ("return {'accuracy': {'score': 1.0}}", "gives no value under 'chance', which metric_list has"),
        ("return 1.0", "gives a float, expected a mapping metric -> value"),
        ("return {}['x']", "raises on the reply 'B': KeyError: 'x'"),
        ("doc['note'] = 1\n    return {}", "changes the document that it is given"),
        ("seen.append(1)\n    return {'accuracy': {'score': len(seen)}}", "gives other values in another order"),
    ],
)
def test_a_hook_of_ones_own(body, said, chest_side):
    assert any(said in each for each in errors(own_hook(chest_side, body))), errors(chest_side)


def test_a_degradation_for_another_modality_in_the_data(make):
    folder = make(settings={"degradation": "low_dose", "severity": 1})
    table = folder / "questions.csv"
    lines = table.read_text("utf-8").splitlines()
    table.write_text("\n".join([lines[0] + ",modality", *(line + ",MRI" for line in lines[1:])]) + "\n", "utf-8")
    assert "row 1 (id '0'): 'low_dose' is not for 'MRI' images, only for CT" in errors(folder)[0]


def test_a_parser_that_cannot_read_its_own_options(make):
    folder = make()
    table = folder / "questions.csv"
    table.write_text(table.read_text("utf-8").replace("left,right,", "B,right,").replace(",left,", ",B,"), "utf-8")
    said = errors(folder)
    assert "the parser 'option' reads its own answer" in said[0], said


def test_a_changed_prompt_is_told(chest_side):
    validate_folder(chest_side, write=True)
    assert errors(chest_side, write=False) == []
    (chest_side / "prompt.txt").write_text("{question}\n{options}\nSay the letter.\n", "utf-8")
    said = errors(chest_side, write=False)
    assert len(said) == 2 and "the prompt is another than recorded" in said[0]
    assert "'{question}" in said[0] and "Say the letter." in said[0]


def test_texts_on_the_page_are_escaped(chest_side, tmp_path):
    table = chest_side / "questions.csv"
    table.write_text(table.read_text("utf-8").replace("On which", "<script>alert(1)</script> On which"), "utf-8")
    assert errors(chest_side, show=tmp_path / "page.html") == []
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "<script>" not in page and page.count("&lt;script&gt;") == 10
    assert page.count("data:image/png;base64,") == 5


def command(*arguments):
    return CliRunner().invoke(build_app(), ["validate", *map(str, arguments)])


def test_the_command_exits_with_1_if_anything_is_wrong(chest_side):
    done = command(chest_side, "--static")
    assert (done.exit_code, done.output) == (0, "Nothing was executed. 0 errors, 0 other findings.\n")
    (chest_side / "prompt.txt").write_text("{options}", "utf-8")
    done = command(chest_side, "--static")
    assert done.exit_code == 1
    assert done.output.startswith("prompt.txt: error: has no {question} in it")


def test_one_yaml_of_a_folder(chest_side):
    (chest_side / "chest_side_noimage.yaml").write_text("[]", "utf-8")
    assert command(chest_side / "chest_side.yaml", "--static").exit_code == 0


def test_the_snapshot_holds_no_question_of_the_data(chest_side):
    validate_folder(chest_side, write=True)
    recorded = json.loads((chest_side / "prompts.json").read_text("utf-8"))
    assert "bright spot" not in json.dumps(recorded)


def test_the_yaml_is_loaded_as_the_harness_loads_it(make):
    from lmms_eval.utils import load_yaml_config

    from lmms_medtasks.contribute.loaded import merged_task_config
    from lmms_medtasks.task_yaml.chain import read_include_chain
    from lmms_medtasks.task_yaml.problems import ValidationLog

    def comparable(value):
        if callable(value):
            return getattr(value, "digested", None) or f"{value.__module__}.{value.__qualname__}"
        if isinstance(value, dict):
            return {key: comparable(each) for key, each in value.items()}
        return [comparable(each) for each in value] if isinstance(value, list) else value

    for path in sorted(make().glob("*.yaml")):
        assert comparable(merged_task_config(read_include_chain(path, path.parent, ValidationLog()))) == comparable(
            load_yaml_config(str(path))
        )


def test_validate_needs_no_torch(chest_side):
    """A check of a few questions takes seconds, importing the harness takes more."""
    import subprocess
    import sys

    code = (
        "import sys, pathlib; from lmms_medtasks.contribute.validate import validate_folder\n"
        "found = validate_folder(pathlib.Path(sys.argv[1]), write=True)\n"
        "assert found.told and not found.problems, found.problems\n"
        "assert not {'torch', 'transformers', 'lmms_eval.tasks'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code, str(chest_side)], check=True)


def test_a_card_to_be_filled_in_keeps_nobody_from_the_other_checks(chest_side):
    card = chest_side / "README.md"
    card.write_text(card.read_text("utf-8").replace("CC0", "(to be filled in)"), "utf-8")
    found = validate_folder(chest_side)
    assert [each.file for each in found.errors] == ["README.md", "prompts.json"]
    assert any("random answers: questions" in line for line in found.told)
    assert not any("no metric has a value" in line for line in found.told)


def test_write_records_the_prompts_beside_an_unfinished_card_and_says_where_it_does_not(chest_side):
    card = chest_side / "README.md"
    card.write_text(card.read_text("utf-8").replace("CC0", "(to be filled in)"), "utf-8")
    found = validate_folder(chest_side, write=True)
    assert [each.file for each in found.errors] == ["README.md"]
    recorded = (chest_side / "prompts.json").read_bytes()

    (chest_side / "prompt.txt").write_text("{options}", "utf-8")
    found = validate_folder(chest_side, write=True)
    assert any("prompts.json was not written" in line for line in found.told)
    assert (chest_side / "prompts.json").read_bytes() == recorded


def test_one_yaml_written_leaves_the_records_of_the_others(chest_side):
    validate_folder(chest_side, write=True)
    whole = (chest_side / "prompts.json").read_bytes()
    validate_folder(chest_side / "chest_side.yaml", write=True)
    assert (chest_side / "prompts.json").read_bytes() == whole
    (chest_side / "chest_side_noimage.yaml").unlink()
    [said] = errors(chest_side, write=False)
    assert said.startswith("prompts.json: error: chest_side_noimage: there is no such task any more")


def test_the_page_tells_side_and_degradation_and_shows_both_sides(make):
    settings = {"shift": {"column": "unit", "iid": "0", "ood": "1"}, "degradation": "gaussian_noise", "severity": 2}
    folder = make(template="shift_pair", settings=settings)
    page = folder / "page.html"
    assert errors(folder, show=page) == []
    text = page.read_text("utf-8")
    assert text.count("test i.i.d., degradation gaussian_noise, severity 2") == 6  # 3 of 5, in two tasks
    assert text.count("test shifted, degradation gaussian_noise, severity 2") == 4


def test_a_data_set_that_no_network_leads_to(chest_side, monkeypatch):
    import datasets

    def load_dataset(path, **_):
        raise ConnectionError(f"Couldn't reach {path!r} on the Hub (OfflineModeIsEnabled)")

    monkeypatch.setattr(datasets, "load_dataset", load_dataset)
    said = errors(chest_side)[0]
    assert said.startswith(
        "chest_side.yaml, chest_side_noimage.yaml: error: its data can't be had: Couldn't reach 'parquet' on the Hub"
    )
    assert "without HF_HUB_OFFLINE" in said


def test_a_prompt_that_needs_a_column_of_the_data_is_told_to_be_out_of_the_snapshot(tmp_path):
    from types import SimpleNamespace

    from lmms_medtasks.contribute import live
    from lmms_medtasks.task_yaml.problems import ValidationLog

    (tmp_path / "prompts.json").write_text("{}", "utf-8")
    task = SimpleNamespace(name="own", template=None, prompt=lambda doc: doc["ward"])
    live.check_snapshot(tmp_path, [task], found := ValidationLog())
    [problem] = found.problems
    assert (problem.level, problem.key) == ("warning", "own")
    assert "KeyError: 'ward'" in problem.message and "will not be noticed" in problem.message
