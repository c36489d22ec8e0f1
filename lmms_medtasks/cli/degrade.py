"""``lmms-medtasks degrade`` and ``lmms-medtasks preview``: degrade one's own images, and look at degradations."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lmms_medtasks.errors import UserError

if TYPE_CHECKING:
    from lmms_medtasks.degradations.files import FileDegradation

SeedOption = Annotated[str, typer.Option(help="What random draws depend on: a number, or any text.")]
ModalityOption = Annotated[
    str | None,
    typer.Option(
        help="What the images are of: CT, X-ray, or your own: modalities.yml:OCT. Some operators depend on it."
    ),
]
LengthsOption = Annotated[
    str,
    typer.Option(
        help="Lengths in pixels (blurs, low resolution): pixels, the paper's numbers on images of any size; share, the "
        "same share of each image."
    ),
]


def _parse_seed(text: str) -> int | str:
    """A number where ``text`` is one, as in the library: there, 0 and "0" are different seeds."""
    return int(text) if text.removeprefix("-").isdecimal() else text


def degrade(
    source: Annotated[Path, typer.Argument(metavar="IN", help="An image file, or a folder of them (searched whole).")],
    output: Annotated[Path, typer.Option("--output", "-o", help="File or folder to write to.")],
    name: Annotated[
        str,
        typer.Option(
            help="The degradation: gaussian_noise, or your own: parts.py:NAME, module:NAME. Several, also with their "
            "levels, as in `run --degrade`: gaussian_noise:2,motion_blur:1,2, all:2 (all of --modality)."
        ),
    ],
    severity: Annotated[
        int | None, typer.Option(help="0 (untouched), 1 (mild) or 2 (severe); both levels if no level is given.")
    ] = None,
    strength: Annotated[
        float | None, typer.Option(help="Instead of --severity: a number from 0 to 3, through both levels (1 and 2).")
    ] = None,
    seed: SeedOption = "0",
    modality: ModalityOption = None,
    force: Annotated[bool, typer.Option("--force", help="Apply it to a modality that it is not for.")] = False,
    lengths: LengthsOption = "pixels",
    vary: Annotated[bool, typer.Option("--vary", help="A seed for each file: the seed joined with its path.")] = False,
    pattern: Annotated[str, typer.Option(help="Which files of a folder, by name, e.g. '*.png'.")] = "*",
    workers: Annotated[int, typer.Option(help="Processes; 0: one for each core.", min=0)] = 0,
    existing: Annotated[
        str, typer.Option(help="Files that are there already: refuse, overwrite, or skip them (to resume).")
    ] = "refuse",
    as_json: Annotated[
        bool, typer.Option("--json", help="Print what was applied, one JSON line for each file.")
    ] = False,
) -> None:
    """Degrade an image, or all images of a folder.

    Of several degradations or levels each has its folder in --output: gaussian_noise.2.
    Pixels are stored without loss: PNG, TIFF and BMP files stay what they are, all others become PNG (CMYK and float
    images TIFF). The parameters stand in the written file too (PNG: the text "degradation", TIFF: the description; BMP
    has no place for them).
    Photographs are turned upright first, DICOM files are shown in their window. Files that fail are listed, the others
    are written, and the exit status is 1.
    """
    from lmms_medtasks.degradations import files, modality_files

    order = files.FileDegradation(
        name,
        severity,
        strength=strength,
        seed=_parse_seed(seed),
        modality=modality_files.parse_modality_option(modality),
        force=force,
        vary=vary,
        lengths=lengths,
    )
    orders = _list_orders(order)
    _check_lengths_use(lengths, [single_order.name for single_order in orders.values()])
    if len(orders) > 1 and (output.is_file() or output.suffix.lower() in files.KEPT_FORMATS):
        raise UserError(f"{len(orders)} images of each are asked for ({', '.join(orders)}): {output} must be a folder, "
                        "or give one degradation with --severity 1 or --severity 2.")  # fmt: skip
    outcome = files.FolderOutcome([], [], 0)
    options: dict[str, Any] = {"pattern": pattern, "workers": workers, "existing": existing}
    try:
        for folder, single_order in orders.items():
            target = output / folder if len(orders) > 1 else output
            if len(orders) > 1 and source.exists():
                target.mkdir(parents=True, exist_ok=True)
            outcome += files.degrade_files(source, target, single_order, **options)
    except KeyboardInterrupt:
        typer.echo("Interrupted. Every file written is whole; --existing skip goes on from here.", err=True)
        raise typer.Exit(130) from None
    if as_json:
        for record in outcome.records:
            typer.echo(json.dumps(record))
    for path, problem in outcome.problems:
        typer.echo(f"{path}: {problem}", err=True)
    for line in _view_notes(outcome.records):
        typer.echo(line, err=True)
    skipped = f", {outcome.skipped} skipped (there already)" if outcome.skipped else ""
    images = "image" if len(outcome.records) == 1 else "images"
    typer.echo(
        f"{len(outcome.records)} {images} written to {output}{skipped}, {len(outcome.problems)} failed.", err=True
    )
    if outcome.problems:
        raise typer.Exit(1)


def _check_lengths_use(lengths: str, names: Sequence[str]) -> None:
    """Raise UserError where ``--lengths share`` would change none of the degradations."""
    from lmms_medtasks import degradations
    from lmms_medtasks.harness.degraded_names import list_with_lengths

    if lengths == degradations.SHARE and names and not any(map(degradations.lengths_of, names)):
        raise UserError(
            f"--lengths {lengths}: {', '.join(dict.fromkeys(names))} has no lengths in pixels, so both choices are the "
            f"same. Leave the option out. It is for {list_with_lengths()}."
        )


def _list_orders(order: FileDegradation) -> dict[str, FileDegradation]:
    """The order of each degradation and level that --name has, under the name of its folder: gaussian_noise.2.

    Raises UserError for an unknown name, `all` without a modality, and levels that are given twice or are no numbers.
    """
    from lmms_medtasks import degradations
    from lmms_medtasks.harness import degraded_names

    orders = {}
    is_given = order.severity is not None or order.strength is not None
    for head, levels in degraded_names.split_items(order.name, "--name"):
        if levels and is_given:
            raise UserError(f"--name {order.name!r} has its levels: leave --severity and --strength out.")
        if head == "all" and order.modality is None:
            raise UserError("--name all takes those that there are for the images' modality: give --modality, one of "
                            f"{', '.join(degradations.modalities())}.")  # fmt: skip
        for name in degradations.for_modality(str(order.modality)) if head == "all" else [head]:
            given = [(order.severity, order.strength)] if is_given else []
            for severity, strength in given or map(_parse_level, levels or map(str, degradations.levels_of(name))):
                folder = f"{degradations.title(name)}.{strength if severity is None else severity}".replace(":", ".")
                orders[folder] = replace(order, name=name, severity=severity, strength=strength).checked()
    return orders


def _parse_level(text: str) -> tuple[int | None, float | None]:
    """Severity and strength, one of them None."""
    if text in ("0", "1", "2"):
        return int(text), None
    try:
        return None, float(text)
    except ValueError:
        raise UserError(f"--name: {text!r} is no level here. Allowed: 0, 1, 2, or a strength from 0 to 3.") from None


def _view_notes(records: list[dict[str, Any]]) -> list[str]:
    """A line for each rule of :mod:`lmms_medtasks.pictures` that decided how an image is seen."""
    views = {record["file"]: record.get("shown_as", {}) for record in records}.values()  # one for each image, not copy
    windows, laid = (sum(key in view for view in views) for key in ("window", "background"))
    lines = []
    if windows:
        lines.append(
            f"{windows} image(s) are DICOM or use a part of 16 bits: degraded in the window that the file states, or "
            "else from their smallest to their largest value (shown_as in --json)."
        )
    if laid:
        lines.append(f"{laid} image(s) have transparent pixels: laid on white or black (shown_as in --json).")
    return lines


def preview(
    sources: Annotated[
        list[Path] | None, typer.Argument(metavar="[IN]...", help="Image files; none: a mini image of each modality.")
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the two files.")] = Path("."),
    modality: ModalityOption = None,
    name: Annotated[list[str] | None, typer.Option(help="Only this degradation; may be given several times.")] = None,
    seed: SeedOption = "0",
    curve: Annotated[
        bool, typer.Option("--curve", help="Strengths 0.5, 1 (L1), 1.5, 2 (L2), 2.5 and 3, with PSNR as a curve.")
    ] = False,
    lengths: LengthsOption = "pixels",
) -> None:
    """Draw a gallery of all degradations.

    Of every modality and level, with PSNR and SSIM under each image.

    Writes preview.png and preview.html (one file, images inside it). Given images are shown with every degradation
    that is for --modality, or with all of them where it is not given. Files that fail are listed, the others are shown,
    and the exit status is 1.
    """
    from lmms_medtasks import digests
    from lmms_medtasks.cli.preview import make_preview_sections
    from lmms_medtasks.degradations import gallery, modality_files
    from lmms_medtasks.writing import atomic_write, write_text_atomically

    if output.exists() and not output.is_dir():
        raise UserError(f"{output} is a file; --output names the folder for preview.png and preview.html.")
    _check_lengths_use(lengths, name or [])
    shown, failed = make_preview_sections(
        sources or [], modality_files.parse_modality_option(modality), name or [], _parse_seed(seed), curve, lengths
    )
    for path, problem in failed:
        typer.echo(f"{path}: {problem}", err=True)
    if not shown:
        raise UserError(f"None of the {len(failed)} files could be shown; nothing was written.")
    subject = "Strengths 0.5 to 3 (1 and 2 are levels 1 and 2)" if curve else "Levels 1 and 2 side by side"
    about = f"{subject}, the untouched image above; seed {seed}, version {digests.degradations_digest()}."
    if lengths != "pixels":
        about += " Lengths are the same share of each image, not the paper's pixels."
    if not sources:
        about += " The images are the mini data's, which are drawn."
    if failed:
        about += f" Not shown: {', '.join(path.name for path, _ in failed)}."
    text = gallery.render_page("Degradations", about, shown)
    with atomic_write(output / "preview.png") as part:
        gallery.render_sheet(shown).save(part, "PNG")
    write_text_atomically(output / "preview.html", text)
    for file in ("preview.png", "preview.html"):
        typer.echo(output / file)
    if failed:
        raise typer.Exit(1)
