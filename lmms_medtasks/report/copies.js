"use strict";
// Copies of tables as LaTeX, of charts as SVG and PNG: on a report's page and on every page of a leaderboard.
const latexSigns = {
  "\\": "\\textbackslash{}", "&": "\\&", "%": "\\%", "$": "\\$", "#": "\\#", "_": "\\_", "{": "\\{", "}": "\\}", "~": "\\textasciitilde{}",
  "^": "\\textasciicircum{}", "<": "\\textless{}", ">": "\\textgreater{}", "|": "\\textbar{}", "–": "--", "−": "$-$", "×": "$\\times$",
  "≤": "$\\leq$", "≥": "$\\geq$", "‖": "$\\parallel$", "†": "\\textdagger{}", "‡": "\\textdaggerdbl{}", "¶": "\\textparagraph{}",
  "◊": "$\\diamond$", "∂": "$\\partial$", "§": "\\textsection{}", "°": "\\textdegree{}", "…": "\\ldots{}",
  "▲": "$\\uparrow$", "▼": "$\\downarrow$",
};
// Behind the end of a row a bracket or a star would be an argument of it.
const latexText = (text) => text.trim().replace(/(^|[\s[(])-(?=[\d.])/g, "$1−")
  .replace(/[\\&%$#_{}~^<>|–−×≤≥‖†‡◊∂¶§°…▲▼]/g, (sign) => latexSigns[sign]).replace(/^[[*]/, "{$&}");

// What a cell says to the eye, once: neither the words for screen readers only, nor a line's shorter second form.
function cellText(cell) {
  const copy = cell.cloneNode(true);
  for (const each of copy.querySelectorAll(".unseen, .tight, .rank")) each.remove();
  // Below a model's name stands what it is, below a column's more of what it has.
  const isName = cell.scope === "row";
  for (const each of copy.querySelectorAll("small")) each.replaceChildren(isName ? ` (${each.textContent})` : ` ${each.textContent}`);
  for (const each of copy.querySelectorAll("i, .ci")) if (each.textContent) each.replaceChildren(` [${each.textContent}]`);
  return copy.textContent.replace(/\s+/g, " ");
}

// The rows that are shown, in their order: what a filter hides is not copied.
function latex(table) {
  const heads = [...table.tHead.rows[0].cells];
  const text = (cell) => (cell.colSpan > 1 ? `\\multicolumn{${cell.colSpan}}{l}{${latexText(cellText(cell))}}` : latexText(cellText(cell)));
  const line = (cells) => `${[...cells].map(text).join(" & ")} \\\\`;
  const first = [...table.tBodies[0].rows].find((row) => row.cells.length === heads.length) || table.tHead.rows[0];
  const kinds = [...first.cells].map((cell) => (["right", "end", "center"].includes(getComputedStyle(cell).textAlign) ? "r" : "l")).join("");
  const bodies = [...table.tBodies].map((body) => [...body.rows].filter((row) => !row.hidden).map((row) => line(row.cells)));
  const rows = bodies.filter((body) => body.length).flatMap((body) => ["\\midrule", ...body]);
  return ["% \\usepackage{booktabs}", `\\begin{tabular}{${kinds}}`, "\\toprule", line(heads), ...rows, "\\bottomrule", "\\end{tabular}"].join("\n");
}

function standalone(svg) {
  // Not what a pointer or a key has chosen just now.
  for (const node of [svg, ...svg.querySelectorAll("[class]")]) node.classList.remove("sifted", "near", "like");
  const copy = svg.cloneNode(true);
  const from = [svg, ...svg.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((node, number) => {
    const style = getComputedStyle(from[number]);
    for (const name of ["fill", "stroke", "stroke-width", "stroke-dasharray", "fill-opacity", "text-anchor", "transform", "font-style", "font-family", "font-size", "font-weight", "opacity", "display", "paint-order", "stroke-linecap", "stroke-linejoin", "dominant-baseline"]) node.style.setProperty(name, style.getPropertyValue(name));
  });
  for (const node of copy.querySelectorAll("[data-said]")) {
    const title = document.createElementNS(svg.namespaceURI, "title");
    title.textContent = node.dataset.said;
    node.prepend(title);
    delete node.dataset.said;
  }
  copy.removeAttribute("tabindex");
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
// A chart's name is its caption's, else that of the section it stands in.
function chartName(figure) {
  const said = figure.querySelector("figcaption strong") || figure.closest("details")?.querySelector("summary") || figure.closest("section")?.querySelector("h2, h3");
  return (said?.textContent || document.title).replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").toLowerCase().slice(0, 80);
}

for (const figure of document.querySelectorAll("figure")) {
  const svg = figure.querySelector("svg");
  if (!svg) continue;
  const name = chartName(figure);
  const line = document.createElement("span");
  line.className = "copy";
  line.append(button("SVG", () => save(`${name}.svg`, `data:image/svg+xml;charset=utf-8,${encodeURIComponent(standalone(svg))}`)), " ", button("PNG", () => png(svg, name)));
  (figure.querySelector("figcaption") || figure).append(" ", line);
}
