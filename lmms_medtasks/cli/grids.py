"""``lmms-medtasks grids``: build new image grids with an outlier, and check a set of them for leaks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from lmms_medtasks.errors import UserError

app = typer.Typer(
    name="grids",
    no_args_is_help=True,
    help="Build grids of images with an outlier.\n\nThey have the form of MedObvious.",
)

AlphaOption = Annotated[
    float, typer.Option(help="Holm-adjusted p value below which a trivial feature counts as a leak.")
]


@app.command()
def build(
    source: Annotated[
        str, typer.Argument(help="A folder, a labels table (CSV, JSONL, parquet), or medtasks://suite/split.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to write; it must not be there yet.")],
    labels: Annotated[
        Path | None,
        typer.Option(help="Table with the columns image, modality and, if known, anatomy, view, finding, laterality."),
    ] = None,
    items: Annotated[int, typer.Option(min=1, help="Items of each size: 5 positive and 3 negative tasks each.")] = 100,
    size: Annotated[list[str] | None, typer.Option(help="2x2 (default) to 5x5; may be given several times.")] = None,
    kinds: Annotated[
        str,
        typer.Option(
            help="Kinds of outlier that take turns, joined by commas: category, orientation, viewpoint, integrity, "
            "finding (default: all that the labels allow)."
        ),
    ] = "",
    negatives: Annotated[float, typer.Option(help="Share of tasks whose grid has no outlier, 0 to 1.")] = 0.375,
    seed: Annotated[int, typer.Option(help="Another seed gives other grids, the same one the same bytes.")] = 0,
    panel: Annotated[int, typer.Option(help="Side of a panel in pixels.")] = 224,
    match: Annotated[
        bool,
        typer.Option(help="Give a grid's panels one shape, resolution, JPEG quality, brightness, contrast, file size."),
    ] = True,
    reuse: Annotated[
        bool, typer.Option("--reuse", help="Let an image be in several grids (not twice in one).")
    ] = False,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Leave out files that are no images.")] = False,
    skip_unlabelled: Annotated[
        bool, typer.Option("--skip-unlabelled", help="Leave out images that lack a label others have.")
    ] = False,
    check: Annotated[bool, typer.Option(help="Check the set for leaks, and refuse it if there is one.")] = True,
    keep_leaks: Annotated[bool, typer.Option("--keep-leaks", help="Keep a set that leaks.")] = False,
    alpha: AlphaOption = 0.01,
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier set in OUT.")] = False,
) -> None:
    """Build a set of grids from labelled images.

    The inliers of a grid share modality, anatomy and view and have no finding; the outlier is of one of five kinds:
    another category, a wrong orientation, another view, a violated integrity, a finding. OUT gets the form of the
    release that it is like, so that "lmms-medtasks data prepare BENCHMARK --source OUT" makes that benchmark's tasks
    run on it. OUT/manifest.json says how each grid was made. The same command makes the same set.

    If trivial features tell which tile is the outlier, the set is written to OUT.refused, and the exit status is 1.
    An interrupted build leaves nothing behind.
    """
    from lmms_medtasks import grids
    from lmms_medtasks.grids import labelled_pictures, leaks, plan, pool, write_grids

    requested_kinds = tuple(kind.strip() for kind in kinds.split(",") if kind.strip())
    if kinds:
        plan.check_kinds(requested_kinds)
    parsed = tuple(dict.fromkeys(grids.parse_size(text) for text in size or ["2x2"]))
    sizes = tuple(map(str, parsed))
    write_grids.check_target(output, force)
    needed = plan.needed_pictures(items, parsed, negatives)

    def check_count(there: int) -> None:
        if not reuse:
            plan.check_enough(there, items, parsed, negatives)
        need = f"{needed:,} panels to fill, images used again" if reuse else f"{needed:,} images needed at least"
        typer.echo(f"{items * len(sizes):,} items: {need}, {there:,} there.", err=True)

    labelled = labelled_pictures.read_labelled_images(
        source, labels=labels, skip_bad=skip_bad, skip_unlabelled=skip_unlabelled, counted=check_count
    )
    for name, reason in labelled.skipped:
        typer.echo(f"left out: {name}: {reason}", err=True)
    if labelled.ignored:
        typer.echo(f"Columns that nothing is made of: {', '.join(labelled.ignored)}.", err=True)
    chosen_kinds = requested_kinds or plan.possible_kinds(pool.ImagePool.of(labelled.pictures))
    if not requested_kinds:
        left = [kind for kind in plan.KINDS if kind not in chosen_kinds]
        typer.echo(f"Kinds of outlier: {', '.join(chosen_kinds)}"
                   + (f" (the labels do not allow {', '.join(left)})" if left else ""), err=True)  # fmt: skip
    settings = {
        "source": source, "labels": str(labels) if labels else None, "items": items, "sizes": list(sizes),
        "kinds": list(chosen_kinds), "negatives": negatives, "seed": seed, "panel": panel, "match": match,
        "reuse": reuse, "pictures": len(labelled.pictures), "left_out": len(labelled.skipped),
    }  # fmt: skip
    made = grids.build_items(
        labelled.pictures, items=items, sizes=sizes, kinds=chosen_kinds, negatives=negatives, seed=seed, panel=panel,
        match=match, reuse=reuse,
    )  # fmt: skip
    written = write_grids.write_grid_set(
        made, output, settings=settings, total=items * len(sizes), check=check, keep_leaks=keep_leaks, force=force,
        alpha=alpha,
    )  # fmt: skip
    if check:
        leaks.write_leak_table(written.rows, typer.echo)
    leaking = [row for row in written.rows if row.leak]
    typer.echo(f"{written.items} items, {written.tasks} tasks in {written.folder}", err=True)
    if written.refused:
        way_out = f"The set is kept in {written.folder}; --keep-leaks takes it all the same."
        typer.echo(f"Refused: {leaks.describe_leaks(leaking)} {way_out}", err=True)
        raise typer.Exit(1)
    if leaking:
        typer.echo(f"Kept although it leaks: {leaks.describe_leaks(leaking)}", err=True)


@app.command("check")
def check_set(
    folder: Annotated[Path, typer.Argument(help="A set that grids build wrote.")],
    alpha: AlphaOption = 0.01,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Test whether trivial features tell the outlier better than chance; the exit status is 1 if one does."""
    from lmms_medtasks.grids import leaks, write_grids

    if not 0 < alpha < 1:
        raise UserError(f"--alpha must be between 0 and 1, got {alpha!r}.")
    rows = write_grids.check_set(folder, alpha=alpha)
    if as_json:
        typer.echo(json.dumps([row.to_json() for row in rows], indent=2))
    else:
        leaks.write_leak_table(rows, typer.echo)
    leaking = [row for row in rows if row.leak]
    if leaking:
        typer.echo(f"The set leaks: {leaks.describe_leaks(leaking)}", err=True)
        raise typer.Exit(1)
