"use strict";
// One part of a report is shown at a time; without this script all of them are, one below the other, or all are folded.
const parts = [...document.querySelectorAll(".part")];
const tree = [...document.querySelectorAll(".tree [data-part]")];
const folds = parts.some((part) => part.tagName === "DETAILS");

function addressed() {
  try {
    return location.hash.length > 1 ? document.getElementById(decodeURIComponent(location.hash.slice(1))) : null;
  } catch {
    return null;  // an address that was cut off within a letter
  }
}

function only(chosen) {
  for (const part of parts) {
    if (folds) part.open = part === chosen;
    else part.hidden = part !== chosen;
  }
  for (const each of tree) {
    const here = chosen && each.dataset.part === chosen.id;
    each.classList.toggle("closed", !here);
    const link = each.querySelector("a");
    if (here) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
}

function show() {
  const target = addressed();
  const inside = target && target.closest(".part");
  const first = target && target.querySelector(".part");
  const known = folds || document.body.classList.contains("one");
  const shown = known ? parts.find((part) => (folds ? part.open : !part.hidden)) : null;
  document.body.classList.add("one");
  only(inside || (target && target.matches(".suite") && first) || shown || (folds ? null : parts[0]));
  for (let fold = target; fold; fold = fold.parentElement) if (fold.tagName === "DETAILS") fold.open = true;
  if (target && (inside || first || target.closest("#appendix"))) target.scrollIntoView();
}
addEventListener("hashchange", show);
show();
if (folds) for (const part of parts) part.addEventListener("toggle", () => { if (part.open) only(part); });
// Paper shows all but lists that cells lead to. Afterwards what was folded is folded again.
let opened = [];
if (!folds) addEventListener("beforeprint", () => {
  for (const part of parts) part.hidden = false;
  opened = [...document.querySelectorAll("details:not([open]):not(:has(tr[id]))")];
  for (const each of opened) each.open = true;
});
if (!folds) addEventListener("afterprint", () => { for (const each of opened) each.open = false; show(); });

// Copies of tables as LaTeX, of figures as SVG and PNG.
const latexSigns = {
  "\\": "\\textbackslash{}", "&": "\\&", "%": "\\%", "$": "\\$", "#": "\\#", "_": "\\_", "{": "\\{", "}": "\\}", "~": "\\textasciitilde{}",
  "^": "\\textasciicircum{}", "<": "\\textless{}", ">": "\\textgreater{}", "|": "\\textbar{}", "–": "--", "−": "$-$", "×": "$\\times$",
  "≤": "$\\leq$", "≥": "$\\geq$", "‖": "$\\parallel$", "†": "\\textdagger{}", "‡": "\\textdaggerdbl{}", "¶": "\\textparagraph{}",
  "§": "\\textsection{}", "°": "\\textdegree{}", "…": "\\ldots{}",
};
// Behind the end of a row a bracket or a star would be an argument of it.
const latexText = (text) => text.trim().replace(/[\\&%$#_{}~^<>|–−×≤≥‖†‡¶§°…]/g, (sign) => latexSigns[sign]).replace(/^[[*]/, "{$&}");

function latex(table) {
  const heads = [...table.tHead.rows[0].cells];
  const line = (cells) => `${[...cells].map((cell) => latexText(cell.textContent)).join(" & ")} \\\\`;
  const kinds = heads.map((head) => (head.classList.contains("text") ? "l" : "r")).join("");
  const rows = [...table.tBodies[0].rows].map((row) => line(row.cells));
  return ["% \\usepackage{booktabs}", `\\begin{tabular}{${kinds}}`, "\\toprule", line(heads), "\\midrule", ...rows, "\\bottomrule", "\\end{tabular}"].join("\n");
}

function standalone(svg) {
  const copy = svg.cloneNode(true);
  const from = [svg, ...svg.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((node, number) => {
    const style = getComputedStyle(from[number]);
    for (const name of ["fill", "stroke", "stroke-width", "stroke-dasharray", "fill-opacity", "text-anchor", "transform", "font-style", "font-family", "font-size", "font-weight", "opacity"]) node.style.setProperty(name, style.getPropertyValue(name));
  });
  const box = svg.getBoundingClientRect();
  copy.setAttribute("width", Math.ceil(box.width));
  copy.setAttribute("height", Math.ceil(box.height));
  copy.setAttribute("xmlns", svg.namespaceURI);
  // The page's own colour below it: texts of a dark page can't be read on white.
  const ground = document.createElementNS(svg.namespaceURI, "rect");
  for (const [name, value] of [["width", "100%"], ["height", "100%"], ["fill", getComputedStyle(document.body).backgroundColor]]) ground.setAttribute(name, value);
  copy.prepend(ground);
  return new XMLSerializer().serializeToString(copy);
}

function save(name, url) {
  const link = document.createElement("a");
  link.download = name;
  link.href = url;
  link.click();
}

function png(svg, name) {
  const text = standalone(svg), picture = new Image(), scale = 3;
  picture.onload = () => {
    const canvas = document.createElement("canvas");
    canvas.width = picture.width * scale;
    canvas.height = picture.height * scale;
    const context = canvas.getContext("2d");
    context.drawImage(picture, 0, 0, canvas.width, canvas.height);
    save(`${name}.png`, canvas.toDataURL("image/png"));
  };
  picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
}

function button(label, act) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = label;
  made.addEventListener("click", act);
  return made;
}

for (const place of document.querySelectorAll(".copy[data-table]")) {
  const copy = button("copy as LaTeX", async () => {
    await navigator.clipboard.writeText(latex(document.getElementById(place.dataset.table).querySelector("table")));
    copy.textContent = "copied";
    setTimeout(() => { copy.textContent = "copy as LaTeX"; }, 1500);
  });
  place.append(" ", copy);
}
for (const figure of document.querySelectorAll("figure")) {
  const svg = figure.querySelector("svg"), caption = figure.querySelector("figcaption");
  if (!svg || !caption) continue;
  const name = caption.querySelector("strong").textContent.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").toLowerCase();
  const line = document.createElement("span");
  line.className = "copy";
  line.append(button("SVG", () => save(`${name}.svg`, `data:image/svg+xml;charset=utf-8,${encodeURIComponent(standalone(svg))}`)), " ", button("PNG", () => png(svg, name)));
  caption.append(" ", line);
}
