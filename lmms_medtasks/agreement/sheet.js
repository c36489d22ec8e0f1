"use strict";
(() => {
  const formula = /^[=+\-@\t\r\n'＝＋－＠]/;
  const place = "lmms-medtasks rating sheet " + document.body.dataset.sheet;
  const columns = JSON.parse(document.body.dataset.columns);
  const items = [...document.querySelectorAll("article")];
  const scales = [...document.querySelectorAll("fieldset")];
  const rater = document.getElementById("rater");
  const said = document.getElementById("said");

  const chosen = (scale) => scale.querySelector("input:checked");
  const isDone = (item) => [...item.querySelectorAll("fieldset")].every(chosen);

  const show = () => {
    for (const item of items) item.classList.toggle("done", isDone(item));
    const done = items.filter(isDone).length;
    document.getElementById("done").textContent = done;
    document.getElementById("bar").value = done;
  };

  const state = () => ({
    rater: rater.value,
    ratings: Object.fromEntries(scales.filter(chosen).map((scale) => [chosen(scale).name, chosen(scale).value])),
    comments: Object.fromEntries(items.map((item) => [item.id, item.querySelector("textarea").value])),
  });

  const save = () => {
    show();
    try {
      localStorage.setItem(place, JSON.stringify(state()));
    } catch {
      said.textContent = "This browser keeps nothing for this page: export before you close it.";
    }
  };

  const restore = () => {
    let kept = null;
    try {
      kept = JSON.parse(localStorage.getItem(place));
    } catch {
      said.textContent = "What was kept of an earlier visit can't be read.";
    }
    if (!kept) return;
    rater.value = kept.rater || "";
    for (const item of items) item.querySelector("textarea").value = (kept.comments || {})[item.id] || "";
    for (const input of document.querySelectorAll("fieldset input")) {
      input.checked = (kept.ratings || {})[input.name] === input.value;
    }
  };

  const cell = (text) => `"${(formula.test(text) ? "'" : "") + text.replaceAll('"', '""')}"`;

  const csv = () => {
    const rows = items.map((item) =>
      columns.map((column) => {
        if (column === "id") return item.id;
        if (column === "rater") return rater.value.trim();
        if (column === "comment") return item.querySelector("textarea").value;
        const scale = [...item.querySelectorAll("fieldset")].find((each) => each.dataset.dimension === column);
        return chosen(scale) ? chosen(scale).value : "";
      }));
    return "\ufeff" + [columns, ...rows].map((row) => row.map(cell).join(",") + "\r\n").join("");
  };

  const download = () => {
    const name = rater.value.trim().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "");
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([csv()], { type: "text/csv;charset=utf-8" }));
    link.download = `ratings${name ? "-" + name : ""}.csv`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    const open = items.filter((item) => !isDone(item)).length;
    said.textContent = `Exported ${link.download}: ` + (open ? `${open} answers are not rated in full.` : "all rated.");
  };

  const go = (scale) => {
    if (!scale) return;
    (chosen(scale) || scale.querySelector("input")).focus({ preventScroll: true });
    const item = scale.closest("article");
    const isFirst = item.querySelector("fieldset") === scale;
    (isFirst ? item : scale).scrollIntoView({ block: isFirst ? "start" : "nearest" });
  };

  const clear = (scale) => {
    const input = scale && chosen(scale);
    if (!input) return;
    input.checked = false;
    save();
  };

  const firstOpen = () => scales.find((scale) => !chosen(scale));
  const current = () => document.activeElement.closest("fieldset") || firstOpen() || scales[0];

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.matches("textarea, #rater")) return;
    if (event.key === "n") {
      event.preventDefault();
      go(firstOpen());
    } else if (event.key === "Delete" || event.key === "Backspace") {
      clear(document.activeElement.closest("fieldset"));
    } else if (/^[0-9]$/.test(event.key)) {
      const scale = current();
      const input = [...scale.querySelectorAll("input")].find((each) => each.dataset.key === event.key);
      if (!input) return;
      event.preventDefault();
      input.checked = true;
      save();
      go(scales[scales.indexOf(scale) + 1]);
    }
  });
  document.addEventListener("input", save);
  document.addEventListener("click", (event) => {
    if (!event.target.matches("fieldset button")) return;
    clear(event.target.closest("fieldset"));
  });
  document.getElementById("next").addEventListener("click", () => go(firstOpen()));
  document.getElementById("export").addEventListener("click", download);
  document.getElementById("forget").addEventListener("click", () => {
    if (!confirm("Forget all ratings and comments on this page?")) return;
    for (const input of document.querySelectorAll("fieldset input")) input.checked = false;
    for (const text of document.querySelectorAll("textarea")) text.value = "";
    save();
    said.textContent = "All ratings are forgotten.";
  });
  restore();
  show();
})();
