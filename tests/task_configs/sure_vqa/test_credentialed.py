"""What keeps the texts of credentialed data out of logs, besides the records (test_scoring) and the stage (e2e)."""

import hashlib
from types import SimpleNamespace

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.harness import evaluating
from lmms_medtasks.judges import withheld


def configs(judge):
    settings = {"default": {"judge": judge}}
    return [SimpleNamespace(task="a_task", metadata={"data_digest": ""}, lmms_eval_specific_kwargs=settings)]


def test_prompts_are_not_printed():
    with pytest.raises(UserError, match="--write_out prints prompts of a_task"):
        evaluating._check_write_out(configs(["sure_mimic_open", "sure_mimic_closed"]))
    evaluating._check_write_out(configs(["sure_open"]))


def test_the_digest_of_a_reply_does_not_tell_it(tmp_path, monkeypatch):
    digests = set()
    for machine in ("one", "two"):
        monkeypatch.setenv("MEDTASKS_HOME", str(tmp_path / machine))
        digest = withheld.keep_withheld_reply("yes", "test/1")
        assert withheld.keep_withheld_reply("yes", "test/1") == digest
        assert withheld.find_withheld_reply(digest) == "yes"
        digests.add(digest)
    assert len(digests) == 2
    assert hashlib.sha256(b"yes").hexdigest() not in digests
