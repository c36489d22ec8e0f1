"use strict";
// Light or dark, and tables that can be sorted and filtered. All tables are in the page without this.
(() => {
  const root = document.documentElement;
  const remembered = (() => { try { return localStorage.getItem("medtasks-theme"); } catch { return null; } })();
  if (remembered === "dark" || remembered === "light") root.dataset.theme = remembered;

  function theme() {
    const button = document.getElementById("theme");
    const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    const name = () => {
      button.textContent = dark() ? "Light" : "Dark";
      button.setAttribute("aria-label", `Show the page ${dark() ? "light" : "dark"}`);
    };
    button.hidden = false;
    name();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", name);
    button.addEventListener("click", () => {
      root.dataset.theme = dark() ? "light" : "dark";
      try { localStorage.setItem("medtasks-theme", root.dataset.theme); } catch { /* a page without storage: until it is left */ }
      name();
    });
  }

  // "1,234.5 [1,200.0, 1,300.0]", "+3.1", "2 [1, 3]": the number before its interval; null where there is none.
  function number(text) {
    const found = /^[-+−]?[\d,]*\.?\d+/.exec(text.trim());
    return found ? Number(found[0].replace(/,/g, "").replace("−", "-")) : null;
  }

  function sort(table, column, descending) {
    const body = table.tBodies[0];
    const numeric = table.tHead.rows[0].cells[column].classList.contains("number");
    const keyed = [...body.rows].map((row, place) => {
      const text = row.cells[column].textContent.trim();
      const key = numeric ? number(text) : text === "–" || text === "" ? null : text.toLowerCase();
      return { row, key, place };
    });
    keyed.sort((a, b) => {
      if (a.key === null || b.key === null) return (a.key === null) - (b.key === null) || a.place - b.place;
      const order = numeric ? a.key - b.key : a.key < b.key ? -1 : a.key > b.key ? 1 : 0;
      return (descending ? -order : order) || a.place - b.place;
    });
    body.append(...keyed.map((each) => each.row));
  }

  function sortable(table) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const rank = head.textContent.startsWith("rank") || head.classList.contains("fewer");
        const before = head.getAttribute("aria-sort");
        const first = head.classList.contains("number") && !rank ? "descending" : "ascending";
        const now = !before ? first : before === "ascending" ? "descending" : "ascending";
        heads.forEach((each) => each.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", now);
        sort(table, column, now === "descending");
      });
    });
  }

  function filterable(table, scroll) {
    const rows = [...table.tBodies[0].rows];
    const kinds = new Set(rows.map((row) => row.classList.contains("reference") || row.classList.contains("average")));
    if (rows.length < 6) return;
    const box = document.createElement("div");
    box.className = "filter";
    const words = document.createElement("input");
    words.type = "search";
    words.placeholder = "words in a row";
    const said = document.createElement("span");
    said.setAttribute("role", "status");
    const label = document.createElement("label");
    label.append("Filter ", words);
    box.append(label);
    let published = null;
    if (kinds.size > 1) {
      published = document.createElement("input");
      published.type = "checkbox";
      published.checked = true;
      const shown = document.createElement("label");
      shown.append(published, " published rows");
      box.append(shown);
    }
    box.append(said);
    const apply = () => {
      const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
      let count = 0;
      for (const row of rows) {
        const text = row.textContent.toLowerCase();
        const printed = row.classList.contains("reference") || row.classList.contains("average");
        row.hidden = !wanted.every((word) => text.includes(word)) || (printed && published !== null && !published.checked);
        count += !row.hidden;
      }
      said.textContent = count === rows.length ? "" : `${count} of ${rows.length} rows`;
    };
    words.addEventListener("input", apply);
    if (published) published.addEventListener("change", apply);
    scroll.before(box);
  }

  document.addEventListener("DOMContentLoaded", () => {
    theme();
    for (const scroll of document.querySelectorAll(".scroll")) {
      const table = scroll.querySelector("table");
      if (!table || !table.tHead) continue;
      sortable(table);
      filterable(table, scroll);
    }
    for (const box of document.querySelectorAll(".sideways, .many")) {
      const said = document.createElement("p");
      said.className = "below";
      said.textContent = "This table scrolls sideways.";
      box.before(said);
      new ResizeObserver(() => { said.hidden = box.scrollWidth <= box.clientWidth + 1; }).observe(box);
    }
    // A link to a table inside a folded part opens it.
    const open = () => {
      let target = null;
      try { target = document.getElementById(decodeURIComponent(location.hash.slice(1))); } catch { return; }
      for (let each = target; each; each = each.parentElement) if (each.tagName === "DETAILS") each.open = true;
      if (target) target.scrollIntoView();
    };
    if (location.hash) open();
    addEventListener("hashchange", open);
  });
})();
