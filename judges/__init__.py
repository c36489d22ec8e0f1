"""Judging open answers by a language model: a protocol a suite, and one way of asking for all of them.

From a task to a number: :mod:`lmms_medtasks.harness.judging_stage` takes a task's replies after generation, makes the
items of its protocols (:mod:`.registry`, :mod:`.protocol`) and has them judged (:mod:`.judging`): by a rule of the
protocol, from the cache (:mod:`.cache`), or by the judge that the environment names (:mod:`.settings`). It is asked
through :mod:`.asking`, with prompts that the answers can't break out of (:mod:`.prompts`), and its verdicts are read
strictly (:mod:`.verdicts`). The scoring hooks find them again and make records (:mod:`.records`), from which
``lmms-medtasks judge`` can judge and score a finished run again (:mod:`lmms_medtasks.harness.rejudging`,
:mod:`lmms_medtasks.harness.rescoring`).
"""
