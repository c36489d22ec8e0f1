"""The line beside published rows: what a run used decides what it says."""

import pytest

from lmms_medtasks.report import paper_line
from lmms_medtasks.report.views import Source
from lmms_medtasks.samples.result_files import Run
from lmms_medtasks.samples.table import Samples
from lmms_medtasks.suites import paper

JUDGE = {
    "name": "openai:gpt-4o",
    "is_paper_judge": False,
    "protocols": [{"protocol": "med_cmr_open", "paper_judge": "DeepSeek-V3.2-Exp", "prompt": "my.txt", "digest": "d1"}],
}


def said(tmp_path, metadata=None, default=None, limit=None, asked=10):
    """The line of a run of Med-CMR's open task."""
    config = {
        "metadata": {"data": "full", **(metadata or {})},
        "lmms_eval_specific_kwargs": {"default": default or {}},
        "generation_kwargs": {"max_new_tokens": 1024},
    }
    content = {
        "configs": {"med_cmr_open": config},
        "n-samples": {"med_cmr_open": {"original": 10, "effective": asked}},
        "config": {"limit": limit},
    }
    source = Source("m", Samples.of_rows([]), Samples.of_rows([]), 0, ((Run(tmp_path, content), ("med_cmr_open",)),))
    (line,) = paper_line.lines(paper.of("med_cmr"), [source])
    return line


@pytest.mark.parametrize(
    ("chosen", "there"),
    [
        ({}, "prompts are in our words"),
        ({"metadata": {"data": "mini"}}, "mini data"),
        (
            {"metadata": {"data": "5 images of full", "subset": {"size": 5, "units": 9, "unit": "image", "seed": 0}}},
            "a random sample (5 of 9 images, seed 0)",
        ),
        ({"asked": 4, "limit": 4.0}, "--limit 4"),
        ({"metadata": {"judge": JUDGE}}, "judged by openai:gpt-4o, the paper by DeepSeek-V3.2-Exp"),
        ({"metadata": {"judge": {"name": "none", "protocols": []}}}, "no judge"),
        ({"metadata": {"own_prompt": {"name": "a.txt", "digest": "0f"}}}, "the prompt is the file a.txt (0f)"),
        (
            {"metadata": {"judge": JUDGE}, "default": {"judge_prompt": {"med_cmr_open": "/x/my.txt"}}},
            "the judge's prompt of med_cmr_open is the file my.txt (d1)",
        ),
        ({"default": {"no_image": True}}, "no image is shown"),
        (
            {"metadata": {"changed_by_options": {"generation": {"temperature": [0.0, 1]}}}},
            "temperature=1 instead of 0",
        ),
        ({"metadata": {"image_encoding": "JPEG 75"}}, "the runner re-encoded images (JPEG 75)"),
    ],
)
def test_each_difference_is_named_where_the_run_has_it(tmp_path, chosen, there):
    assert there in said(tmp_path, **chosen)
    if chosen:
        assert there not in said(tmp_path)


def test_a_prompt_of_ones_own_takes_the_place_of_our_words(tmp_path):
    line = said(tmp_path, {"own_prompt": {"name": "a.txt", "digest": "0f"}})
    assert "prompts are in our words" not in line
    assert "judged by" not in said(tmp_path, {"judge": {**JUDGE, "is_paper_judge": True}})
