"""What validate says of a parser and metrics of someone's own, and that parts of an installed package are found."""

from __future__ import annotations

import sys

import pytest

from lmms_medtasks import extensions
from lmms_medtasks.contribute.validate import validate_folder
from lmms_medtasks.errors import UserError
from lmms_medtasks.harness.template_hooks import binding, choice_scoring
from lmms_medtasks.judges import registry as protocols
from lmms_medtasks.suites import own_metrics
from lmms_medtasks.suites.templates import parsers
from tests.extending_pages import write_benchmark


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("MEDTASKS_HOME", str(tmp_path / "home"))
    yield write_benchmark(tmp_path / "spots", questions=6)
    protocols.forget_custom_protocols()


def check(path):
    found = validate_folder(path)
    return [str(each) for each in found.problems if "README" not in each.file and "prompts.json" not in each.file], (
        "\n".join(found.told)
    )


def test_the_pages_benchmark_is_right_and_what_its_parts_make_of_replies_is_told(folder):
    problems, told = check(folder)
    assert problems == []
    assert "the parser 'parts.py:read_impression' reads 'A' as A, 'The answer is A.' as unreadable" in told
    assert "spots: sensitivity: right answers 1.000, wrong answers 0.000" in told
    assert "spots: f1: right answers 1.000" in told
    assert "score_place –, score_wording –" in told


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("parts.py", "said[-1]", "said[2]", "fails on .*IndexError.*parts.py line 7"),
        ("parts.py", "return letter", "return option", "which is no answer. Allowed: A, B, C, or None"),
        ("parts.py", "return letter", "return 1", "returns 1 .int.. Expected a text, or None"),
        ("parts.py", "return None", "return 'A'", "finds the answer 'A' in \"I don't know.\": it guesses"),
        ("parts.py", "import re\n", "import re, itertools\nn = itertools.count()\n", ""),
        ("parts.py", "return letter", "return None", "does not read the answer 'A' where it is said plainly"),
        ("parts.py", "reply, doc", "reply", r"takes \(reply\), which"),
        (
            "parts.py",
            "def read_impression",
            "def read_impresion",
            "does not define 'read_impression'. Did you mean 'read_impresion'",
        ),
        ("metrics.py", 'record.tags["spot"]', 'record.tags["spto"]', "row 1, .*there is no 'spto', metrics.py line 8"),
        ("metrics.py", "low=0, high=2", "low=0, high=1", "returns 2, expected 0 to 1"),
        ("metrics.py", 'Mean({"spot": "no"})', 'Mean({"spto": "no"})', "Unknown tag 'spto' in metrics.py.*'spot'"),
        (
            "metrics.py",
            'Mean({"spot": "no"})',
            'Mean({"spot": "none"})',
            "no value, whatever is replied. spot is no, yes",
        ),
        ("metrics.py", "[said + there for", "[said - 2 for", "numbers, 0 or more"),
        (
            "metrics.py",
            'F1 = Metric("f1", Fraction(top=_both, bottom=_either),',
            """from lmms_medtasks.statistics.sums import SumStatistic, make_sum_group
from lmms_medtasks.suites.estimates import Custom, Draw

def _squared(rows):
    columns = make_sum_group(rows.column("cluster").tolist(), [score == 1 for score in rows.column("accuracy.score")])
    ratio = SumStatistic(lambda sums: (sums[..., 1].sum(-1) / sums[..., 0].sum(-1)) ** 2, ("",), (0, 1))
    return Draw({"": columns}, {"mean": ratio})

F1 = Metric("f1", Custom(function=_squared), main=True,""",
            r"metrics.py: the metric 'f1'.*says that it is linear .*They give [\d.]+, its value is [\d.]+",
        ),
        ("metrics.py", 'Mean({"spot": "no"})', 'Mean({"accuracy.score": 1.0})', "by accuracy.score, which the reply"),
        ("metrics.py", 'Metric("f1"', 'Metric("specificity"', "Two metrics are called 'specificity'"),
        ("metrics.py", 'Metric("f1"', 'Metric("parse_rate"', "'parse_rate', which is one of ours"),
        ("spots.yaml", "metrics.py:F1", "metrics.py:F2", "spots.yaml:13: error.*metrics.py does not define 'F2'"),
        ("spots.yaml", "metrics.py:F1", "ece", ""),
    ],
)
def test_a_mistake_is_named(folder, file, old, new, said):
    path = folder / file
    assert old in path.read_text("utf-8")
    path.write_text(path.read_text("utf-8").replace(old, new), "utf-8")
    problems, _ = check(folder / "spots.yaml")
    text = "\n".join(problems)
    import re

    assert re.search(said, text, re.DOTALL) if said else problems == [], text


def test_a_change_between_two_parts_is_no_metric_that_tells_nothing(folder):
    path = folder / "metrics.py"
    text = path.read_text("utf-8").replace(
        'Mean({"spot": "no"})', 'Contrast(first={"spot": "no"}, second={"spot": "yes"})'
    )
    path.write_text(text.replace("import Fraction, Mean", "import Contrast, Fraction"), "utf-8")
    problems, told = check(folder / "spots.yaml")
    assert not [each for each in problems if "tells nothing" in each or "error" in each]
    assert "specificity: right answers 0.000, wrong answers 0.000" in told


def test_a_folder_that_declares_its_metrics_names_them_there(folder):
    (folder / "measures.py").write_text("SUITE = None\n", "utf-8")
    problems, _ = check(folder / "spots.yaml")
    assert "metrics.py:sensitivity: the folder has a measures.py" in "\n".join(problems)


def test_static_checks_execute_nothing_and_find_a_file_that_is_not_there(folder):
    (folder / "parts.py").unlink()
    (folder / "metrics.py").write_text("raise SystemExit\n", "utf-8")
    (folder / "rubric.yml").rename(folder / "rubrics.yml")
    said = "\n".join(str(each) for each in validate_folder(folder, static_only=True).problems)
    assert "there is no file parts.py beside the YAML" in said and "there is no file rubric.yml beside the YAML" in said
    assert "metrics.py does not define 'F1'" in said and "spots.yaml:12" in said


def test_parts_of_an_installed_package_stand_beside_ours(tmp_path, monkeypatch):
    made = tmp_path / "site"
    (made / "example_parts-1.2.dist-info").mkdir(parents=True)
    info = made / "example_parts-1.2.dist-info"
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: example-parts\nVersion: 1.2\n")
    groups = {"parser": "say_b = example_parts:say_b", "metric": "always_half = example_parts:always_half",
              "judge protocol": "two_scores = example_parts:PROTOCOL"}  # fmt: skip
    lines = [f"[{extensions.GROUPS[kind]}]\n{entry}\n" for kind, entry in groups.items()]
    (info / "entry_points.txt").write_text("\n".join(lines))
    rubric = "name: two_scores\nversion: 1\nscores: {side: [0, 1], words: [0, 1, 2]}\nscore: mean\nprompt: p.txt\n"
    (made / "rubric.yml").write_text(rubric)
    (made / "p.txt").write_text("{{question}} {{reference}} {{answer}}")
    (made / "example_parts.py").write_text(
        "from pathlib import Path\nfrom lmms_medtasks.judges import rubric\n"
        "def say_b(reply, doc):\n    return 'B'\ndef always_half(record):\n    return 0.5\n"
        "PROTOCOL = rubric.read(Path(__file__).with_name('rubric.yml'))\n"
    )
    monkeypatch.syspath_prepend(str(made))
    extensions.installed_extensions.cache_clear()
    try:
        assert parsers.get("say_b").read({"id": "1", "options": ["x", "y"]}, "hm").value == "B"
        assert own_metrics.get("always_half").part.origin == "package example-parts 1.2"
        assert protocols.get("two_scores").reference == "two_scores"
        config = {
            "task": "t",
            "process_results": choice_scoring.process_results,
            "lmms_eval_specific_kwargs": {"default": {"parser": "say_b", "metrics": ["accuracy", "always_half"]}},
        }
        bound = binding.bind_template_hooks(config, None)
        parts = bound["metadata"]["own_parts"]
        assert (parts["parser"]["origin"], parts["metrics"][0]["name"]) == ("package example-parts 1.2", "always_half")
        assert "always_half" in [each["metric"] for each in bound["metric_list"]]
        settings = {"parser": "say_bee"}
        with pytest.raises(UserError, match="no such parser.*say_b"):
            binding.bind_template_hooks({**config, "lmms_eval_specific_kwargs": {"default": settings}}, None)
    finally:
        extensions.installed_extensions.cache_clear()
        protocols.forget_custom_protocols()
        sys.modules.pop("example_parts", None)
