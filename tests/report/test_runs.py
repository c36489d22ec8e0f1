"""From paths to runs, whatever their suite."""

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.samples import runs


def test_folder_and_file_are_the_same_run(write_run):
    folder = write_run()
    (file,) = folder.glob("*_results.json")
    assert len(runs.find_result_files([folder, file])) == 1


def test_folder_without_results_and_no_folder(tmp_path):
    with pytest.raises(UserError, match="No .*_results.json"):
        runs.find_result_files([tmp_path])
    with pytest.raises(UserError, match="is not there"):
        runs.find_result_files([tmp_path / "nothing"])


@pytest.mark.parametrize(
    ("config", "name"),
    [
        ({"model": "qwen2_5_vl", "model_args": "pretrained=org/model-3B,device=cuda"}, "org/model-3B"),
        ({"model": "openai", "model_args": {"model_version": "m-1", "api_key": "secret"}}, "m-1"),
        ({"model": "openai", "model_args": "api_key=secret"}, "openai"),
        ({"model": "a\x1b[31mb\nc"}, "a\ufffd[31mb\ufffdc"),
        ({}, "unnamed model"),
    ],
)
def test_model_name(config, name):
    assert runs.model_name({"config": config}) == name
