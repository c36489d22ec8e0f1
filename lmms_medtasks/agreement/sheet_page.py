"""The rating sheet as one HTML page that needs nothing else and asks nobody: styles, script and texts are inside."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from importlib import resources

from lmms_medtasks import __version__
from lmms_medtasks.agreement.ratings import COMMENT
from lmms_medtasks.agreement.sheet import Drawn, ascending
from lmms_medtasks.agreement.sheet_pictures import SheetPictures
from lmms_medtasks.judges import anchors, prompts
from lmms_medtasks.judges.protocol import Dimension, Protocol

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def page(drawn: Sequence[Drawn], protocol: Protocol, pictures: SheetPictures | None = None) -> str:
    """The page's text. All texts are escaped; a content security policy lets no script run but the page's own.

    ``pictures``: of the questions; each is in the page once, as a style, whatever the number of its answers.
    """
    found = pictures or SheetPictures()
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    script = _resource("sheet.js")
    return environment.from_string(_resource("sheet.html")).render(
        version=__version__,
        protocol=protocol,
        scales={each.name: _scale(each) for each in protocol.dimensions},
        drawn=drawn,
        texts=[_texts(each, protocol) for each in drawn],
        anchors=anchors.of(protocol),
        pictures=[[name.removesuffix(".png") for name in found.names(each)] for each in drawn],
        files={name.removesuffix(".png"): base64.b64encode(data).decode() for name, data in found.files.items()},
        prompt=prompts.text_of(protocol.prompt),
        columns=["id", "rater", *(each.name for each in protocol.dimensions), COMMENT],
        sheet=hashlib.sha256("".join(each.code for each in drawn).encode()).hexdigest()[:16],
        policy=f"default-src 'none'; script-src 'sha256-{_digest(script)}'; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'",
        script=Markup(script),  # noqa: S704 - a file of this package
    )


def _resource(name: str) -> str:
    return resources.files("lmms_medtasks.agreement").joinpath(name).read_text(encoding="utf-8")


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _scale(dimension: Dimension) -> list[tuple[str, str]]:
    """The labels from worst to best, each with the key that chooses it: its own digit, or its place."""
    labels = ascending(dimension.labels)
    own = all(len(label) == 1 and label in "0123456789" for label in labels)
    return [(label, label if own else str(place) if place < 10 else "") for place, label in enumerate(labels, 1)]


def _texts(drawn: Drawn, protocol: Protocol) -> Mapping[str, str]:
    """The fields in the prompt's order, control characters shown as U+FFFD."""
    fields = drawn.answer.fields or {}
    return {name: _CONTROL.sub("\ufffd", fields.get(name, "").replace("\r\n", "\n")) for name in protocol.fields}
