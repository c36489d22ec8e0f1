"use strict";
// One part of a report is shown at a time; without this script all of them are, one below the other.
const parts = [...document.querySelectorAll(".part")];
const tree = [...document.querySelectorAll(".tree [data-part]")];

function addressed() {
  try {
    return location.hash.length > 1 ? document.getElementById(decodeURIComponent(location.hash.slice(1))) : null;
  } catch {
    return null;  // an address that was cut off within a letter
  }
}

function only(chosen) {
  for (const part of parts) part.hidden = part !== chosen;
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
  const shown = document.body.classList.contains("one") ? parts.find((part) => !part.hidden) : null;
  document.body.classList.add("one");
  only(inside || (target && target.matches(".suite") && first) || shown || parts[0]);
  for (let fold = target; fold; fold = fold.parentElement) if (fold.tagName === "DETAILS") fold.open = true;
  if (target && (inside || first || target.closest("#appendix"))) target.scrollIntoView();
}
addEventListener("hashchange", show);
show();
// Paper shows all. Afterwards what was folded is folded again.
let opened = [];
addEventListener("beforeprint", () => {
  for (const part of parts) part.hidden = false;
  opened = [...document.querySelectorAll("details:not([open])")];
  for (const each of opened) each.open = true;
});
addEventListener("afterprint", () => { for (const each of opened) each.open = false; show(); });
