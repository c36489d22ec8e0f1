"""What each task makes of fixed documents and replies: its golden record.

Documents and replies lie beside the records in ``tests/golden``; pictures are drawn here. So the mini data can change
and no record does. Each question gets several replies, each judged answer verdicts that its text alone decides.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import yaml

from lmms_medtasks.data import documents, sources
from lmms_medtasks.harness import hooks, judged, provenance
from lmms_medtasks.harness.rescoring import TaskDefinitions, compute_task_results
from lmms_medtasks.judges import checklists, prompts, records
from lmms_medtasks.judges.judging import settle_by_rule
from lmms_medtasks.judges.protocol import JudgedItem, JudgeProtocol, JudgeVerdict, judgement_key
from lmms_medtasks.judges.records import TABLE
from lmms_medtasks.parsing import words
from lmms_medtasks.parsing.reply import SentReply
from lmms_medtasks.record import KEY
from lmms_medtasks.seeding import seeded_generator, stable_seed
from tools.mini.files import png

if TYPE_CHECKING:
    from datasets import Dataset

FOLDER = Path(__file__).resolve().parents[1] / "tests" / "golden"
_REPLIES = 4
_SHAPE = (14, 16)
_JUDGE = {"name": "golden", "settings": {"temperature": 1.0}}

UNUSED_WORDS = {
    ("bones_joints", False): {"grid_words"},
    ("bones_joints", True): {"grid_words", "option_words", "yes_no_words"},
    ("med_cmr", False): {"grid_words"},
    ("med_cmr", True): {"grid_words", "option_words", "yes_no_words"},
    ("medq_deg", False): {"grid_words"},
    ("sure_vqa", True): {"grid_words"},
}
"""Suite, whether a judge scores the task -> files in ``lmms_medtasks/parsing`` none of whose words its readers use."""
_NO_WORDS = {"languages", "source"}
"""Keys in those files that are for people."""


def record_of(task: str, definitions: TaskDefinitions) -> dict[str, Any]:
    """The golden record of a task of ours, JSON-safe; digests are over what stands in the logs.

    ``generation``: what a model is asked with. ``prompt``: the first one. ``prompts``, ``targets``, ``pictures`` (by
    degradation, level, modality and seed): as it gets them. ``judge``: by protocol the version, a digest of its
    prompts, and one of those that are sent. ``records``: by document, in their order, what is read of each reply and a
    digest of all else. ``cases``: a digest of what is read of the frozen cases of our readers. ``words``: by file a
    digest of the words and marks that they read with. ``metrics``: the numbers of the harness's table.
    """
    config = definitions.get_definition(task)
    settings = (config.get("lmms_eval_specific_kwargs") or {}).get("default") or {}
    docs = _documents(config)
    protocols = judged.find_judge_protocols(config)
    ids = [str(doc["id"]) for doc in docs]
    texts = [config["doc_to_text"](doc, settings) for doc in docs]
    shown: dict[str, list[Any]] = {}
    for doc in docs:
        pixels = [_pixels(each) for each in config["doc_to_visual"](doc, settings)]
        shown.setdefault(hooks.describe_degradation(doc, settings), []).append(pixels)
    # All replies are read in each task, however few its questions are.
    count = max(_REPLIES, config.get("repeats") or 1, math.ceil(len(_pool()) / len(docs)))
    replies = [_replies(row, doc, count) for row, doc in enumerate(docs)]
    judge = {protocol.name: _judge(protocol, docs, replies) for protocol in protocols}
    metrics = [config["process_results"](doc, own) for doc, own in zip(docs, replies, strict=True)]
    TABLE.clear()
    found = compute_task_results(task, config, config, metrics, "golden")
    logged = [json.loads(json.dumps(metric[KEY])) for metric in metrics]
    return {
        "generation": _asked(config),
        "prompt": texts[0],
        "prompts": _digest(texts),
        "targets": _digest([config["doc_to_target"](doc) for doc in docs]),
        "pictures": {order: _digest(each) for order, each in shown.items()},
        "judge": judge,
        "records": {name: _read(each) for name, each in zip(ids, logged, strict=True)},
        "cases": "" if protocols else _digest(_cases_read(config["process_results"], docs[0])),
        "words": _words_of(config["process_results"].suite.name, bool(protocols)),
        "metrics": {
            name.partition(",")[0]: each
            for name, each in found.items()
            if isinstance(each, int | float) and "_stderr" not in name
        },
    }


def _asked(config: Mapping[str, Any]) -> dict[str, Any]:
    names = ("output_type", "generation_kwargs", "repeats", "filter_list", "reasoning_tags")
    return json.loads(json.dumps({name: config[name] for name in names if name in config}, default=str))


def _read(logged: dict[str, Any]) -> str:
    # Under which key this machine keeps a reply that no log may hold.
    logged.get("judgement", {}).pop("replies", None)
    return f"{' '.join(logged['trials'])} {_digest(logged)}"


# --- Documents --------------------------------------------------------------------------------------------------------


def _documents(config: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The documents of a task as its hooks get them."""
    dataset = _dataset(tuple(provenance.list_data_locations(config)))
    dataset = config["process_docs"](dataset) if config.get("process_docs") else dataset
    return [dict(row) for row in dataset]


@functools.cache
def _dataset(locations: tuple[tuple[str, str], ...]) -> Dataset:
    import datasets
    import pyarrow as pa

    schema = documents.document_schema(sources.get(locations[0][0]).tags)
    rows = [row for suite, split in locations for row in _rows(FOLDER / "documents" / f"{suite}-{split}.jsonl")]
    return datasets.Dataset(pa.Table.from_pylist(rows, schema=schema))


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        drawn = [{"bytes": _picture(row["image_id"], n), "path": None} for n in range(row.pop("pictures"))]
        yield {**row, "image": drawn[0] if len(drawn) == 1 else None, "images": drawn if len(drawn) > 1 else []}


def _picture(name: str, number: int) -> bytes:
    """A body with an edge, texture and a dark background."""
    y, x = np.mgrid[-1 : 1 : _SHAPE[0] * 1j, -1 : 1 : _SHAPE[1] * 1j]
    texture = seeded_generator("golden", name, number).integers(0, 60, (*_SHAPE, 3))
    return png(((150 * (x**2 + y**2 < 0.8))[..., None] + texture * (x**2 + y**2 < 0.8)[..., None]).astype(np.uint8))


# --- Replies and verdicts ---------------------------------------------------------------------------------------------


def _cases_read(process_results: Any, doc: Mapping[str, Any]) -> list[str]:
    """What is read of each case that is asked as ``doc`` is: with options or without."""
    found = []
    for case in json.loads((FOLDER / "documents" / "reader_cases.json").read_text("utf-8")):
        options = case.get("options", [])
        if bool(options) == bool(doc["options"]):
            asked = {name: each for name, each in case.items() if name != "replies"}
            own = {**doc, **asked, **({"answer": "A"} if options else {})}
            found += [process_results(own, [reply])[KEY]["trials"][0] for reply in case["replies"]]
    return found


@functools.cache
def _pool() -> list[Any]:
    found: list[Any] = yaml.safe_load((FOLDER / "replies.yml").read_text("utf-8"))
    return found


def _replies(row: int, doc: Mapping[str, Any], count: int) -> list[str]:
    pool = _pool()
    answer, other, text = str(doc["answer"]), "something else", str(doc["answer"])
    if doc["options"]:
        place = documents.LETTERS.index(answer)
        other, text = documents.LETTERS[(place + 1) % len(doc["options"])], doc["options"][place]
    found = []
    for number in range(row * count, (row + 1) * count):
        each = pool[number % len(pool)]
        said, ended, limit = each if isinstance(each, list) else (each, "", None)
        found.append(SentReply(said.format(answer=answer, other=other, text=text), ended, limit))
    return found


def _judge(protocol: JudgeProtocol, docs: Sequence[Mapping[str, Any]], replies: Sequence[list[str]]) -> str:
    """Give verdicts of ``protocol`` on all replies to the hooks; what a judge is asked by."""
    TABLE.set_judge(protocol, {**_JUDGE, "protocol": protocol.name})
    rendered: list[str] = []
    for doc, own in zip(docs, replies, strict=True):
        for item in records.make_judged_items(doc, own, protocol):
            if item is not None:
                prompt = prompts.render_prompt(protocol, item)
                rendered.append(f"Rendered(text={prompt.text!r}, cut={prompt.cut!r})")  # as recorded
                TABLE.put(
                    {
                        judgement_key(protocol, item, trial): _verdict(protocol, item, trial)
                        for trial in range(protocol.trials)
                    }
                )
    return f"{protocol.version} {prompts.prompt_digest(protocol)} {_digest(rendered)}"


def _verdict(protocol: JudgeProtocol, item: JudgedItem, trial: int) -> JudgeVerdict:
    """A verdict that the item's text decides: one in eight is missing."""
    number = stable_seed("golden", json.dumps(dict(item.fields), sort_keys=True), trial)
    if by_rule := settle_by_rule(protocol, item):
        return by_rule
    if number % 8 == 0:
        return JudgeVerdict("missing", reason="no verdict: prose")
    labels = {
        dimension.name: list(dimension.labels)[number % len(dimension.labels)] for dimension in protocol.dimensions
    }
    if protocol.checklist:
        count = protocol.checklist.count(item.fields)
        labels[protocol.checklist.name] = checklists.join_point_numbers(list(range(1, 1 + number % (count + 1))))
    return JudgeVerdict("judged", labels, model="golden")


# --- Words ------------------------------------------------------------------------------------------------------------


def digest_of_words(text: str) -> str:
    """Of what a file of words or marks says: comments, the order of keys and line breaks between words do not count."""
    return _digest(_loaded(yaml.safe_load(text)))


def _words_of(suite: str, is_judged: bool) -> dict[str, str]:
    unused = UNUSED_WORDS.get((suite, is_judged), set())
    return {name: each for name, each in _all_words().items() if name not in unused}


@functools.cache
def _all_words() -> dict[str, str]:
    files = sorted(Path(words.__file__).parent.glob("*.yml"))
    return {path.stem: digest_of_words(path.read_text("utf-8")) for path in files}


def _loaded(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _loaded(each) for name, each in value.items() if name not in _NO_WORDS}
    if isinstance(value, list):
        return [_loaded(each) for each in value]
    return re.split(r"\s{2,}|\n", value.strip()) if isinstance(value, str) else value


# --- Digests ----------------------------------------------------------------------------------------------------------


def _pixels(picture: Any) -> str:
    return hashlib.sha256(repr(picture.size).encode() + picture.mode.encode() + picture.tobytes()).hexdigest()


def _digest(value: Any) -> str:
    """8 hexadecimal digits; numbers count to 10 digits, as versions of libraries move the last ones."""
    return hashlib.sha256(json.dumps(_rounded(value), sort_keys=True).encode()).hexdigest()[:8]


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.10g}")
    if isinstance(value, Mapping):
        return {str(name): _rounded(each) for name, each in value.items()}
    return [_rounded(each) for each in value] if isinstance(value, list | tuple) else value
