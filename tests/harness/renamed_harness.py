"""A harness with names of its own changed, a fork for each: ``python -m renamed_harness FOLDER`` with words on stdin.

The fork imports the harness and us anew; what they import from elsewhere is there already. A word of the harness's
source gets another ending wherever it stands in the harness's own modules (those of its tasks left out), so that the
harness itself works as before. FOLDER holds the tasks ``own`` and ``chest_side``. What became of a word is printed as a
line of JSON.
"""

from __future__ import annotations

import contextlib
import importlib.abc
import importlib.machinery
import importlib.util
import io
import json
import os
import re
import sys
from pathlib import Path

OURS = ("lmms_eval", "lmms_medtasks")
ENDING = "_by_another_name"


class Renaming(importlib.abc.MetaPathFinder):
    """Finds the harness's modules in whose source a word stands, and has it changed."""

    def __init__(self, word: str) -> None:
        self.word = re.compile(rf"\b{word}\b")
        self.new = word + ENDING

    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] != "lmms_eval" or name.startswith("lmms_eval.tasks."):
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is None or not spec.origin or not self.word.search(Path(spec.origin).read_text("utf-8")):
            return None  # from its compiled file
        places = spec.submodule_search_locations
        loader = Loader(self, spec.origin)
        return importlib.util.spec_from_file_location(
            name, spec.origin, loader=loader, submodule_search_locations=places
        )


class Loader(importlib.abc.SourceLoader):
    """Reads a module's source with the word changed, but for the names of packages."""

    def __init__(self, renaming: Renaming, path: str) -> None:
        self.renaming, self.path = renaming, path

    def get_filename(self, name):
        return self.path

    def get_data(self, path):
        lines = Path(path).read_text("utf-8").splitlines(keepends=True)
        changed = [
            line if line.lstrip().startswith("import ") else self.renaming.word.sub(self.renaming.new, line)
            for line in lines
        ]
        return "".join(changed).encode()


def model():
    from lmms_eval.api.model import lmms

    class Same(lmms):
        """Says the same to every question."""

        is_simple = True

        def generate_until(self, requests):
            return ["A" for _ in requests]

        def generate_until_multi_round(self, requests):
            raise NotImplementedError

        def loglikelihood(self, requests):
            raise NotImplementedError

    # Where it is the method that has another name.
    for name in list(lmms.__abstractmethods__):
        setattr(Same, name, getattr(Same, name.removesuffix(ENDING)))
    Same.__abstractmethods__ = frozenset()
    return Same()


def evaluated(folder: str, task: str) -> object:
    """The accuracy of a task, or what ends the evaluation."""
    from lmms_eval import evaluator, tasks
    from loguru import logger

    logger.disable("lmms_eval")
    find = {"include_path": folder, "include_defaults": False}
    try:
        manager = tasks.TaskManager(**find)
        match = getattr(manager, "match_tasks", None) or getattr(manager, "match_tasks" + ENDING)
        simple = getattr(evaluator, "simple_evaluate", None) or getattr(evaluator, "simple_evaluate" + ENDING)
        done = simple(model=model(), tasks=match([task]), task_manager=manager, bootstrap_iters=0, batch_size=1)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return next(
        value for name, value in done["results"][task].items() if name.startswith(("exact_match,", "accuracy,"))
    )


def case(word: str, folder: str) -> dict[str, object]:
    # Behind the finder of wrapt, which calls our plugin.
    sys.meta_path.insert(sys.meta_path.index(importlib.machinery.PathFinder), Renaming(word))
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        found = {"foreign": evaluated(folder, "own"), "ours": evaluated(folder, "chest_side")}
    return {**found, "said": said.getvalue()}


def main(folder: str) -> None:
    import datasets
    import lmms_eval.evaluator
    import lmms_eval.tasks

    import lmms_medtasks.harness.in_process

    assert lmms_eval and lmms_medtasks
    datasets.load_dataset("csv", data_files={"test": f"{folder}/questions.csv"})  # imports what loads it
    for name in [name for name in sys.modules if name.partition(".")[0] in OURS]:
        del sys.modules[name]
    for word in json.load(sys.stdin):
        sys.stdout.flush()
        if os.fork():
            os.wait()
            continue
        sys.stdin.close()
        try:
            found = case(word, folder)
        except BaseException as error:  # noqa: BLE001
            found = {"broken": repr(error)}
        print(json.dumps({"word": word, **found}), flush=True)
        os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1])
