"""Runs of made-up tasks on templates, scored by the templates' own hooks and written as the harness writes them."""

from __future__ import annotations

import json
from pathlib import Path

from lmms_medtasks.harness.template_hooks import binding, choice_scoring, judged_scoring
from lmms_medtasks.suites import templates


def write_run(folder: Path, tasks: dict[str, dict], model: str = "a model", **content) -> Path:
    """A result file with its logs. ``tasks``: name -> template, asked [(document, replies)], settings, metadata."""
    folder.mkdir(parents=True, exist_ok=True)
    results, configs, counts = {}, {}, {}
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
        counts[name] = {"original": len(rows), "effective": len(rows)}
        configs[name] = {
            "task": name,
            "cluster_key": config["cluster_key"],
            "lmms_eval_specific_kwargs": config["lmms_eval_specific_kwargs"],
            "metric_list": [{"metric": each["metric"]} for each in config["metric_list"]],
            "metadata": metadata,
        }
        lines = [json.dumps({"doc_id": number, **row}, default=dict) for number, row in enumerate(rows)]
        (folder / f"20260101_000000_samples_{name}.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    path = folder / "20260101_000000_results.json"
    said = {
        "results": results,
        "configs": configs,
        "n-samples": counts,
        "versions": dict.fromkeys(tasks, 1.0),
        "config": {"model": model},
        "date": "20260101_000000",
        **content,
    }
    path.write_text(json.dumps(said), "utf-8")
    return path


def document(number: int, answer: str = "A", options: int = 2, **tags) -> dict:
    """A question with options whose right answer is a letter."""
    own = {"id": f"q{number:02}", "image_id": f"i{number:02}", "data": "full", "question": "Which?"}
    return {**own, "options": [f"option {each}" for each in range(options)], "answer": answer, **tags}
