"""Judging open answers by a language model. Each benchmark has a protocol, and all are asked the same way.

:mod:`lmms_medtasks.harness.judging_stage` has a task's replies judged (:mod:`.judging`): by a rule of the protocol,
from the cache, or by the judge that the environment names (:mod:`.settings`). The scoring hooks find the verdicts again
and make records (:mod:`.records`), from which ``lmms-medtasks judge`` judges and scores a finished run again.
"""
