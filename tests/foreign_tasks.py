"""Tasks of the harness as others write them, tiny and of many makes, to be degraded: ``write`` puts them into a folder.

The pictures are ramps with a little noise, so that each degradation changes them; several questions share one.
"""

from __future__ import annotations

import io
import json
from pathlib import Path

import datasets
import numpy as np
from PIL import Image

QUESTIONS = 6
PICTURES = 3
COMMON = """
dataset_path: json
dataset_kwargs: {data_files: {test: rows.json}}
test_split: test
output_type: generate_until
doc_to_text: "{{question}}"
doc_to_target: "{{answer}}"
generation_kwargs: {max_new_tokens: 4, do_sample: false}
"""
EXACT = "metric_list: [{metric: exact_match, aggregation: mean, higher_is_better: true}]\n"
OWN = (
    "process_results: !function utils.process_results\n"
    "metric_list: [{metric: own, aggregation: !function utils.aggregate, higher_is_better: true}]\n"
)
UTILS = """
import base64
from pathlib import Path

from PIL import Image

HERE = Path(__file__).parent


def pil(doc):
    return [Image.open(HERE / doc["file"]).convert("RGB")]


def paths(doc):
    return [str(HERE / doc["file"])]


def several(doc):
    return [Image.open(HERE / name) for name in (doc["file"], "p0.png")]


def nothing(doc):
    return []


def video(doc):
    return ["film.mp4"]


def sound(doc):
    return [{"array": [0.0], "sampling_rate": 16000}]


def address(doc):
    return ["https://example.org/a.png"]


def messages(doc):
    uri = "data:image/png;base64," + base64.b64encode((HERE / doc["file"]).read_bytes()).decode()
    parts = [{"type": "image", "url": uri}, {"type": "text", "text": doc["question"]}]
    system = [{"type": "text", "text": "Answer."}]
    return [{"role": "system", "content": system}, {"role": "user", "content": parts}]


def film_messages(doc):
    return [{"role": "user", "content": [{"type": "video", "url": "film.mp4"}, {"type": "text", "text": "?"}]}]


def question(doc, lmms_eval_specific_kwargs=None):
    return doc["question"]


def process_results(doc, results):
    return {"own": {"score": float(results[0][:1] in "01234567"), "reply": results[0]}}


def classes(doc, results):
    if not results[0]:
        raise ValueError("nothing to score")
    given = "odd" if int(results[0][0], 16) % 2 else "even"
    return {"f1_of_classes": ("odd" if doc["question"] > "Question 2" else "even", given)}


def macro_f1(values):
    found = []
    for label in ("odd", "even"):
        hits = sum(right == given == label for right, given in values)
        found.append(2 * hits / max(1, sum((right == label) + (given == label) for right, given in values)))
    return sum(found) / 2


def aggregate(values):
    return 100 * sum(each["score"] for each in values) / len(values)
"""
PYTHON = """
from lmms_eval.api.task import ConfigurableTask


class Own(ConfigurableTask):
    def __init__(self, config=None):
        super().__init__(config={key: value for key, value in config.items() if key != "class"})
"""
TASKS = {
    "forms_pil": COMMON + OWN + "doc_to_visual: !function utils.pil\ntag: forms_tag\nmetadata: {version: 1.0}\n",
    "forms_paths": COMMON + EXACT + "doc_to_visual: !function utils.paths\ntag: forms_tag\n",
    "forms_several": COMMON + EXACT + "doc_to_visual: !function utils.several\nmetadata: [{version: 2.0}]\n",
    "forms_column": (
        COMMON.replace("json\n", "parquet\n", 1).replace("rows.json", "rows.parquet")
        + EXACT
        + "doc_to_visual: image\nfilter_list: [{name: first, filter: [{function: take_first}]}]\n"
    ),
    "forms_messages": (
        COMMON + EXACT + "doc_to_visual: !function utils.pil\ndoc_to_messages: !function utils.messages\n"
    ),
    "forms_fewshot": (
        COMMON + EXACT + "doc_to_visual: !function utils.pil\nfewshot_split: test\nfewshot_config: {sampler: default}\n"
        "num_fewshot: 2\n"
    ),
    "forms_trials": (
        COMMON.replace("do_sample: false", "do_sample: true, temperature: 1.0")
        + EXACT
        + "doc_to_visual: !function utils.pil\nrepeats: 3\n"
        "filter_list: [{name: votes, filter: [{function: take_first_k, k: 3}]}]\n"
    ),
    "forms_classes": (
        COMMON + "doc_to_visual: !function utils.pil\nprocess_results: !function utils.classes\n"
        "metric_list: [{metric: f1_of_classes, aggregation: !function utils.macro_f1, higher_is_better: true}]\n"
    ),
    "forms_choices": (
        COMMON.replace("generate_until", "multiple_choice").replace("{{answer}}", "b")
        + "doc_to_visual: !function utils.pil\ndoc_to_choice: [a, b]\n"
        "metric_list: [{metric: acc, aggregation: mean, higher_is_better: true}, {metric: f1, aggregation: f1}]\n"
    ),
    "forms_python": COMMON + EXACT + "class: !function python_task.Own\ndoc_to_visual: !function utils.pil\n",
    "forms_degraded": (
        "include: forms_pil.yaml\ntag: forms_other\nmetadata: {version: 1.0, degrade: gaussian_noise.2}\n"
    ),
}
REFUSED = {
    "forms_text": COMMON + EXACT,
    "forms_asked": COMMON + EXACT + "metadata: {degrade: gaussian_noise.2}\n",
    "forms_misspelt": COMMON + EXACT + "doc_to_visual: !function utils.pil\nmetadata: {degrade: gausian_noise.2}\n",
    "forms_nothing": COMMON + EXACT + "doc_to_visual: !function utils.nothing\n",
    "forms_video": COMMON + EXACT + "doc_to_visual: !function utils.video\n",
    "forms_sound": COMMON + EXACT + "doc_to_visual: !function utils.sound\n",
    "forms_address": COMMON + EXACT + "doc_to_visual: !function utils.address\n",
    "forms_films": (
        COMMON.replace("rows.json}", "not_there.json}, video: true") + EXACT + "doc_to_visual: !function utils.video\n"
    ),
    "forms_rounds": (
        COMMON.replace("generate_until", "generate_until_multi_round").replace(
            'doc_to_text: "{{question}}"', "doc_to_text: !function utils.question"
        )
        + EXACT
        + "doc_to_visual: !function utils.pil\n"
    ),
    "forms_cot": COMMON.replace("generate_until", "generate_visual_cot")
    + EXACT
    + "doc_to_visual: !function utils.pil\n",
    "forms_film_messages": COMMON + EXACT + "doc_to_messages: !function utils.film_messages\n",
    "forms_black": (COMMON.replace("rows.json", "black.json") + EXACT + "doc_to_visual: !function utils.pil\n"),
}
GROUPS = {
    "forms_with_black": (
        "group: forms_with_black\ntask: [forms_several, forms_black]\n"
        "aggregate_metric_list: [{metric: exact_match, aggregation: mean}]\n"
    ),
    "forms_group": "group: forms_group\ntask: [forms_pil, forms_paths]\n",
    "forms_beside": (
        "group: forms_beside\ntask:\n- forms_pil\n- forms_pil@gaussian_noise.1\n"
        "- {task: forms_paths, metadata: {degrade: motion_blur.2}}\n"
        "- {task: forms_several@gaussian_noise.2, num_fewshot: 0}\n"
        "aggregate_metric_list: [{metric: own, aggregation: mean}]\n"
    ),
}


def picture(number: int) -> Image.Image:
    """Picture ``number`` of the tasks, 48 x 40 pixels RGB."""
    rng = np.random.default_rng(number)
    ramp = np.linspace(30, 200, 48)[None, :, None] + rng.normal(0, 12, (40, 48, 3)) + 5 * number
    return Image.fromarray(ramp.clip(0, 255).astype(np.uint8))


def write(folder: Path) -> Path:
    """Write all tasks into ``folder``, which is made; it is what --include_path names."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(PICTURES):
        picture(number).save(folder / f"p{number}.png")
    Image.new("RGB", (16, 16)).save(folder / "black.png")
    rows = [
        {
            "question": f"Question {number}?",
            "answer": f"answer {number}",
            "file": f"p{number % PICTURES}.png",
            "modality": ("CT", "MRI", "x ray")[number % PICTURES],
        }
        for number in range(QUESTIONS)
    ]
    (folder / "rows.json").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    black = {"question": "Q?", "answer": "a", "file": "black.png"}
    (folder / "black.json").write_text(json.dumps(black), "utf-8")
    encoded = []
    for row in rows:
        buffer = io.BytesIO()
        picture(int(row["file"][1])).save(buffer, "PNG")
        encoded.append({"bytes": buffer.getvalue(), "path": None})
    features = datasets.Features({**{key: datasets.Value("string") for key in rows[0]}, "image": datasets.Image()})
    table = {key: [row[key] for row in rows] for key in rows[0]}
    datasets.Dataset.from_dict({**table, "image": encoded}, features=features).to_parquet(folder / "rows.parquet")
    (folder / "utils.py").write_text(UTILS, "utf-8")
    (folder / "python_task.py").write_text(PYTHON, "utf-8")
    for name, text in {**TASKS, **REFUSED}.items():
        (folder / f"{name}.yaml").write_text(f"task: {name}\n{text}", "utf-8")
    for name, text in GROUPS.items():
        (folder / f"{name}.yaml").write_text(text, "utf-8")
    return folder
