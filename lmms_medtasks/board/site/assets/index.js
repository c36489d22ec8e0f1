"use strict";
// Sorts and filters the first page's table. What was chosen stands in the address, so that a link shows the same view.
// Without this script the whole table is there, and the filters are hidden.
(() => {
  const tables = [...document.querySelectorAll("table.board")];
  if (!tables.length) return;
  const filters = document.getElementById("filters");
  const status = document.getElementById("passing");
  const heads = [...tables[0].tHead.rows[0].cells];
  const rows = [...document.querySelectorAll("tr.mine, tr.printed")];
  const names = ["by", "up", "open", "verified", "published", "size", "name"];
  const state = new URLSearchParams();

  function keep() {
    const text = state.toString();
    history.replaceState(null, "", text ? "#" + text : location.pathname + location.search);
  }

  // data-v is larger for better; rows without a number stand last, whichever way. The ranks are those of the column.
  function sort(column, worstFirst) {
    const turned = worstFirst ? -1 : 1;
    const byName = heads[column].dataset.by === "model";
    const key = (row) => byName ? row.dataset.name : row.cells[column].dataset.v;
    const order = (a, b) => {
      const [one, other] = [key(a), key(b)];
      if (one === undefined || other === undefined) return (one === undefined) - (other === undefined);
      return turned * (byName ? (one < other ? -1 : one > other ? 1 : 0) : other - one);
    };
    for (const table of tables) {
      for (const body of table.tBodies) {
        if (!body.classList.contains("divider")) body.append(...[...body.rows].sort(order));
      }
    }
    const rising = (head) => byName || head.dataset.lower ? !worstFirst : worstFirst;
    heads.forEach((head, place) => {
      if (place === column) head.setAttribute("aria-sort", rising(head) ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
    });
    if (byName) return;
    for (const row of rows) if (row.classList.contains("mine")) row.cells[0].textContent = row.cells[column].querySelector(".rank .value")?.textContent ?? "";
    const ranked = document.getElementById("ranked-by");
    if (ranked) ranked.textContent = heads[column].querySelector(".head .room").textContent;
  }

  heads.forEach((head, column) => {
    if (!head.dataset.by) return;
    const button = document.createElement("button");
    button.type = "button";
    const inner = head.querySelector(".head");
    button.append(...(inner ? [inner] : head.childNodes));
    head.prepend(button);
    button.addEventListener("click", () => {
      const again = head.hasAttribute("aria-sort") && state.get("up") !== "1";
      state.set("by", head.dataset.by);
      if (again) state.set("up", "1"); else state.delete("up");
      sort(column, again);
      keep();
    });
  });

  function passes(row) {
    const published = row.classList.contains("printed");
    const size = row.dataset.size === undefined ? NaN : Number(row.dataset.size);
    const wanted = state.get("size");
    if (published && state.get("published") === "0") return false;
    if (state.get("open") === "1" && row.dataset.open !== "1") return false;
    if (state.get("verified") === "1" && row.dataset.verified !== "1") return false;
    if (wanted === "10" && !(size <= 10)) return false;
    if (wanted === "100" && !(size > 10 && size <= 100)) return false;
    if (wanted === "over" && !(size > 100)) return false;
    if (wanted === "unsaid" && !Number.isNaN(size)) return false;
    return (row.dataset.name ?? "").includes((state.get("name") ?? "").toLowerCase());
  }

  function filter() {
    let count = 0;
    for (const row of rows) {
      row.hidden = !passes(row);
      count += !row.hidden;
    }
    for (const divider of document.querySelectorAll("tbody.divider")) {
      divider.hidden = [...divider.nextElementSibling.rows].every((row) => row.hidden);
    }
    const more = document.getElementById("more");
    if (more) {
      const left = [...more.querySelectorAll("tr.printed")].filter((row) => !row.hidden).length;
      more.hidden = left === 0;
      // What a filter of models lets through must not lie in a fold.
      if (["open", "verified", "size", "name"].some((name) => state.get(name))) more.open = true;
      more.querySelector("[data-count]").textContent = left;
    }
    status.textContent = count === rows.length ? "" : count ? `${count} of ${rows.length} models` : "No model passes.";
  }

  const controls = [...filters.querySelectorAll("[data-filter]")];
  const usual = (control) => control.dataset.filter === "published";
  for (const control of controls) {
    const name = control.dataset.filter;
    const button = control.tagName === "BUTTON";
    control.addEventListener(button ? "click" : "input", () => {
      let value = control.value;
      if (button) {
        const on = control.getAttribute("aria-pressed") !== "true";
        control.setAttribute("aria-pressed", String(on));
        value = on === usual(control) ? "" : on ? "1" : "0";
      }
      if (value) state.set(name, value); else state.delete(name);
      filter();
      keep();
    });
  }

  // What the address says; an address of a part of the page says nothing.
  function read() {
    const given = new URLSearchParams(location.hash.slice(1));
    if (location.hash && !names.some((name) => given.has(name))) return;
    for (const name of names) if (given.get(name)) state.set(name, given.get(name)); else state.delete(name);
    for (const control of controls) {
      const value = state.get(control.dataset.filter);
      if (control.tagName === "BUTTON") control.setAttribute("aria-pressed", String(value ? value === "1" : usual(control)));
      else control.value = value ?? "";
    }
    const by = heads.findIndex((head) => head.dataset.by === state.get("by"));
    sort(by >= 0 ? by : 2, by >= 0 && state.get("up") === "1");
    filter();
  }

  addEventListener("hashchange", read);
  read();
  filters.hidden = false;
})();
