"use strict";
// The question browser. The data are scripts beside the page that call medtasks.index, .task, .scores and .shard; every
// text of them goes into the page as text. The address says what is shown:
//   questions/robust.html#robust_severe/ct-011-q1%2Fgaussian_noise%2FL2     one question, alone on the page
//   questions/robust.html?task=robust_severe&tag=modality:CT&model=observer a list
// task: the suite's first one where it is left out. text: words, all of which must stand in what is shown of a question.
// tag: NAME:VALUE, as often as wanted; no value: questions without the tag. verdict: none (no model is right), all, split
// (they differ). model: a model's name, or the name of its page without .html. was: what that model was, or any model.
// A list's filters may stand before a question's #: they are those of the list that one comes back to.
const medtasks = (() => {
  const PAGE = 10, SHOWN = 3, NO_ROW = -1;
  const KINDS = { right: "✓", wrong: "✗", between: "~", missing: "" };
  const WAS = { right: (s) => s === "9", wrong: (s) => s === "0", between: (s) => s > "0" && s < "9", missing: (s) => s === "-",
    lost: (s) => s >= "0" && s < "9" };
  const ANY = { right: 1, wrong: 2, lost: 6, between: 4, missing: 8 };
  const TOGETHER = { none: (any) => any & 6 && !(any & 1), all: (any) => any & 1 && !(any & 6), split: (any) => any & 16 };
  const get = (id) => document.getElementById(id);
  const browser = get("browser");
  const suite = browser.dataset.suite;
  const files = new Map();
  let index = null, task = null, rows = [], first = 0, turn = 0, filtering = 0, handed = null;
  let alone = NO_ROW, current = NO_ROW, unknown = [];

  function element(name, kind, text) {
    const made = document.createElement(name);
    if (kind) made.className = kind;
    if (text !== undefined) made.textContent = text;
    return made;
  }

  // Lines end behind a sign, where they must end.
  const breakable = (text) => text.split(/(?<=[/_.-])(?=[^/_.-])/).flatMap((part, place) => place ? [element("wbr"), part] : [part]);

  function script(path) {
    return new Promise((done, failed) => {
      const made = element("script");
      made.src = path;
      made.onload = () => { made.remove(); done(); };
      made.onerror = () => { made.remove(); failed(new Error(`${path} can't be loaded.`)); };
      document.head.append(made);
    });
  }

  // One after the other: a file does not say which task it is of.
  let queue = Promise.resolve();
  function load(path, kind, number) {
    if (!files.has(path)) {
      const found = queue.then(async () => {
        handed = null;
        await script(path);
        if (!handed || handed.kind !== kind || handed.number !== number) throw new Error(`${path} is not what was asked for.`);
        return handed.value;
      });
      queue = found.catch(() => files.delete(path));
      files.set(path, found);
    }
    return files.get(path);
  }

  const folder = () => `${suite}/${task.folder}`;
  async function question(row) {
    const number = Math.floor(row / task.size);
    const shard = await load(`${folder()}/${number}.js`, "shard", number);
    return { ...shard.questions[row - number * task.size], scores: shard.scores };
  }

  function options(select, pairs) {
    select.replaceChildren(...pairs.map(([value, text]) => {
      const option = element("option", "", text);
      option.value = value;
      return option;
    }));
  }

  async function choose(name) {
    const found = index.tasks.find((each) => each.task === name) || index.tasks[0];
    if (!task || task.task !== found.task) {
      const content = await load(`${suite}/${found.folder}/index.js`, "task", undefined);
      task = { ...found, ...content };
      options(get("model"), [["", "any"], ...task.entries.map((entry) => [entry.page, entry.name])]);
      const tags = Object.entries(task.tags);
      get("tags").replaceChildren(...tags.map(([tag, { words, codes }]) => {
        const label = element("label", "", `${tag.replaceAll("_", " ")} `), select = element("select");
        select.dataset.tag = tag;
        const used = new Set(codes);
        options(select, [["", "any"], ...words.map((said, code) => [String(code), said || "–"]).filter(([code]) => used.has(Number(code)))]);
        select.addEventListener("change", changed);
        label.append(select);
        return label;
      }));
      get("tagged").hidden = !tags.length;
      // Of one model nothing differs.
      const lone = index.single && task.entries.length < 2;
      get("model").parentElement.hidden = lone;
      get("verdict").parentElement.hidden = lone;
      get("withheld").textContent = task.withheld;
      get("withheld").hidden = !task.withheld;
      get("text").placeholder = task.withheld ? "id" : "id, text, option, reply";
    }
    get("task").value = task.task;
  }

  // --- The address --------------------------------------------------------------------------------------------------
  const encoded = (text) => encodeURIComponent(text).replaceAll("%3A", ":");
  const tagSelects = () => [...get("tags").querySelectorAll("select")];
  const fragment = (id) => `#${encodeURIComponent(task.task)}/${encodeURIComponent(id)}`;

  function query() {
    const chosen = [["task", task.task === index.tasks[0].task ? "" : task.task], ["text", get("text").value.trim()]];
    for (const select of tagSelects()) {
      if (select.value) chosen.push(["tag", `${select.dataset.tag}:${task.tags[select.dataset.tag].values[Number(select.value)]}`]);
    }
    for (const id of ["verdict", "model", "was"]) chosen.push([id, get(id).value]);
    const said = chosen.filter(([, value]) => value).map(([name, value]) => `${name}=${encoded(value)}`).join("&");
    return said ? `?${said}` : "";
  }

  function fill() {
    const asked = new URLSearchParams(location.search);
    unknown = [];
    get("text").value = asked.get("text") || "";
    for (const id of ["verdict", "was"]) {
      get(id).value = asked.get(id) || "";
      if (asked.get(id) && get(id).selectedIndex < 1) { get(id).value = ""; unknown.push(`${id}=${asked.get(id)}`); }
    }
    const model = asked.get("model") || "";
    const entry = task.entries.find((each) => each.page === model) || task.entries.find((each) => each.name === model);
    get("model").value = entry ? entry.page : "";
    if (model && !entry) unknown.push(`model=${model}`);
    for (const select of tagSelects()) select.value = "";
    for (const tag of asked.getAll("tag")) {
      const [name] = tag.split(":", 1), value = tag.slice(name.length + 1);
      const select = tagSelects().find((each) => each.dataset.tag === name);
      const code = select ? task.tags[name].values.indexOf(value) : -1;
      if (select) select.value = String(code);
      if (!select || select.selectedIndex < 1) { unknown.push(`tag=${tag}`); if (select) select.value = ""; }
    }
    if (asked.get("task") && asked.get("task") !== task.task && !location.hash) unknown.push(`task=${asked.get("task")}`);
    get("tagged").open = tagSelects().some((select) => select.value);
  }

  function decoded(text) {
    try { return decodeURIComponent(text); } catch { return text; }
  }

  // What the address says: a question alone, or the list.
  async function follow(moved = true) {
    const [, name, id] = /^#([^/]*)\/(.*)$/s.exec(location.hash) || [];
    await choose(name === undefined ? new URLSearchParams(location.search).get("task") : decoded(name));
    fill();
    await filter();
    alone = NO_ROW;
    if (id !== undefined) {
      alone = task.task === decoded(name) ? task.ids.indexOf(decoded(id)) : NO_ROW;
      if (alone === NO_ROW) unknown.push(location.hash.slice(1));
      else current = alone;
    }
    else if (rows.includes(current)) first = Math.floor(rows.indexOf(current) / PAGE) * PAGE;
    await show();
    if (moved && current !== NO_ROW) focus(current);
  }

  function remember() {
    // A browser may forbid it of a page that was opened as a file: then links work, and the address stays.
    try { history.replaceState(null, "", `${location.href.split(/[?#]/)[0]}${query()}`); } catch { /* the list is shown all the same */ }
  }

  // --- The list -----------------------------------------------------------------------------------------------------
  // False where something else was asked for while its files were loaded.
  async function filter() {
    const mine = ++filtering;
    const words = get("text").value.toLowerCase().split(/\s+/).filter(Boolean);
    const tags = tagSelects().filter((select) => select.value).map((select) => [task.tags[select.dataset.tag].codes, Number(select.value)]);
    const kind = get("verdict").value, was = get("was").value;
    const model = task.entries.findIndex((entry) => entry.page === get("model").value);
    const scores = was && model >= 0 ? await load(`${folder()}/model-${model}.js`, "scores", model) : "";
    const any = (row) => parseInt(task.any[row], 32);
    const fits = (row) => tags.every(([codes, code]) => codes[row] === code)
      && (!kind || TOGETHER[kind](any(row)))
      && (!was || (scores ? WAS[was](scores[row]) : any(row) & ANY[was]));
    let found = unknown.length ? [] : [...task.ids.keys()].filter(fits);
    if (words.length) found = await withWords(found, words, () => mine === filtering);
    if (mine !== filtering) return false;
    rows = found;
    return true;
  }

  // Of these rows those with all words: each file of questions is searched once it is loaded. Of one run a file holds all
  // questions without their pictures.
  async function withWords(asked, words, wanted) {
    get("found").textContent = "Searching …";
    const found = [], all = index.single ? await load(`${folder()}/all.js`, "shard", "all") : null;
    for (const [place, row] of asked.entries()) {
      if (!all && place % task.size === 0) get("found").textContent = `Searched: ${place.toLocaleString("en")} of ${asked.length.toLocaleString("en")} questions`;
      const text = searched(all ? all.questions[row] : await question(row));
      if (!wanted()) break;
      if (words.every((word) => text.includes(word))) found.push(row);
    }
    return found;
  }

  // Id, text, options, right answer and replies of a question in small letters. Replies of letters alone are no words.
  function searched(one) {
    const said = one.answers.flatMap(([, replies]) => Array.isArray(replies) ? replies.map(([text]) => text) : []);
    return [one.id, one.text, one.right, ...(one.options || []).flat(), ...said].join("\n").toLowerCase();
  }

  async function changed() {
    unknown = [];
    try {
      if (!await filter()) return;
    } catch (error) {
      get("list").replaceChildren(element("li", "flag warning", error.message));
      return;
    }
    first = 0;
    current = alone = NO_ROW;
    remember();
    await show();
  }

  function replies(found, right) {
    if (found === null) return [];
    return typeof found === "string" ? [...found].map((letter) => [letter, letter === right ? "✓" : "✗"]) : found;
  }

  function answers(one, places) {
    const table = element("table", "replies");
    table.append(element("caption", "", "Replies of the models"));
    const body = table.createTBody();
    for (const place of places) {
      const [score, said] = one.answers[one.who[place]];
      const [text, digit] = one.scores[score];
      const entry = task.entries[place];
      const line = body.insertRow();
      const head = element("th");
      head.append(...breakable(entry.ranked || index.single ? entry.name : `${entry.name} (not ranked)`));
      head.scope = "row";
      const cell = element("td"), kind = Object.keys(WAS).find((name) => WAS[name](digit));
      for (const [reply, mark] of replies(said, one.right)) {
        const shown = element("span", `reply ${{ "✓": "right", "✗": "wrong" }[mark] || "other"}${reply.length > 24 ? " long" : reply.length > 3 ? " words" : ""}`, `${reply}${mark}`);
        shown.dir = "auto";
        cell.append(shown, " ");
      }
      line.append(head, cell, element("td", `score ${kind}`, `${text} ${KINDS[kind]}`));
    }
    return table;
  }

  function item(one, row) {
    const made = element("li", "question");
    made.dataset.row = row;
    made.tabIndex = -1;
    const head = element("h2"), link = element("a");
    link.append(...breakable(one.id));
    link.href = fragment(one.id);
    head.append(link);
    made.append(head);
    if (one.pictures) {
      made.classList.add("pictured");
      const pictures = element("div", "pictures");
      for (const [path, label, alt, width, height] of one.pictures) {
        const figure = element("figure"), image = element("img");
        image.src = `../${path}`;
        Object.assign(image, { alt, width, height });
        figure.append(image);
        if (label) figure.append(element("figcaption", "", label));
        pictures.append(figure);
      }
      made.append(pictures);
    }
    const texts = element("div", "texts");
    if (one.text !== undefined) {
      const said = element("p", "asked", one.text);
      said.dir = "auto";
      texts.append(said);
    }
    if (one.options) {
      const list = element("ol", "options");
      for (const [letter, text] of one.options) {
        const right = letter === one.right, line = element("li", right ? "right" : ""), said = element("span", "", `${letter}. ${text}`);
        said.dir = "auto";
        line.append(said, right ? " (correct answer)" : "");
        list.append(line);
      }
      texts.append(list);
    } else if (one.right) {
      const said = element("p", "soft", "Correct answer: "), right = element("span", "", one.right);
      right.dir = "auto";
      said.append(right);
      texts.append(said);
    }
    const asked = task.entries.map((_, place) => place).filter((place) => one.who[place] >= 0);
    texts.append(answers(one, asked.slice(0, SHOWN)));
    if (asked.length > SHOWN) {
      const more = element("details");
      const count = asked.length - SHOWN;
      more.append(element("summary", "", `${count} more model${count > 1 ? "s" : ""}`), answers(one, asked.slice(SHOWN)));
      texts.append(more);
    }
    if (index.single && !asked.some((place) => replies(one.answers[one.who[place]][1], one.right).some(([text]) => text.trim()))) texts.append(element("p", "soft", "The log withholds the replies to this question, or has none."));
    if (one.note) texts.append(element("p", "soft", one.note));
    const tags = Object.entries(task.tags).map(([name, tag]) => [name, tag.words[tag.codes[row]]]).filter(([, value]) => value);
    if (tags.length) texts.append(element("p", "soft", tags.map(([name, value]) => `${name.replaceAll("_", " ")}: ${value}`).join("; ")));
    made.append(texts);
    return made;
  }

  async function show() {
    const mine = ++turn, one = alone !== NO_ROW;
    const shown = one ? [alone] : rows.slice(first, first + PAGE);
    get("filters").hidden = one;
    get("searched").hidden = one || task.withheld;
    get("alone").hidden = !one;
    const count = `${rows.length.toLocaleString("en")} of ${task.ids.length.toLocaleString("en")} questions`;
    get("found").textContent = one ? `${task.name}: one question` : unknown.length ? `Nothing here is called ${unknown.join(", ")}. ${count}` : count;
    const place = rows.indexOf(alone);
    get("place").textContent = one ? place < 0 ? "not in the list" : `${place + 1} of ${rows.length}`
      : shown.length ? `${first + 1} to ${first + shown.length}` : "none";
    get("previous").disabled = one ? place <= 0 : first === 0;
    get("next").disabled = one ? place < 0 || place + 1 >= rows.length : first + PAGE >= rows.length;
    if (!get("list").children.length && shown.length) get("list").append(element("li", "soft", "Loading…"));
    try {
      const found = await Promise.all(shown.map(question));
      if (mine === turn) get("list").replaceChildren(...found.map((each, place) => item(each, shown[place])));
    } catch (error) {
      if (mine === turn) get("list").replaceChildren(element("li", "flag warning", error.message));
    }
  }

  async function turnTo(place) {
    first = place;
    current = NO_ROW;
    await show();
    browser.scrollIntoView();
  }

  // --- Keys ---------------------------------------------------------------------------------------------------------
  function focus(row) {
    const found = get("list").querySelector(`[data-row="${row}"]`);
    if (!found) return;
    found.focus({ preventScroll: true });
    found.scrollIntoView({ block: "start" });
  }

  async function step(by) {
    const place = rows.indexOf(current);
    const next = place >= 0 ? place + by : alone !== NO_ROW ? rows.findIndex((row) => row > alone) - (by < 0 ? 1 : 0) : first + (by < 0 ? -1 : 0);
    if (next < 0 || next >= rows.length) return;
    current = rows[next];
    if (alone !== NO_ROW) {
      location.hash = fragment(task.ids[current]);
      return;
    }
    if (next < first || next >= first + PAGE) {
      first = Math.floor(next / PAGE) * PAGE;
      await show();
    }
    focus(current);
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || browser.hidden) return;
    if (event.target.closest?.("input, select, textarea, [contenteditable]")) return;
    if (event.key === "j") step(1);
    else if (event.key === "k") step(-1);
  });
  get("list").addEventListener("focusin", (event) => {
    const row = event.target.closest(".question")?.dataset.row;
    if (row !== undefined) current = Number(row);
  });

  get("filters").addEventListener("submit", (event) => event.preventDefault());
  get("task").addEventListener("change", async () => {
    await choose(get("task").value);
    get("tagged").open = false;
    await changed();
  });
  get("text").addEventListener("input", changed);
  for (const id of ["verdict", "model", "was"]) get(id).addEventListener("change", changed);
  get("previous").addEventListener("click", () => alone === NO_ROW ? turnTo(Math.max(0, first - PAGE)) : step(-1));
  get("next").addEventListener("click", () => alone === NO_ROW ? turnTo(first + PAGE) : step(1));
  const failed = (error) => browser.before(element("p", "flag warning", error.message));
  addEventListener("hashchange", () => follow().catch(failed));

  load(`${suite}/index.js`, "index", undefined).then(async (found) => {
    index = found;
    options(get("task"), index.tasks.map((each) => [each.task, each.name]));
    browser.hidden = false;
    await follow(false);
  }).catch(failed);

  const hand = (kind) => (value) => { handed = { kind, number: undefined, value }; };
  return {
    index: hand("index"),
    task: hand("task"),
    scores: (number, value) => { handed = { kind: "scores", number, value }; },
    shard: (number, value) => { handed = { kind: "shard", number, value }; },
  };
})();
