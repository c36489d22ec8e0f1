"""``lmms-medtasks leaderboard``: from runs and packs to a static site, and what keeps one in public trustworthy."""

from __future__ import annotations

import typer

from lmms_medtasks.cli import leaderboard_site, leaderboard_trust, pack

app = typer.Typer(help="From many runs to a leaderboard.", no_args_is_help=True, pretty_exceptions_enable=False)
leaderboard_site.register(app)
leaderboard_trust.register(app)
app.command()(pack.repack)
