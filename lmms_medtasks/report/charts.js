"use strict";
// What the mark nearest to the pointer, to a finger or by the arrow keys says, and all marks of one look of a legend:
// on a report's page and on every page of a leaderboard. Without this script marks have a browser's own tooltips.
(() => {
  const REACH = 16;  // pixels between the pointer and a mark that still is meant
  const ONE_PLACE = 3;  // pixels between marks that hide each other
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  tip.setAttribute("role", "status");
  document.body.append(tip);
  let near = null;

  function hide() {
    near?.classList.remove("near");
    near?.closest(".chart").classList.remove("sifted");
    near = null;
    tip.hidden = true;
  }

  // Shape and class: what a legend tells apart, whatever the size.
  const lookOf = (mark) => `${mark.localName} ${mark.getAttribute("class")} ${(mark.getAttribute("d") || "").replace(/[-\d. ]/g, "")}`;

  // `others`: marks that may lie at the same place, which no pointer can tell apart.
  function show(mark, others = []) {
    if (mark === near) return;
    hide();
    near = mark;
    mark.classList.add("near");
    const middle = (each) => { const box = each.getBoundingClientRect(); return [box.left + box.width / 2, box.top + box.height / 2]; };
    const [x, y] = middle(mark);
    const here = others.filter((each) => each !== mark && Math.hypot(middle(each)[0] - x, middle(each)[1] - y) < ONE_PLACE);
    tip.textContent = [mark, ...here].map((each) => each.dataset.said).join("\n");
    tip.hidden = false;
    const at = mark.getBoundingClientRect(), box = tip.getBoundingClientRect();
    const left = at.left + at.width / 2 - box.width / 2, above = at.top - box.height - 8;
    tip.style.left = `${Math.max(4, Math.min(left, document.documentElement.clientWidth - box.width - 4))}px`;
    tip.style.top = `${above < 4 ? at.bottom + 8 : above}px`;
  }

  function interactive(chart) {
    const marks = [];
    for (const title of chart.querySelectorAll("title")) {
      // The browser's own tooltip would stand beside ours.
      const mark = title.parentNode;
      mark.dataset.said = title.textContent;
      mark.closest("a")?.setAttribute("aria-label", title.textContent);
      title.remove();
      if (mark.localName !== "text" && mark.localName !== "line") marks.push(mark);  // a name, a diagonal: where they are hit
    }
    if (!chart.querySelector("[data-said]")) return;
    const looks = new Map(marks.map((mark) => [mark, lookOf(mark)]));
    const legend = [...chart.querySelectorAll(".entry")].map((entry) => [entry, lookOf(entry.querySelector("circle, path, line"))]);
    const told = new Set(legend.map(([, look]) => look).filter((look) => [...looks.values()].includes(look)));

    function sift(look) {
      chart.classList.toggle("sifted", told.size > 1 && told.has(look));
      for (const [mark, own] of looks) mark.classList.toggle("like", own === look);
    }

    function point(event) {
      const away = (box) => Math.hypot(Math.max(box.left - event.clientX, 0, event.clientX - box.right), Math.max(box.top - event.clientY, 0, event.clientY - box.bottom));
      const entry = legend.find(([each]) => away(each.getBoundingClientRect()) === 0);
      if (entry) {
        hide();
        sift(entry[1]);
        return;
      }
      let found = null, least = [REACH, Infinity];
      for (const mark of marks) {
        const box = mark.getBoundingClientRect();
        const far = [away(box), Math.hypot((box.left + box.right) / 2 - event.clientX, (box.top + box.bottom) / 2 - event.clientY)];
        if (box.width && (far[0] < least[0] || (far[0] === least[0] && far[1] < least[1]))) [found, least] = [mark, far];
      }
      found = found || event.target.closest("[data-said]");
      if (found) {
        show(found, marks.includes(found) ? marks : []);
        sift(looks.get(found));
      } else {
        hide();
        sift(null);
      }
    }

    const leave = () => { hide(); sift(null); };
    chart.addEventListener("pointermove", point);
    chart.addEventListener("pointerdown", point);
    chart.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") leave(); });
    chart.addEventListener("blur", leave);
    chart.tabIndex = 0;
    chart.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (event.key === "Escape") leave();
      if (!step) return;
      event.preventDefault();
      const shown = marks.filter((mark) => mark.getBoundingClientRect().width);
      const place = shown.indexOf(near);
      const next = shown[place < 0 ? (step > 0 ? 0 : shown.length - 1) : (place + step + shown.length) % shown.length];
      show(next);
      sift(looks.get(next));
    });
  }

  for (const chart of document.querySelectorAll("svg.chart")) interactive(chart);
  addEventListener("pointerdown", (event) => { if (!event.target.closest("svg.chart")) hide(); });
  addEventListener("scroll", hide, { passive: true });
})();
