"""A page that shows questions as a model gets them: all texts escaped, all pictures inside, no script."""

from __future__ import annotations

import base64
import importlib.resources
import io
from collections.abc import Sequence
from typing import Any

from lmms_medtasks.contribute.live import SHOWN, ShownQuestion


def html(title: str, tasks: Sequence[tuple[str, Sequence[ShownQuestion]]]) -> str:
    """The page of these tasks, each with its questions."""
    import jinja2

    text = importlib.resources.files(__package__).joinpath("page.html").read_text("utf-8")
    page = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined).from_string(text)
    listed = [(name, [_question(each) for each in shown]) for name, shown in tasks]
    return page.render(title=title, count=SHOWN, tasks=listed)


def _question(shown: ShownQuestion) -> dict[str, Any]:
    pictures = [{"source": _source(each), "about": f"{each.width} x {each.height} pixels"} for each in shown.pictures]
    return {"id": shown.id, "prompt": shown.prompt, "target": shown.target, "pictures": pictures, "about": shown.about}


def _source(picture: Any) -> str:
    held = io.BytesIO()
    picture.save(held, "PNG")
    return "data:image/png;base64," + base64.b64encode(held.getvalue()).decode()
