"""Runs the real harness in this process on a small task of open questions with a model that replies from a table."""

from __future__ import annotations

import json
import types

TEMPLATE = """
task: {name}
dataset_path: json
dataset_kwargs:
  data_files:
    test: data.jsonl
test_split: test
output_type: generate_until
doc_to_visual: !function judge_sample.doc_to_visual
doc_to_text: !function judge_sample.doc_to_text
doc_to_target: !function judge_sample.doc_to_target
process_results: !function judge_sample.{hook}
generation_kwargs:
  max_new_tokens: 16
filter_list:
  - name: trials
    filter:
      - function: take_first_k
        k: 1
cluster_key: cluster
lmms_eval_specific_kwargs:
  default:
    judge: {protocol}
metric_list: !function lmms_medtasks.harness.scoring.DECLARED
metadata:
  version: 1.0
"""

GROUP = """
group: judge_group
task: [judge_open, judge_more]
aggregate_metric_list:
  - metric: correctness
    aggregation: !function lmms_medtasks.harness.scoring.group_mean
    weight_by_size: true
    filter_list: trials
metadata:
  version: 1.0
"""


def write_tasks(folder, documents):
    """The folder with tasks ``judge_open`` and ``judge_more`` (a group) and ``judge_private`` on ``documents``."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = "".join(json.dumps(document) + "\n" for document in documents)
    (folder / "data.jsonl").write_text(lines)
    for name, hook, protocol in (
        ("judge_open", "process_results", "judge_sample:PROTOCOL"),
        ("judge_more", "process_results", "judge_sample:PROTOCOL"),
        ("judge_private", "process_results_private", "judge_sample:PRIVATE"),
    ):
        text = TEMPLATE.format(name=name, hook=hook, protocol=protocol)
        (folder / f"{name}.yaml").write_text(text.replace("data.jsonl", str(folder / "data.jsonl")))
    (folder / "group.yaml").write_text(GROUP)
    return folder


class Model:
    """Replies with what ``replies`` has for a question; a failure text where it has nothing."""

    rank, world_size, is_simple = 0, 1, True
    device = "cpu"

    def __init__(self, replies):
        self.replies, self.task_dict, self.accelerator = replies, {}, types.SimpleNamespace()

    def generate_until(self, requests):
        failed = "[LMMS_EVAL_REQUEST_FAILED after 5 retries] boom"
        return [self.replies.get(request.args[0], failed) for request in requests]

    def clean(self):
        pass


def run(folder, replies, names, output, cli_args=None):
    """Evaluate as ``lmms-eval --log_samples --output_path`` does; the folder with results.json and sample logs."""
    import lmms_eval.evaluator
    import lmms_eval.tasks
    from lmms_eval.loggers.evaluation_tracker import EvaluationTracker

    from lmms_medtasks.harness import evaluating, plugin

    plugin.install_plugin(lmms_eval.tasks.TaskManager)
    evaluating.join_evaluator(lmms_eval.evaluator)
    manager = lmms_eval.tasks.TaskManager(include_path=str(folder), include_defaults=False, model_name="table")
    tasks = lmms_eval.tasks.get_task_dict(names, manager, "simple")
    found = lmms_eval.evaluator.evaluate(lm=Model(replies), task_dict=tasks, cli_args=cli_args, bootstrap_iters=0)
    tracker = EvaluationTracker(output_path=str(output))
    tracker.general_config_tracker.log_experiment_args("table", "", "", "", False)
    samples = found.pop("samples")
    tracker.save_results_aggregated(results=found, samples=samples, datetime_str="20261120_000000")
    for name in found["configs"]:
        tracker.save_results_samples(task_name=name, samples=samples[name])
    return output
