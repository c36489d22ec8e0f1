"""What a reader must know before any number of a run, whatever its suite: data, limits, changed code, failures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from lmms_medtasks.report.about import ACCEPTED, data_of, limit, metadata, subset
from lmms_medtasks.report.about import counts as question_counts
from lmms_medtasks.report.document import Flag
from lmms_medtasks.samples import answering_model, run_options
from lmms_medtasks.samples.result_files import REREAD, Run
from lmms_medtasks.samples.runs import printable


def warnings_first(flags: Iterable[Flag]) -> tuple[Flag, ...]:
    """The flags in their order, warnings before notes."""
    return tuple(sorted(flags, key=lambda flag: flag.kind != "warning"))


def data(run: Run, tasks: Sequence[str]) -> Iterator[Flag]:
    """Data that is not the whole benchmark, or not known."""
    found = metadata(run, tasks)
    for kind in dict.fromkeys(each.rpartition(" of ")[2] for each in data_of(run, tasks)):
        if kind == "unknown":
            yield Flag("warning", "The run does not say which data it read.")
        elif kind != "full":
            counts = "; ".join(
                dict.fromkeys(printable(str(each["data_counts"])) for each in found.values() if each.get("data_counts"))
            )
            name = kind.removesuffix(ACCEPTED).capitalize()
            said = f"{name} data{kind.removeprefix(name.lower())}{f' ({counts})' if counts else ''}, not the benchmark"
            yield Flag("warning", f"{said}: no number here compares with the paper's.")
    drawn: dict[str, list[str]] = {}
    for task, each in found.items():
        drawn.setdefault(subset(each), []).append(task)
    for said, named in drawn.items():
        if said:
            yield Flag(
                "warning",
                f"{', '.join(named)}: a random sample was asked ({said}), drawn alike for every model. Its numbers, "
                "with their intervals, are estimates for all questions. Compare them only with runs of the same "
                "sample.",
            )


def extent(run: Run, tasks: Sequence[str]) -> Iterator[Flag]:
    """Questions that were not asked (``--limit``), and those that were and are not in the log."""
    said = f" ({limit(run)})" if limit(run) else ""
    for task, original, effective in question_counts(run, tasks):
        if effective < original:
            yield Flag("warning", f"{task}: only {effective:,} of {original:,} questions were asked{said}.")
        rows = run.sample_count(task)
        if rows is not None and rows != effective:
            yield Flag("warning", f"{task}: {rows:,} questions in the log, {effective:,} were asked for.")


def options(run: Run, tasks: Sequence[str]) -> Iterator[Flag]:
    """What options of the harness (``--gen_kwargs`` and others) made other than the tasks say."""
    found: dict[str, list[str]] = {}
    for task, told in metadata(run, tasks).items():
        for said in run_options.said(told):
            found.setdefault(printable(said), []).append(task)
    for said, named in found.items():
        yield Flag(
            "warning",
            f"{', '.join(named)}: not asked by the task's own settings, but with {said}. Compare only with runs "
            "that have these settings.",
        )


def code(run: Run, tasks: Sequence[str]) -> Iterator[Flag]:
    """Changed prompts or code, pictures that the runner re-encoded, sampling settings that were set aside or not."""
    found = metadata(run, tasks)
    changed = [task for task, each in found.items() if each.get("package_modified")]
    if changed:
        yield Flag(
            "warning",
            f"Files of lmms-medtasks are not as installed or committed: numbers of {', '.join(changed)} may not "
            "compare with other runs of the task version.",
        )
    for task, each in found.items():
        if other := answering_model.said(each):
            yield Flag("warning", f"{task} was {other}: its numbers are not of the model that they are called after.")
    encodings = {printable(str(each["image_encoding"])) for each in found.values() if each.get("image_encoding")}
    for encoding in sorted(encodings):
        yield Flag("warning", f"The model's runner re-encoded the images ({encoding}): a degradation of its own.")
    for why in sorted(
        {printable(str(each["runner_unknown"])) for each in found.values() if each.get("runner_unknown")}
    ):
        yield Flag("note", f"What the model's runner does to images, and how it fails, is {why}.")
    doubts = {str(each.get("trials_independent_why")) for each in found.values() if each.get("trials_independent")}
    for why in sorted(doubts):
        yield Flag("warning", f"Trials may not be independent draws of the model: {printable(why)}.")
    aside = [each["checkpoint_sampling_set_aside"] for each in found.values()
             if each.get("checkpoint_sampling_set_aside")]  # fmt: skip
    if aside:
        yield Flag("note", f"Sampling settings of the checkpoint that were set aside: {printable(str(aside[0]))}.")


def read_again(run: Run, tasks: Sequence[str]) -> Iterator[Flag]:
    """That replies were read by a later version than the one that the model was asked by."""
    if again := run.content.get(REREAD):
        said = printable(f"{again[-1].get('version')} ({again[-1].get('date')})")
        yield Flag("note", f"Replies of an earlier run, read again by lmms-medtasks {said}: the model was not asked.")


def failed_requests(failed: int, requests: int, unscored: int) -> Iterator[Flag]:
    """Requests that got no reply: ``failed`` of ``requests``; ``unscored`` questions have no reply at all."""
    if failed:
        yield Flag(
            "warning",
            f"{failed:,} of {requests:,} requests failed. They do not count as wrong answers: they are left "
            f"out, and with "
            f"them {unscored:,} questions that got no reply at all.",
        )
