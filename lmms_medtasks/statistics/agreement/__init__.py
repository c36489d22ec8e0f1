"""Agreement of raters, people or judges: coefficients with intervals over clusters.

Ratings are numbers: a label stands for the number that its scale gives it. NaN is a rating that was not made; it is
left out and ``n`` says how many were used. A coefficient that has no value is None with the reason, never 0.
"""

from lmms_medtasks.statistics.agreement.alpha import ALPHA_LEVELS, Level, alpha_of
from lmms_medtasks.statistics.agreement.measure import Measure, without_value
from lmms_medtasks.statistics.agreement.two_raters import COEFFICIENTS, agreement
from lmms_medtasks.statistics.agreement.wins import Contest, ModelWins, WinRates, win_rates, wins

__all__ = [
    "ALPHA_LEVELS",
    "COEFFICIENTS",
    "Contest",
    "Level",
    "Measure",
    "ModelWins",
    "WinRates",
    "agreement",
    "alpha_of",
    "win_rates",
    "wins",
    "without_value",
]
