"""Runs of made-up tasks on templates, scored by the templates' own hooks and written as the harness writes them."""

from __future__ import annotations

from pathlib import Path

from lmms_medtasks.harness.template_hooks import binding, choice_scoring, judged_scoring
from lmms_medtasks.suites import templates
from tests.made_up_runs import write_files


def write_run(folder: Path, tasks: dict[str, dict], model: str = "a model", **content) -> Path:
    """A result file with its logs. ``tasks``: name -> template, asked [(document, replies)], settings, metadata."""
    results, configs, lines = {}, {}, {}
    for name, task in tasks.items():
        template = templates.get(task["template"])
        metadata = {"template": template.name, "version": 1.0, "data": "full", **task.get("metadata", {})}
        config = binding.bind_template_hooks(
            {
                "task": name,
                "process_results": (choice_scoring if template.kind == "choice" else judged_scoring).process_results,
                "lmms_eval_specific_kwargs": {"default": task.get("settings", {})},
                "metadata": metadata,
            },
            None,
        )
        rows = [config["process_results"](doc, replies) for doc, replies in task["asked"]]
        results[name] = {
            f"{each['metric']},trials": each["aggregation"]([row[each["metric"]] for row in rows])
            for each in config["metric_list"]
        }
        configs[name] = {
            "task": name,
            "cluster_key": config["cluster_key"],
            "lmms_eval_specific_kwargs": config["lmms_eval_specific_kwargs"],
            "metric_list": [{"metric": each["metric"]} for each in config["metric_list"]],
            "metadata": metadata,
        }
        lines[name] = [{"doc_id": number, **row} for number, row in enumerate(rows)]
    return write_files(folder, lines, configs, **{"results": results, "config": {"model": model}, **content})


def document(number: int, answer: str = "A", options: int = 2, **tags) -> dict:
    """A question with options whose right answer is a letter."""
    own = {"id": f"q{number:02}", "image_id": f"i{number:02}", "data": "full", "question": "Which?"}
    return {**own, "options": [f"option {each}" for each in range(options)], "answer": answer, **tags}
