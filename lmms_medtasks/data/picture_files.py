"""The files that cells of a table name, and the options that would find those that are not there."""

from __future__ import annotations

import functools
import itertools
import json
import os
import shlex
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath

from lmms_medtasks.errors import UserError, nearest_match
from lmms_medtasks.pictures import SUFFIXES

_MOST_FILES = 200_000
_MOST_PLACES = 3


@dataclass(frozen=True)
class PicturePlace:
    """A folder in the task's folder where names of files start ("": it itself), and what is put behind the names.

    ``count``: how many different names are those of files so.
    """

    folder: str
    endings: tuple[str, ...]
    count: int

    def holds(self, text: str, names: Collection[str]) -> bool:
        """Whether a cell's text names one of the files ``names`` so."""
        start = PurePosixPath(self.folder, text.replace("\\", "/"))
        return any(f"{start}{ending}" in names for ending in self.endings or ("",))

    def __str__(self) -> str:
        """The options of ``new``."""
        options = {"--images-in": self.folder, "--image-ending": ",".join(self.endings)}
        return " ".join(f"{name} {shlex.quote(value)}" for name, value in options.items() if value)

    @property
    def code(self) -> str:
        """The arguments of ``from_columns``."""
        ending = self.endings if len(self.endings) > 1 else "".join(self.endings)
        arguments = {"images_in": self.folder, "image_ending": ending}
        return ", ".join(f"{name}={json.dumps(value)}" for name, value in arguments.items() if value)


class PictureFiles:
    """The images in the task's ``folder``, by the names that cells of a table give.

    Args:
        folder: The task's folder; no file out of it is taken.
        images_in: The folder in it where names start.
        endings: What is put behind a name; of several, the one with which there is a file.

    Raises:
        UserError: ``images_in`` is no folder in the task's folder.
    """

    def __init__(self, folder: str | Path, images_in: str = "", endings: Sequence[str] = ()) -> None:
        self.folder = Path(folder)
        self.root = self.folder / images_in
        self._endings = tuple(endings)
        self._leads_out = functools.cache(self._is_outside)
        if images_in and not self.root.is_dir():
            above = {str(folder) for name in self.names for folder in PurePosixPath(name).parents}
            folders = sorted(above - {"."}, key=lambda name: (name.count("/"), name))
            listed = f" It has {', '.join(folders[:10])}." if folders else ""
            raise UserError(
                f"--images-in {images_in!r} (images_in in adapter.py): no such folder in {self._shown_folder}."
                f"{nearest_match(images_in, folders) or listed}"
            )

    @property
    def _shown_folder(self) -> Path:
        return self.folder if str(self.folder) != "." else Path.cwd()

    def find_file(self, text: str) -> Path | None:
        """The file that a cell names; None if there is none. Raises UserError for two, and for one out of the folder.

        A name that has its ending already is found too.
        """
        plain = text.replace("\\", "/")
        try:
            files = [path for ending in self._endings if (path := self._find_written(text, plain, ending))]
            files = files or list(filter(None, [self._find_written(text, plain, "")]))
        except (OSError, ValueError):  # a text that no path can be
            return None
        if not is_inside_path(text) and (files or PurePosixPath(plain).suffix):
            raise UserError(
                f"{text!r} leads out of the task's folder, and to nothing on other machines. Put the images into "
                f"{self.folder} and name them from there."
            )
        if len(files) > 1:
            names = " and ".join(repr(path.name) for path in files)
            raise UserError(f"{text!r} could be {names}. Say one --image-ending, or write which it is into the table.")
        if files and (self._leads_out(files[0].parent) or (files[0].is_symlink() and self._is_outside(files[0]))):
            raise UserError(
                f"{text!r} is a link that leads out of the task's folder, and to nothing on other machines. Put the "
                f"files themselves into {self.folder} (cp -rL)."
            )
        return files[0] if files else None

    def _find_written(self, text: str, plain: str, ending: str) -> Path | None:
        return next((path for name in (text, plain) if (path := self.root / f"{name}{ending}").is_file()), None)

    def _is_outside(self, path: Path) -> bool:
        return not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(self.folder))

    @functools.cached_property
    def names(self) -> list[str]:
        """The paths of the images in the folder, from the folder on; a file without an ending may be an image."""
        return list(itertools.islice(self._iter_names(), _MOST_FILES))

    def _iter_names(self) -> Iterator[str]:
        for folder, folders, files in os.walk(self.folder):
            folders[:] = sorted(name for name in folders if not name.startswith((".", "__")))
            for name in sorted(files):
                if not name.startswith(".") and (Path(name).suffix.lower() or ".png") in SUFFIXES:
                    yield Path(folder, name).relative_to(self.folder).as_posix()

    @functools.cached_property
    def _by_name(self) -> Mapping[str, list[str]]:
        """Paths by the names of their files, and by these without endings."""
        paths = defaultdict(list)
        for path in self.names:
            for name in {PurePosixPath(path).name, PurePosixPath(path).stem}:
                paths[name].append(path)
        return paths

    def suggest_places(self, texts: Sequence[str], least: float = 1.0) -> list[PicturePlace]:
        """The places where the largest number of ``texts`` name files; [] where fewer than the share ``least`` do."""
        texts = list(dict.fromkeys(text.replace("\\", "/").removeprefix("./") for text in texts))
        named: dict[str, dict[str, set[str]]] = {}  # folder -> ending -> texts
        for text in texts:
            for path in self._by_name.get(PurePosixPath(text).name, ()):
                for ending in {"", PurePosixPath(path).suffix}:
                    before, rest = path[: len(path) - len(text + ending)], path[-len(text + ending) :]
                    if rest == text + ending and (not before or before.endswith("/")):
                        named.setdefault(before.rstrip("/"), {}).setdefault(ending, set()).add(text)
        counts = {folder: len(set().union(*by_ending.values())) for folder, by_ending in named.items()}
        most = max(counts.values(), default=0)
        if not most or most < least * len(texts):
            return []
        places = []
        for folder in (folder for folder, count in counts.items() if count == most):
            whole = [ending for ending, found in named[folder].items() if len(found) == most]
            if "" in whole:
                places.append(PicturePlace(folder, (), most))
            elif whole:
                places += [PicturePlace(folder, (ending,), most) for ending in whole]
            else:
                places.append(PicturePlace(folder, tuple(sorted(filter(None, named[folder]))), most))
        return sorted(places, key=lambda place: (place.folder, place.endings))[:_MOST_PLACES]

    def nearest_name_sentence(self, text: str) -> str:
        """Which image of the folder a text that names none may mean, as a sentence after a blank; "" for none."""
        same = [name for name in self.names if _fold_name(name) == _fold_name(text)]
        # Only case, ending and folder may differ: another name is another patient's image.
        stem = _fold_name(PurePosixPath(text.replace("\\", "/")).stem)
        others = [name for name in self.names if _fold_name(PurePosixPath(name).stem) == stem]
        if same and same[0] != text and unicodedata.normalize("NFC", same[0]) == unicodedata.normalize("NFC", text):
            return (
                f" There is {same[0]!r}, which looks the same and is written with other characters (Unicode NFC and "
                "NFD): rename the file."
            )
        return f" Did you mean {(same or others)[0]!r}?" if same or others else ""


def describe_places(places: Sequence[PicturePlace], column: str = "") -> str:
    """What to type for one of ``places``, for ``new`` and for an adapter; ``column``: which has to be named too."""
    option = f"--image {shlex.quote(column)} " if column else ""
    argument = f"image={json.dumps(column)}, " if column else ""
    typed = " or ".join(f"{option}{place}" for place in places)
    return f"Say {typed} (in adapter.py: {' or '.join(f'{argument}{place.code}' for place in places)})"


def is_inside_path(text: str) -> bool:
    """Whether a path as written, also as Windows writes it, stays in the folder where it starts."""
    path = PurePosixPath(text.replace("\\", "/"))
    return ".." not in path.parts and not path.is_absolute() and not PureWindowsPath(text).drive


def _fold_name(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()
