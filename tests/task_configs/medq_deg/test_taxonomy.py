"""The taxonomies: complete, consistent with themselves and with the degradations, and nothing placed by guessing."""

import json
import string
from collections import Counter
from fractions import Fraction
from importlib import resources

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from lmms_medtasks import degradations
from lmms_medtasks.degradations import registry
from lmms_medtasks.task_configs.medq_deg import source as taxonomy

FOLDER = resources.files("lmms_medtasks.task_configs.medq_deg")
DATASETS = taxonomy.read_file("capability_names.yml")["datasets"]
PRINTED = taxonomy.read_file("taxonomy.yml")
TOTALS = {name: row["count"] for name, row in PRINTED["totals"].items()}
TYPES = PRINTED["degradations"]["types"]
CATEGORIES = PRINTED["degradations"]["categories"]
MIDS = {mid["name"]: mid for high in PRINTED["capabilities"]["high"] for mid in high["mids"]}
NAMES = [(name, row) for dataset in DATASETS.values() for name, row in dataset["names"].items()]


def test_sizes_are_those_that_the_paper_states():
    assert len(PRINTED["capabilities"]["high"]) == 2
    assert len(taxonomy.mid_capability_names()) == 6
    assert len(taxonomy.fine_capability_names()) == sum(len(mid["fines"]) for mid in MIDS.values()) == 30
    assert len(taxonomy.category_keys()) == 5
    assert len(TYPES) == 18
    assert len(degradations.modalities()) == 7


def test_mid_level_capabilities_and_their_columns_of_table_2():
    assert list(taxonomy.mid_capability_names().values()) == ["CU", "IP", "AR", "BS", "Diag.", "Treat."]
    # rows of Table 4 per mid-level capability
    assert Counter(taxonomy.fine_capability_names().values()) == dict(
        zip(taxonomy.mid_capability_names(), [6, 4, 9, 3, 4, 4], strict=True)
    )


def test_degraded_and_clean_pairs_make_up_the_benchmark():
    assert TOTALS["degraded"] + TOTALS["clean"] == TOTALS["pairs"]  # 20,588 + 4,306 = 24,894
    assert TOTALS["degraded"] == sum(row["count"] for row in TYPES.values())
    assert TOTALS["degraded"] == sum(row["count"] for row in CATEGORIES.values())


def test_table_4_agrees_with_the_total_but_for_anatomy():
    sums = {name: sum(fine["count"] for fine in mid["fines"]) for name, mid in MIDS.items()}
    assert sums.pop("Anatomical Recognition") == 7215
    anatomy = TOTALS["degraded"] - sum(sums.values())
    assert anatomy == 6216
    for fine in MIDS["Anatomical Recognition"]["fines"]:  # all nine printed ratios are of 6,216
        ratio = Fraction(100 * fine["count"], anatomy)
        assert abs(ratio - Fraction(str(fine["ratio_in_mid"]))) <= Fraction(1, 200), fine


def test_degradations_are_those_of_the_code_in_the_same_order():
    assert list(TYPES) == [name for name in degradations.names() if registry.load_sections()[name].get("drawn_for")]
    assert list(dict.fromkeys(map(degradations.category, TYPES))) == list(taxonomy.category_keys()) == list(CATEGORIES)
    for name, row in TYPES.items():
        one = row["modality"]
        printed = degradations.modalities() if one == "All" else (degradations.canonical_modality(one),)
        assert degradations.modalities_of(name) == printed


def test_the_paper_s_names_map_to_themselves():
    for fine, mid in taxonomy.fine_capability_names().items():
        assert taxonomy.mid_of_name(fine) == mid
    for mid in taxonomy.mid_capability_names():
        assert taxonomy.mid_of_name(mid) == mid


@pytest.mark.parametrize(("name", "row"), NAMES, ids=[name for name, _ in NAMES])
def test_a_name_of_a_source_dataset(name, row):
    assert set(row) <= {"fine", "mid", "why"} and row["why"].strip()
    assert not {"fine", "mid"} <= set(row)  # one says all that is known
    mid = taxonomy.fine_capability_names()[row["fine"]] if "fine" in row else row.get("mid")
    assert taxonomy.mid_of_name(name) == mid
    assert mid is None or mid in taxonomy.mid_capability_names()
    if row["why"] == "same name":
        assert folded(name) == folded(row["fine"])


def test_names_of_source_datasets_are_complete_and_unambiguous():
    assert {name: len(dataset["names"]) for name, dataset in DATASETS.items()} == {
        "GMAI-MMBench": 18,  # clinical VQA tasks
        "OmniMedVQA": 5,  # question types
        "MedXpertQA": 14,  # 4 spellings of 3 medical tasks x 2 types, the 4 alone, the 2 types alone
    }
    places: dict[str, set[tuple[str | None, str | None]]] = {}
    for name, row in NAMES:
        places.setdefault(folded(name), set()).add((row.get("fine"), row.get("mid")))
    assert all(len(found) == 1 for found in places.values())


def folded(name):
    return "".join(character for character in name.lower() if character not in " -/")


@given(st.sampled_from(NAMES), st.randoms(use_true_random=False))
def test_case_spaces_and_punctuation_do_not_count(entry, random):
    name, _ = entry
    other = "".join(random.choice([letter.lower(), letter.upper(), letter + " "]) for letter in name).replace("-", "_")
    assert taxonomy.mid_of_name(f"  {other}\t") == taxonomy.mid_of_name(name)


@given(st.text(string.ascii_letters + " -/", max_size=40))
def test_other_names_are_not_guessed(text):
    known = {
        folded(name)
        for name in [
            *taxonomy.fine_capability_names(),
            *taxonomy.mid_capability_names(),
            "Diagnostic Reasoning",
            *dict(NAMES),
        ]
    }
    if folded(text) not in known:
        assert taxonomy.mid_of_name(text) is None


@pytest.mark.parametrize("name", ["", "Count", "Countings", "Disease", "骨", "Diagnosis  "])
def test_near_misses_stay_unmapped(name):
    assert taxonomy.mid_of_name(name) is None


def test_the_bundled_questions_have_capabilities_of_table_4():
    text = resources.files("lmms_medtasks.baselines").joinpath("phantom_questions.yml").read_text("utf-8")
    named = {entry["capability"] for entry in yaml.safe_load(text)}
    assert named and named <= set(taxonomy.fine_capability_names())


@pytest.mark.parametrize("name", ["taxonomy.yml", "capability_names.yml", "reference/discrepancies.yml"])
def test_the_harness_does_not_take_the_data_for_a_task(name):
    keys = yaml.safe_load(FOLDER.joinpath(name).read_text("utf-8")).keys()
    assert not {"task", "group", "tag", "class", "include"} & keys


def test_the_authors_examples_are_mapped(beside):
    rows = json.loads(beside("medq_deg_examples/examples.json").read_text("utf-8"))
    found = {row["capability"]: taxonomy.mid_of_name(row["capability"]) for row in rows}
    assert found == {
        "Organ Recognition - Abdomen": taxonomy.fine_capability_names()["Abdominal Structures"],
        "Cell Recognition": taxonomy.fine_capability_names()["Cell and Microbes"],
        "Disease Diagnosis": taxonomy.fine_capability_names()["Disease Diagnosis"],
    }


def test_every_row_stands_in_the_paper(beside):
    """Each row of Tables 4 and 5, written out again as the paper's text has it, is found there exactly once."""
    lines = Counter(" ".join(line.split()) for line in beside("seeds/000_*.txt").read_text("utf-8").splitlines())
    for name, mid in MIDS.items():
        for row in mid["fines"]:
            written = f"{row['name']} {name} {row['count']:,} {row['ratio_in_mid']:.2f}% {row['ratio_in_total']:.2f}%"
            assert lines[written] == 1, written
    parents = {"motion": "Motion", "intensity": "Intensity", "resolution_blur": "Resolution and Blur"}
    for name, row in TYPES.items():
        category = degradations.category(name)
        parent = parents.get(category, taxonomy.category_keys()[category])
        ratios = f"{row['ratio_in_parent']:.2f}% {row['ratio_in_total']:.2f}%"
        written = f"{name} {parent} {row['count']:,} {ratios} {row['modality']}"
        assert lines[written] == 1, written
    for row in CATEGORIES.values():
        written = f"{row['title']} - {row['count']:,} - {row['ratio_in_total']:.2f}% All"
        assert lines[written] == 1, written
