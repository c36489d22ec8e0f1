"""The words by which replies state, negate and hedge an answer, in English, Spanish, French, German and Chinese."""

from __future__ import annotations

import re
import unicodedata

_CJK = r"\u3400-\u9fff"
_SPECIAL = re.compile(r"</?s>|<\|[\w ]{1,30}\|>|<(?:end_of_turn|eos|bos|pad)>", re.IGNORECASE)
_LATEX = re.compile(r"\\(?:text|textbf|textit|textrm|mathrm|mathbf|mathit|rm|bf)\s{0,8}\{([^{}]{0,500})\}")
_LATEX_MATH = re.compile(r"\\[\[\]()]")
_CJK_EDGE = re.compile(rf"(?<=[{_CJK}])(?=[A-Za-z0-9(])|(?<=[A-Za-z0-9)])(?=[{_CJK}])")
_SAME_MARKS = str.maketrans({"。": ". ", "、": ",", "「": '"', "」": '"', "\u2019": "'", "\u02bc": "'"})


def normalised(text: str) -> str:
    """``text`` with one form of each character (NFKC), without a tokenizer's marks and LaTeX's commands for fonts.

    A space is put between Chinese characters and Latin letters or digits, so that the letter of "答案是B" stands alone.
    """
    text = unicodedata.normalize("NFKC", _SPECIAL.sub(" ", text)).translate(_SAME_MARKS)
    text = _LATEX_MATH.sub(" ", _LATEX.sub(r"\1", text))
    return _CJK_EDGE.sub(" ", text)


ANSWER = (
    r"(?:\b(?:answer|choice|selection|option|letter|respuesta|opci[oó]n|alternativa|letra|r[eé]ponse|choix|lettre|"
    r"antwort|wahl|l[oö]sung|buchstabe)\b|答案|选项|选择)"
)
"""A word that announces an answer."""

_SURE = r"(?:correct|right|final|correcta|correcte|finale?|korrekte?|richtige?)"
ANSWER_IS = (
    rf"{ANSWER}(?:\s+(?:letter|choice|option|here|{_SURE}))?[\"'`*_)]*\s*"
    r"(?::|=|->|→|\bis\b:?|\bwould be\b|\bshould be\b|\bmust be\b|\bes\b:?|\bser[ií]a\b|\best\b\s*:?|\bserait\b|"
    r"\bist\b:?|\blautet\b:?|\bw[aä]re\b|应该是|应该为|应为|是|为)"
)
CHOOSE = (
    r"(?:\b(?:choose|select|pick|go with|going with|opt for|settle on|changing my answer to|change my answer to|"
    r"switch to|(?:i['’]?d|would|i) say|elijo|escojo|selecciono|eligo|me quedo con|choisis|choisirais|s[eé]lectionne|"
    r"opte pour|w[aä]hle(?: ich)?|entscheide(?: ich)? mich f[uü]r|nehme(?: ich)?|tippe(?: ich)? auf|"
    r"(?:richtig|korrekt|zutreffend) (?:ist|w[aä]re)|la correcta es|la bonne est)\s+|"
    r"选(?!项|择)\s*|选择\s*|认为(?:是|应该是)?\s*)"
)
FILLER = (
    r"(?:(?:most likely|likely|probably|clearly|definitely|therefore|thus|option|choice|letter|answer|the|la|le|el|die|"
    r"der|das|opci[oó]n|respuesta|r[eé]ponse|lettre|letra|antwort|buchstabe)\s+|l['’](?=option|alternative)|选项\s*|最终\s*)*"
)
_LETTER = r"(?:(?-i:[A-Z])|[b-hj-z])"  # not "a" and "i", which are words
LONE_AT_END = rf"(?=[(*\[]{{0,3}}{_LETTER}[)*\]]{{0,3}}\s*(?:[.;!]|$))"
"""Before a letter that ends its sentence."""
LOWER_IN_BRACKETS = r"(?=[*]{0,2}\([a-z]\))"

IT_IS = (
    r"(?:\b(?:it is|it['’]s|this is|that is|that['’]s|must be|has to be|would be|i think|i believe|c['’]est|"
    r"es ist|ist es)\s+|\bes\s+|是\s*)"
    rf"{FILLER}(?=[(*]{{0,3}}{_LETTER}[)*]{{0,3}}\s*(?:[.,;:!]|$))"
)
SO = (
    r"(?:\b(?:therefore|thus|hence|so|donc|ainsi|as[ií] que|por lo tanto|por tanto|luego|somit|daher|folglich|"
    rf"deshalb)\b[,:]?\s+|(?:所以|因此|故)[,:]?\s*){FILLER}(?:{LONE_AT_END}|{LOWER_IN_BRACKETS})"
)
ALSO = rf"\balso\s+{FILLER}{LONE_AT_END}"
"""German for "so", where the text is German."""
GERMAN = re.compile(r"\b(?:und|sind|ist|nicht|oder|falsch)\b")
CONTRAST = (
    r"(?:(?<!thing )(?<!all )(?<!none )\bbut(?: rather)?\s+|\b(?:sondern|aber|sino|pero|mais|plut[oô]t)\s+|"
    r"而是\s*|但是?\s*)"
    rf"{FILLER}{LONE_AT_END}"
)
LEFT_OVER = rf"(?:\b(?:leaves|leaving|left with|bleibt(?: nur)?|queda|reste)\s+|剩下\s*){FILLER}{LONE_AT_END}"
IS_RIGHT = (
    r"(?:\s+(?:is|seems|appears(?: to be)?|must be|es|est|ist)\s+(?:the\s+|la\s+|le\s+|die\s+)?(?:single\s+|most\s+)?"
    r"(?:correct|right|best|better|answer|appropriate|accurate|likely|consistent|true|correcta|correcte|bonne|richtig|"
    r"korrekt|richtige|korrekte)\b|\s*是?正确)"
)
REASON = r"(?:because|since|as|due to|given|porque|ya que|parce que|car|weil|因为)"

NEGATION_BEFORE = re.compile(
    r"(?:\bnot|n['’]t|\bnever|\bcannot|\bincorrect|\bwrong|\brather than|\binstead of|\bexclude|\brule out|\bno|\bpas|"
    r"\bnicht|不|非|没有?|无法|别|不能|不会|不应该?|并不)"
    r"(?:\s+(?:the|an?|to|be|la|le|el|die|der|das|es|est))*(?:\s+(?:correct|right|best|final))?\s*$",
    re.IGNORECASE,
)

LEFT_OPEN = re.compile(
    r"\b(?:(?:if|unless)(?! (?:i|we) (?:had|have|were|must|need)\b| forced)|whether|doubt|unlikely|"
    r"not (?:think|believe)|hard to say|impossible to say|some (?:would|might|may) say|one (?:would|might|could) say|"
    r"least likely|wrong answer|dudo que|doute que|bezweifle)\b|n['’]t (?:think|believe)\b",
    re.IGNORECASE,
)
"""Before a statement in its sentence: it is none."""
CONDITION_AFTER = re.compile(r"[\"'`*_(\[]{0,4}[A-Za-z][\"'`*_)\]]{0,4},?\s+(?:if|unless|wenn|si)\b|[^.\n]{0,40}\?")
WOULD_BE = re.compile(r"\b(?:would be|ser[ií]a|serait|w[aä]re)\b", re.IGNORECASE)
BUT_AFTER = re.compile(
    r"[\"'`*_(\[]{0,4}[A-Za-z][\"'`*_)\]]{0,4},?\s+(?:but|yet|however|pero|mais|aber)\b", re.IGNORECASE
)
"""After a statement with "would be": it was conceded ("it would be C, but ...")."""
MAYBE_BEFORE = re.compile(r"(?:(?<![最很极])可能|也许|或许)\s*$")
"""Before a Chinese statement in its sentence: "也可能是C" leaves open which; "最可能是C" does not."""
TAKEN_BACK = re.compile(
    r"\b(?:wait|hold on|hmm+|sorry|oops|actually|no)\b[\s,.!—–-]{0,8}(?:no|not|wait|sorry|"
    r"(?:that|this|it)(?: is|['’]s) (?:wrong|incorrect|not)|i (?:was wrong|misread|made a mistake|am wrong))\b|"
    r"\bscratch that\b|\bi take (?:that|it) back\b|\bcorrection\s?:|"
    r"[.!?\n]\s{0,4}(?:(?:no|nein|perd[oó]n|non)\s*,|不对)",
    re.IGNORECASE,
)
"""After a statement: what it said is taken back."""
_OTHER = r"(?:\b(?:or|and|nor|o|y|ni|ou|et|oder|und|noch)\b|[/&]|或者?|和|与)"
ANOTHER_BEFORE = re.compile(rf"(?<![^\W_])[A-Z][)\]\"'*]{{0,3}}\s*,?\s*{_OTHER}\s*$")
"""Before "B is correct": "A or B is correct" says nothing of B alone."""
NO_PREDICATE = re.compile(
    r"\b(?:none|neither|nor|doubt\w*|whether|ningun\w*|ni|aucune?|kein\w*|weder|bezweifle|dudo|doute)\b", re.IGNORECASE
)
"""Before "B is correct" in its clause: it is not said of B."""
ARTICLE = re.compile(
    # Not "A": it may be a letter.
    r"(?:an|An|the|The|a|[Ee]l|[Ll]a|[Ll]os|[Ll]as|[Ll]e|[Ll]es|[Uu]n|[Uu]na|[Uu]ne|[Dd]er|[Dd]ie|[Dd]as|[Ee]ine?)\s+|[Ll]'"
)

REFUSAL = re.compile(
    r"\b(?:i|we)(?:['’]m| am| are)?\s+(?:(?:really|truly|very|so)\s+)?(?:sorry|unable|not able|afraid)\b"
    r"|\b(?:i|we)\s+(?:cannot|can['’]?t|can not|won['’]?t|will not|do not|don['’]?t|could not|couldn['’]?t)\s+"
    r"(?:\w+\s+){0,2}?(?:answer|assist|help|provide|determine|diagnose|interpret|see|view|analy[sz]e|identify|tell|know|"
    r"comment|give|say|make|offer|choose|decide)\b"
    r"|\bas an ai\b|\b(?:cannot|can ?not|can['’]t) be (?:answered|determined)\b"
    r"|\b(?:not enough|insufficient) information\b|\bunable to (?:answer|determine|assist|provide|view|see)\b"
    r"|\bno (?:image|picture|grid|information)\b"
    r"|\bconsult (?:a|your|with a) (?:doctor|physician|specialist|radiologist|healthcare|medical)"
    r"|\blo siento\b|\bno (?:se )?(?:puedo|puede|sé|es posible)\b"
    r"|\bd[ée]sol[ée]e?\b|\bje ne (?:peux|sais)\b|\bil est impossible\b|\bleider\b|\bkann (?:ich|man) (?:das )?nicht\b|"
    r"\bich kann (?:das|dies)? ?(?:leider )?nicht\b|\bkann man nicht\b|\bweiß (?:ich )?nicht\b"
    r"|对不起|抱歉|无法|不能(?:确定|判断|提供)|不知道|不确定",
    re.IGNORECASE,
)  # fmt: skip
"""A model that will not or cannot answer."""

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
    r"mimic\w*|left of|right of|would|nicht|kein\w*|weder|noch|ohne|"
    r"statt|neben|pas|aucun\w*|sans|ni|sin|ningun\w*|descart\w*|junto a|à côté)\b|n't\b|不|没|无|非|排除|未|旁"
)
"""In a folded text, before a name in the same clause: it is not what the reply says."""
DENIED_AFTER = re.compile(
    r"\s*(?:\w+\s+){0,1}?(?:(?:is|are|was|were|seems?|appears?|looks?|ist|est|es)\s+(?:\w+\s+)?(?:not|unlikely|excluded|"
    r"ruled out|absent|wrong|incorrect|normal|unremarkable|less|falsch|nicht|pas|fau\w+|incorrect\w*)|isn't|aren't|"
    r"(?:can|could|should|cannot|can't) be (?:excluded|ruled out)|(?:cannot|can't|can not|could not|couldn't) be \w+|"
    r"lieg(?:t|en) nicht|fehlt|(?:queda |est[áa] |es )?descartad[oa]s?\b|"
    r"(?:is|are|was|were|has been|have been) (?:removed|resected)|"
    r"(?:transplant|resection|removal|treatment)\w*\b|would|(?:does|do|did) not|doesn't|don't|n'est pas|no es|不)"
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
