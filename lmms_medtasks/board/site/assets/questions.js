"use strict";
// The question browser. The data are scripts beside the page that call medtasks.index and medtasks.shard; every text of
// them goes into the page as text.
const medtasks = (() => {
  const PAGE = 10;
  const get = (id) => document.getElementById(id);
  const browser = get("browser");
  const suite = browser.dataset.suite;
  let index = null, task = null, rows = [], first = 0, turn = 0;
  const shards = new Map();
  let waiting = null;

  function load(path) {
    return new Promise((done, failed) => {
      const script = document.createElement("script");
      script.src = path;
      script.onload = () => { script.remove(); done(); };
      script.onerror = () => { script.remove(); failed(new Error(`${path} can't be loaded.`)); };
      document.head.append(script);
    });
  }

  // One after the other: a shard does not say which task it is of.
  let queue = Promise.resolve();
  function shard(file, number) {
    const key = `${file}-${number}`;
    if (!shards.has(key)) {
      const found = queue.then(async () => {
        waiting = null;
        await load(`${suite}/${file}-${number}.js`);
        if (!waiting || waiting.number !== number) throw new Error(`${key} is not what was asked for.`);
        return waiting.questions;
      });
      queue = found.catch(() => shards.delete(key));
      shards.set(key, found);
    }
    return shards.get(key);
  }

  function options(select, texts, from = 0) {
    select.replaceChildren(...texts.map((text, place) => {
      const option = document.createElement("option");
      option.value = String(place + from);
      option.textContent = text;
      return option;
    }));
  }

  function choose() {
    task = index.tasks[Number(get("task").value)];
    const tags = Object.keys(task.tags);
    options(get("tag"), ["any", ...tags], -1);
    options(get("model"), ["any", ...task.entries.map((entry) => entry.name)], -1);
    get("tag").parentElement.hidden = !tags.length;
    values();
    get("withheld").textContent = task.withheld;
    get("withheld").hidden = !task.withheld;
  }

  function values() {
    const tag = Object.keys(task.tags)[Number(get("tag").value)];
    options(get("value"), ["any", ...(tag ? task.tags[tag].values : [])], -1);
    get("value").parentElement.hidden = !tag;
  }

  function verdict(kind, row) {
    const had = task.scores.map((scores) => scores[row]).filter((score) => score !== "-");
    if (!had.length) return false;
    if (kind === "none") return had.every((score) => score !== "9");
    if (kind === "all") return had.every((score) => score === "9");
    return had.some((score) => score !== had[0]);
  }

  const WAS = { right: (s) => s === "9", wrong: (s) => s === "0", between: (s) => s > "0" && s < "9", missing: (s) => s === "-" };

  function filter() {
    const words = get("words").value.toLowerCase().split(/\s+/).filter(Boolean);
    const tag = Object.keys(task.tags)[Number(get("tag").value)];
    const value = Number(get("value").value);
    const kind = get("verdict").value, model = Number(get("model").value), was = get("was").value;
    rows = [];
    task.ids.forEach((id, row) => {
      const text = `${id} ${task.heads[row]}`.toLowerCase();
      if (!words.every((word) => text.includes(word))) return;
      if (tag && value >= 0 && task.tags[tag].codes[row] !== value) return;
      if (kind && !verdict(kind, row)) return;
      if (was) {
        const of = model >= 0 ? [task.scores[model]] : task.scores;
        if (!of.some((scores) => WAS[was](scores[row]))) return;
      }
      rows.push(row);
    });
    first = 0;
    show();
  }

  function element(name, kind, text) {
    const made = document.createElement(name);
    if (kind) made.className = kind;
    if (text !== undefined) made.textContent = text;
    return made;
  }

  function answers(question, row) {
    const table = element("table");
    const head = table.createTHead().insertRow();
    for (const name of ["model", "score", "answer"]) {
      const cell = element("th", "", name);
      cell.scope = "col";
      head.append(cell);
    }
    const body = table.createTBody();
    task.entries.forEach((entry, place) => {
      const [score, replies] = question.answers[place];
      if (score === null && replies === null) return;
      const line = body.insertRow();
      line.append(element("td", "", entry.ranked ? entry.name : `${entry.name} (not ranked)`));
      const digit = task.scores[place][row];
      const kind = Object.keys(WAS).find((name) => WAS[name](digit));
      line.append(element("td", `score ${kind}`, score === null ? "–" : score));
      const cell = element("td");
      // Letters of many trials stand in a line.
      const short = replies !== null && replies.every((reply) => reply.length > 0 && reply.length <= 12);
      for (const reply of short ? [replies.join(", ")] : replies || []) {
        const said = element("p", "said", reply);
        said.dir = "auto";
        cell.append(said);
      }
      if (replies === null) cell.textContent = "–";
      line.append(cell);
    });
    return table;
  }

  function item(question, row) {
    const made = element("li", "question");
    made.append(element("h3", "", question.id));
    if (question.images) {
      made.classList.add("pictured");
      const pictures = element("div", "pictures");
      question.images.forEach((path, place) => {
        const image = element("img");
        image.src = `../${path}`;
        image.loading = "lazy";
        image.alt = `Picture ${place + 1} of the question, as the data has it`;
        pictures.append(image);
      });
      const severity = task.tags.severity;
      if (severity && Number(severity.values[severity.codes[row]]) > 0) {
        pictures.append(element("p", "tags", "Before its degradation: the model saw it as the tags say."));
      }
      made.append(pictures);
    }
    const texts = element("div");
    if (question.prompt !== undefined) {
      const said = element("p", "said", question.prompt);
      said.dir = "auto";
      texts.append(said);
      texts.append(element("p", "tags", `Right answer: ${question.expected}`));
    }
    const tags = Object.entries(task.tags).map(([name, tag]) => `${name}: ${tag.values[tag.codes[row]]}`);
    texts.append(element("p", "tags", tags.join("; ")));
    const scroll = element("div", "answers");
    scroll.append(answers(question, row));
    texts.append(scroll);
    made.append(texts);
    return made;
  }

  async function show() {
    const mine = ++turn;
    const shown = rows.slice(first, first + PAGE);
    get("found").textContent = `${rows.length} of ${task.ids.length} questions`;
    get("place").textContent = shown.length ? `${first + 1} to ${first + shown.length}` : "none";
    get("previous").disabled = first === 0;
    get("next").disabled = first + PAGE >= rows.length;
    try {
      const parts = await Promise.all(shown.map((row) => shard(task.file, Math.floor(row / index.shard))));
      if (mine !== turn) return;
      get("list").replaceChildren(...shown.map((row, place) => item(parts[place][row % index.shard], row)));
    } catch (error) {
      if (mine === turn) get("list").replaceChildren(element("li", "flag warning", error.message));
    }
  }

  function turnTo(place) {
    first = place;
    show();
    get("browser").scrollIntoView();
  }

  get("filters").addEventListener("submit", (event) => event.preventDefault());
  get("task").addEventListener("change", () => { choose(); filter(); });
  get("tag").addEventListener("change", () => { values(); filter(); });
  get("words").addEventListener("input", filter);
  for (const id of ["value", "verdict", "model", "was"]) get(id).addEventListener("change", filter);
  get("previous").addEventListener("click", () => turnTo(Math.max(0, first - PAGE)));
  get("next").addEventListener("click", () => turnTo(first + PAGE));

  load(`${suite}/index.js`).then(() => {
    options(get("task"), index.tasks.map((each) => each.task));
    browser.hidden = false;
    choose();
    filter();
  }, (error) => browser.before(element("p", "flag warning", error.message)));

  return {
    index: (found) => { index = found; },
    shard: (number, questions) => { waiting = { number, questions }; },
  };
})();
