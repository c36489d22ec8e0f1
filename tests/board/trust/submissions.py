"""Submissions for tests of what a public board does with them."""

import json
from contextlib import suppress
from dataclasses import replace

from lmms_medtasks.board import packing
from lmms_medtasks.board.collect import collect_entries
from lmms_medtasks.board.packs import json_checksum, questions_from_json
from lmms_medtasks.board.trust import pins
from lmms_medtasks.board.trust.rules_of_trust import TrustRules, read_owners
from lmms_medtasks.errors import UserError

TASK = "medq_deg_l1"
SIGNED = "Ada Lovelace <ada@example.org>"
HONEST = {f"q{number:02}": "AAB" if number % 3 else "AAA" for number in range(12)}
PERFECT = dict.fromkeys(HONEST, "AAA")


def signed_again(content):
    """The checksum made anew, as someone would who knows how."""
    content["sha256"] = json_checksum({name: value for name, value in content.items() if name != "sha256"})
    return content


class Submissions:
    """A folder of submissions: ``ACCOUNT/FILE``."""

    def __init__(self, folder, runs, images=None):
        self.folder, self.runs, self.images, self.made = folder, runs, images, 0

    def content(self, trials=None, name="honest/model", **chosen):
        """A pack's content of these trials, by question."""
        self.made += 1
        rows = self.runs.choice_rows(HONEST if trials is None else trials, images=self.images)
        run = self.runs.write(self.folder.parent / f"run{self.made}", {TASK: rows}, model=name, **chosen)
        return packing.make_submission(collect_entries([run]).entries, SIGNED)

    def pack(self, file, trials=None, name="honest/model", edit=None, **chosen):
        """Write a pack, after a change of it with its checksum made anew."""
        content = self.content(trials, name, **chosen)
        if edit:
            edit(content["entries"][0])
        return self.write(file, content)

    def pack_asked(self, file, edit, renewed=True):
        """Write a pack of another's model after ``edit`` of its questions' columns.

        ``renewed``: under the digest that they give, if they give one.
        """
        content = self.content(name="other/model")
        (questions,), entry = content["questions"].values(), content["entries"][0]
        edit(questions["columns"])
        with suppress(UserError):
            entry["questions"] = questions_from_json(questions, "").digest if renewed else entry["questions"]
        return self.write(file, {**content, "questions": {entry["questions"]: questions}})

    def write(self, file, content):
        """Write this content with its checksum made anew."""
        packing.write_submission(signed_again(content), self.folder / file)
        return self.folder / file

    def pins(self):
        """The pins that a whole run of the board's keeper gives."""
        rows = self.runs.choice_rows(HONEST, images=self.images)
        run = self.runs.write(self.folder.parent / "keeper", {TASK: rows}, model="keeper")
        path = self.folder.parent / "pins.yml"
        pins.write_pins(collect_entries([run]).entries, path)
        return pins.read_pins(path)

    def owned(self, **accounts):
        """Trust in these pins, and owners of the names of honest and other models."""
        path = self.folder.parent / "owners.yml"
        path.write_text(json.dumps({"honest/model": ["Ada"], "other/model": ["Ben"], **accounts}), "utf-8")
        return TrustRules(self.pins(), read_owners(path))

    def unpinned(self, **accounts):
        """Trust in these owners, without pins."""
        return replace(self.owned(**accounts), pins=pins.NONE)

    def board(self, trust=None):
        """The board of all submissions."""
        return collect_entries([self.folder], trust=trust)


def ranked(board):
    """Names of the ranked models, sorted."""
    return sorted(entry.model.name for entry in board.of(ranked=True))


def codes(board, model):
    """Codes of the problems of a model that set it apart or refuse it."""
    return {each.code for each in board.problems if each.model == model and each.level != "flag"}
