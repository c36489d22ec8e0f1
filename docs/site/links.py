"""Dead links in a built site: files and anchors that are not there. Links to other sites are not followed."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.anchors: set[str] = {""}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.targets += [value for key in ("href", "src") if (value := given.get(key))]
        self.anchors |= {value for key in ("id", "name") if (value := given.get(key))}


def dead(folder: Path) -> list[str]:
    """ "page: target" for every link of a page in ``folder`` that leads nowhere."""
    pages = {path.resolve(): _read(path) for path in sorted(folder.rglob("*.html"))}
    found = []
    for path, page in pages.items():
        for target in page.targets:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            leads = (
                folder / unquote(parts.path).lstrip("/")
                if parts.path.startswith("/")
                else path.parent / unquote(parts.path)
            )
            leads = path if not parts.path else leads.resolve()
            leads = leads / "index.html" if leads.is_dir() else leads
            if not leads.exists() or (leads in pages and parts.fragment not in pages[leads].anchors):
                found.append(f"{path.relative_to(folder.resolve())}: {target}")
    return found


def outside(folder: Path) -> list[str]:
    """ "page: target" for everything that a page would load from another site when it is opened."""
    found = []
    for path in sorted(folder.rglob("*.html")):
        for tag, target in _loads(path):
            if urlsplit(target).netloc:
                found.append(f"{path.relative_to(folder)}: {tag} {target}")
    return found


class _Loads(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.loads: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag in ("script", "img", "iframe") and given.get("src"):
            self.loads.append((tag, str(given["src"])))
        if tag == "link" and given.get("rel") in ("stylesheet", "icon", "shortcut icon"):
            self.loads.append((tag, str(given.get("href") or "")))


def _read(path: Path) -> _Page:
    page = _Page()
    page.feed(path.read_text("utf-8"))
    return page


def _loads(path: Path) -> list[tuple[str, str]]:
    page = _Loads()
    page.feed(path.read_text("utf-8"))
    return page.loads
