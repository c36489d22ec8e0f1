"""Runs of one method by other settings are no seeds of it, and stand under a name of their own."""

from lmms_medtasks.report.views import ModelResults
from lmms_medtasks.samples.result_files import ResultFile
from lmms_medtasks.samples.table import QuestionTable
from lmms_medtasks.task_configs.sure_vqa.report_published import group_methods


def source(tmp_path, model, metadata):
    content = {
        "configs": {"sure_slake_modality": {"metadata": metadata}},
        "config": {"model": "r", "model_args": f"pretrained={model}"},
    }
    run = ResultFile(tmp_path / "x_results.json", content)
    rows = QuestionTable.of_rows([{"id": "1", "condition": ""}])
    return ModelResults(model, rows, rows, 0, ((run, ("sure_slake_modality",)),))


def test_names(tmp_path):
    paper = {"settings": {"name": "paper", "changes": {"max_new_tokens": 100}}}
    sources = [source(tmp_path, f"lora_seed{number}", each) for number, each in ((1, {}), (2, {}), (1, paper))]
    found = [(each.name, len(each.sources)) for each in group_methods(sources)]
    assert found == [("lora", 2), ("lora_seed1 (paper settings)", 1)]
