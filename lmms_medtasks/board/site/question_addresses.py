"""The addresses of questions on a site: of one question, and of a list of them.

A suite's questions stand at ``questions/SUITE.html``. What follows chooses among them::

    questions/robust.html#robust_severe/ct-011-q1%2Fgaussian_noise%2FL2
    questions/robust.html?task=robust_severe&tag=modality:CT&model=observer

- ``#TASK/ID`` is one question, alone on the page. Task and id are percent-encoded, also their ``/``. Such an address
  stays when the board is built anew and when entries come or go.
- ``task``: the task; the suite's first one where it is left out.
- ``text``: words, all of which must stand in the question's id or in the beginning of its text.
- ``tag``: ``NAME:VALUE``, as often as wanted; a question must have all of them. No value: questions without the tag.
- ``verdict``: ``none`` (no model is right), ``all`` (all are), ``split`` (they differ).
- ``model``: a model's name, or the name of its page without ``.html``, which tells models of one name apart.
- ``was``: what ``model`` was, or any model where none is named: ``right``, ``wrong``, ``between``, ``missing``.

A list's filters may stand before a question's ``#``: they are those of the list that one comes back to.
"""

from __future__ import annotations

from urllib.parse import quote

# encodeURIComponent of a browser leaves these.
_PLAIN = "!'()*"


def question_address(suite: str, task: str, question: str) -> str:
    """The permanent address of a question, relative to the site's folder.

    >>> question_address("robust", "robust_severe", "q1/blur/L2")
    'questions/robust.html#robust_severe/q1%2Fblur%2FL2'
    """
    return f"questions/{suite}.html#{_encoded(task)}/{_encoded(question)}"


def _encoded(text: str) -> str:
    return quote(text, safe=_PLAIN, errors="replace")
