"""The words around an option's text that say whether a reply means it. All in a folded text's terms (see texts.py)."""

from __future__ import annotations

import functools
import re

from lmms_medtasks.parsing.words import any_of

AROUND = re.compile(
    r"\bright (?:answer|option|choice|now|away)|(?:you are|you're|that's|left to) right|left (?:with|to)\b"
)
"""Words of everyday use that are options too."""
ARTICLE = re.compile(r"(?:an?|the|el|la|los|las|le|les|un|una|une|der|die|das|den|dem|eine?)\s+|l'")
AND = re.compile(r"\s+(?:and|y|et|und)\b|\s*和|\s*,\s*(?:\w+\s+){0,2}?(?:\w+,|(?:and|or|y|o|et|ou|und|oder)\b)")
HEDGE_ANYWHERE = re.compile(r"\b(?:may|might|could|possibly|perhaps|maybe|either|or|between|not|unclear)\b|\?|可能|或")
NUMBER = re.compile(r"\d+(?:[.,]\d+)?")
COUNTED = re.compile(
    r"(?:^|\b(?:is|are|be|see|shows?|count|contains?|has|have|of|total|exactly|only|hay|son|il y a|sind|gibt es)|"
    r"有|是|[:=])\s*$"
)
"""Before a number: it is how many there are."""
COMPARED = re.compile(
    r"(?:\b(?:than|over|under|exceed\w*|at least|at most|up to|als|mindestens|h[oö]chstens|"
    r"(?:mayor|menor)(?:es)? (?:que|de|a)|m[aá]s (?:de|que)|menos (?:de|que)|al menos|"
    r"(?:plus|moins)(?: \w+)? (?:que|de)|au moins)|大于|小于|超过|不到|至少)\s*$"
)
"""Before a number: a bound, not the number ("larger than 3 cm")."""
UNIT = re.compile(r"\s*(?:[mc]m|mg|ml|t|years?|months?|weeks?|days?|hours?|degrees?|°|%|-|/|:)(?![^\W_])|\s*[%°/:]")

HEDGE = re.compile(
    r"\b(?:may|might|could|can|possibl\w+|perhaps|maybe|whether|if|either|or|unclear|uncertain|versus|vs|differential|"
    r"suggestive but|o|u|podr[ií]an?|quiz[aá]s?|tal vez|posible\w*|puede|ou|pourrai\w*|peut|possible|oder|"
    r"k[oö]nnten?|vielleicht|m[oö]glich\w*|entweder|ob)\b|可能|也许|或|是否|\?"
)
"""In a folded text: nothing is decided."""
DENIED_BEFORE = re.compile(
    r"\bthan\b(?=[^,]*$)|"
    r"\b(?:not|no|never|without|cannot|neither|nor|rul\w+ out|exclud\w*|unlikely|absen\w+|negative for|rather than|"
    r"instead of|unlike|except|lacks?|recommend\w*|had|resolved|healed|prior|previous\w*|"
    r"adjacent to|next to|near|beside|behind|below|above|beneath|between|outside|"
    r"compared|similar to|differen\w+ from|history of|treatment of|asked about|"
    r"mimic\w*|left of|right of|(?<!i )would|nicht|kein\w*|weder|noch|ohne|"
    r"statt|neben|pas|aucun\w*|sans|ni|sin|ningun\w*|descart\w*|excluy\w*|exclu\w*|[eé]cart\w*|elimin\w*|tampoco|ser[ií]a|dar[ií]a|serait|donnerait|w[aä]re|w[uü]rde|spricht gegen|gegen|contra|contre|unlike|junto a|à côté)\b|n't\b|不|没|无|非|排除|未|旁"
)
"""In a folded text, before a name in the same clause: it is not what the reply says."""
DENIED_LATER = re.compile(
    r"[^.;]{0,40}?\b(?:is|are|was|were)\s+(?:both |all |each )?(?:negative|absent|excluded|unlikely|not|out)\b|[^.;,]{0,30}\b(?:would|should|could) (?:be|have|show|not)\b"
)
"""In a folded text, some words after a name: it is not what the reply says either."""
DENIED_AFTER = re.compile(
    r"\s*(?:\w+\s+){0,1}?(?:(?:is|are|was|were|seems?|appears?|looks?|ist|est|es)\s+(?:\w+\s+)?(?:not|unlikely|excluded|"
    r"ruled out|absent|wrong|incorrect|normal|unremarkable|less|falsch|nicht|pas|fau\w+|incorrect\w*)|isn't|aren't|"
    r"(?:can|could|should|cannot|can't) be (?:excluded|ruled out)|(?:cannot|can't|can not|could not|couldn't) be \w+|"
    r"lieg(?:t|en) nicht|fehlt|(?:kommt|kommen|scheide\w*) (?:nicht|aus)|(?:passt|passen) nicht|(?:queda |est[áa] |es )?descartad[oa]s?\b|"
    r"(?:is|are|was|were|has been|have been) (?:removed|resected)|"
    r"(?:transplant|resection|removal|treatment)\w*\b|would|(?:does|do|did) not|doesn't|don't|n'est pas|no es|no (?:encaja|cuadra|explica|est[aá])|descartad\w+|(?:同样|均|都|也|并)?不|可(?:以)?排除|排除|的可能(?:性)?(?:较|很)?(?:小|低)|的证据不足)"
)
CONCEDED = re.compile(
    r"^\W*(?:while|although|though|even though|even if|whereas|unlike|despite|aunque|mientras|bien que|quoique|obwohl|"
    r"während)\b[^,]*(?:,|$)|^\W*(?:虽然|尽管)[^,]*(?:,|$)"
)
IDENTIFIES = re.compile(
    r"\b(?:is|are|shows?|seen|suggests?|indicates?|indicating|points? (?:at|to)|consistent with|compatible with|"
    r"diagnos\w+|represents?|most likely|demonstrates?|reveals?|depicts?|present|visible|confirms?|muestra|sugiere|"
    r"indica|es|trata|señala|montre|sugg[eè]re|indique|est|agit|zeigt|ist|handelt|liegt|spricht|answer)\b|是|为|指|显示|提示|:"
)
"""In a folded text: its sentence says what something is."""
CLAUSE = re.compile(r"[;:!?\n]+|\.(?=\s|$)|,?\s*\b(?:but|however|yet|sondern|aber|sino|pero|mais|so)\b|而是|但是?")


def clauses(text: str) -> list[tuple[str, str]]:
    """The clauses of a text, each with the mark or word that ends it."""
    found, start = [], 0
    for match in CLAUSE.finditer(text):
        found.append((text[start : match.start()], match[0].strip()[:1]))
        start = match.end()
    return [*found, (text[start:], "")]


@functools.cache
def concluding() -> re.Pattern[str]:
    """Words of a sentence that concludes, or a colon."""
    return re.compile(rf"{any_of('concludes')}|[:：→]", re.IGNORECASE)
