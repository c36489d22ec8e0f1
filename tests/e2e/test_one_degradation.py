"""The T trials of a question cost one degradation, in a runner of the simple form and in one of the chat form."""

import pytest

COUNTING = """
import os

def register():
    from lmms_medtasks import degradations

    original = degradations.apply

    def apply(image, name, **given):
        if given["strength"]:
            with open(os.environ["DEGRADATIONS_MADE"], "a") as file:
                file.write(f"{name}\\n")
        return original(image, name, **given)

    degradations.apply = apply
    return []
"""


@pytest.fixture
def counting(tmp_path):
    """A folder for PYTHONPATH with which the harness counts degradations in the file DEGRADATIONS_MADE."""
    folder = tmp_path / "counting"
    metadata = folder / "counting_degradations-0.dist-info"
    metadata.mkdir(parents=True)
    (folder / "counting_degradations.py").write_text(COUNTING, "utf-8")
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: counting-degradations\nVersion: 0\n", "utf-8")
    points = "[lmms_eval.models]\ncounting = counting_degradations:register\n"
    (metadata / "entry_points.txt").write_text(points, "utf-8")
    return str(folder)


@pytest.mark.parametrize("runner", ["internvl_hf", "gemma3"])
def test_trials_of_a_question_cost_one_degradation(harness, request, tmp_path, counting, runner):
    folder = request.getfixturevalue({"internvl_hf": "tiny_internvl", "gemma3": "tiny_gemma3"}[runner])
    made = tmp_path / "made"
    done = harness(
        *("--model", runner, "--model_args", f"pretrained={folder},device_map=cpu", "--device", "cpu"),
        *("--tasks", "medq_deg_l2", "--limit", "4", "--gen_kwargs", "max_new_tokens=1"),
        PYTHONPATH=counting,
        DEGRADATIONS_MADE=str(made),
    )
    rows = done.samples("medq_deg_l2")
    assert [len(row["questions"]["trials"]) for row in rows] == [3] * 4
    assert len(made.read_text("utf-8").splitlines()) == 4
