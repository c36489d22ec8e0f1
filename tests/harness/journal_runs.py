"""A task and a model of the harness as far as the journal looks at them, and runs of them."""

from types import SimpleNamespace

import datasets
from lmms_eval.api.instance import Instance

from lmms_medtasks.harness import calls, hooks, journal

FAILED = "[LMMS_EVAL_REQUEST_FAILED after 5 retries] boom"


class Task:
    """A task of the harness as far as the journal looks at it."""

    def __init__(self, name="t", documents=4, trials=3, **metadata):
        self.config = SimpleNamespace(task=name, metadata={"data_digest": "d", **metadata}, doc_to_visual=None)
        self.lmms_eval_specific_kwargs = {"seed_trials": True}
        self.rows = datasets.Dataset.from_list([{"id": f"q{n}", "question": f"Q{n}"} for n in range(documents)])
        self.trials = trials

    def requests(self, prompt="prompt", **settings):
        name = self.config.task
        found = []
        for number in range(len(self.rows)):
            arguments = (f"{prompt} {number}", dict(settings), None, number, name, "test")
            metadata = {"task": name, "doc_id": number, "repeats": self.trials}
            found += [Instance("generate_until", arguments, 0, metadata)] * self.trials
        return found


class Model:
    """Replies with the document's number and the seed of the trial; ``dies_after`` so many requests it is killed."""

    def __init__(self, task, dies_after=None, fails=(), reply=None):
        self.task_dict = {task.config.task: {"test": task.rows}}
        self.asked, self.calls, self.dies_after, self.fails, self.reply = [], [], dies_after, fails, reply
        self.batch_size = 1

    def generate_until(self, requests):
        self.calls.append(len(requests))
        self.trials = getattr(self, "trials", [])
        found = []
        for request in requests:
            if self.dies_after is not None and len(self.asked) >= self.dies_after:
                raise KeyboardInterrupt
            self.trials.append((request.metadata or {}).get(calls.TRIAL))
            seed = hooks.TRIALS.next_seed(f"q{request.doc_id}")
            self.asked.append(request.doc_id)
            text = FAILED if (request.doc_id, self.asked.count(request.doc_id)) in self.fails else None
            found.append(text or (self.reply or (lambda number, seed: f"{number} {seed}"))(request.doc_id, seed))
        return found


def run(task, lm, requests=None, model="m", model_args="", **arguments):
    """A run of the one task; None where it was killed."""
    for each in (hooks.TRIALS, hooks.RENDERED):
        each.reset([f"q{number}" for number in range(len(task.rows))])
    options = SimpleNamespace(model=model, model_args=model_args, output_path=None, batch_size=1)
    given = {"cli_args": options, "limit": None, "offset": 0, **arguments}
    try:
        with journal.keep_replies_in_journal(lm, [task], given):
            return lm.generate_until(task.requests() if requests is None else requests)
    except KeyboardInterrupt:
        return None


def small_slices(monkeypatch):
    monkeypatch.setattr(journal, "_BATCHES", 1)
    monkeypatch.setattr(journal, "_SECONDS", 0.0)
