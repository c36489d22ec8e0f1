// What tools/frozen_pictures.py does in a page, and what it reads of it.
globalThis.frozen = (() => {
  const VARIES = /\b(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{10,64}\b/g;
  const settled = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))));
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  const round = (number) => Math.round(number * 10) / 10;
  const plain = (text) => text.replace(/\s+/g, " ").trim();

  function* texts(root) {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (node.data.trim() && !node.parentElement.closest("script, style, noscript, template, title, desc")) yield node;
    }
  }

  // Nothing moves, and no digest of this package's files is shown, which every change of the package moves.
  async function still() {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync("*, ::before, ::after { animation: none !important; transition: none !important; scroll-behavior: auto !important; }");
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
    const busy = document.getElementById("browser");
    for (let turn = 0; busy && !document.getElementById("place")?.textContent && turn < 300; turn += 1) {
      await new Promise((done) => setTimeout(done, 20));
    }
    await document.fonts.ready;
    for (const image of document.images) if (image.loading === "lazy") image.loading = "eager";
    await Promise.all([...document.images].map((image) => image.decode().catch(() => null)));
    for (const node of texts(document.body)) node.data = node.data.replace(VARIES, (found) => "0".repeat(found.length));
    return settled();
  }

  const parts = () => all(".part[id]").map((part) => part.id);
  const folded = () => !parts().length && all("details:not([open])").some((each) => visible(each) && !each.querySelector("tr[id]"));

  // Lists of questions that cells lead to stay folded.
  async function unfold(part) {
    if (part) location.hash = `#${part}`;
    await settled();
    const inside = part ? document.getElementById(part) : document;
    for (const each of all("details", inside)) if (!each.querySelector("tr[id]")) each.open = true;
    await settled();
    scrollTo(0, 0);
    return settled();
  }

  // How a box is cut to the left or right by what it stands in, and whether one can scroll to the rest.
  function cut(element, box) {
    let rest = "";
    for (let around = element; around && around !== document.documentElement; around = around.parentElement) {
      const style = getComputedStyle(around);
      if (style.overflowX === "visible" || style.display === "inline") continue;
      const edge = around.getBoundingClientRect();
      if (box.left >= edge.left - 1 && box.right <= edge.right + 1) continue;
      if (style.overflowX === "auto" || style.overflowX === "scroll") return rest || "scrolls";
      rest = style.textOverflow === "ellipsis" ? "ellipsis" : "cut";
      return rest;
    }
    const wide = document.documentElement.clientWidth;
    return box.right > wide + 1 || box.left < -1 ? "outside" : rest;
  }

  const shown = (box) => box.width > 0 && box.height > 0;
  const visible = (element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true });

  function placed(element, text, box) {
    const scale = element.getScreenCTM ? Math.hypot(element.getScreenCTM().a, element.getScreenCTM().b) : 1;
    return {
      text: plain(text), size: round(parseFloat(getComputedStyle(element).fontSize) * scale), cut: cut(element, box),
      x: round(box.left + scrollX), y: round(box.top + scrollY), w: round(box.width), h: round(box.height),
    };
  }

  function charts() {
    return all("svg").filter((svg) => !svg.parentElement.closest("svg") && visible(svg)).map((svg) => {
      const lines = all("text", svg).flatMap((text) => {
        const spans = all("tspan", text).filter((span) => span.hasAttribute("x") || span.hasAttribute("y"));
        return spans.length ? spans : [text];
      });
      const found = lines.filter((line) => line.textContent.trim() && visible(line)).map((line) => {
        // A span has no box of its own: that of its letters.
        const range = document.createRange();
        range.selectNodeContents(line);
        const box = line.localName === "text" ? line.getBoundingClientRect() : range.getBoundingClientRect();
        return shown(box) ? placed(line, line.textContent, box) : null;
      });
      const box = svg.getBoundingClientRect();
      const title = svg.getAttribute("aria-label") || svg.querySelector("title")?.textContent || "";
      return {
        title: plain(title), x: round(box.left + scrollX), y: round(box.top + scrollY), w: round(box.width), h: round(box.height),
        texts: found.filter(Boolean),
      };
    }).filter((chart) => chart.texts.length);
  }

  // Texts outside charts: those that are small, cut, or broken within a word.
  function words() {
    const found = [];
    for (const node of texts(document.body)) {
      const around = node.parentElement;
      if (around.closest("svg") || !visible(around)) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      const box = range.getBoundingClientRect();
      if (box.width <= 1 || box.height <= 1) continue;  // only for those who listen
      const own = placed(around, node.data.slice(0, 80), box);
      own.broken = [];
      if (range.getClientRects().length > 1) {
        for (const word of node.data.matchAll(/[\p{L}\p{N}]{2,}/gu)) {
          range.setStart(node, word.index);
          range.setEnd(node, word.index + word[0].length);
          const boxes = [...range.getClientRects()].filter(shown);
          if (boxes.length > 1 && Math.abs(boxes[0].top - boxes.at(-1).top) > 4) own.broken.push(word[0]);
        }
      }
      if (own.size < 12 || own.cut || own.broken.length) found.push(own);
    }
    return found;
  }

  function measured() {
    const page = document.documentElement;
    return { wide: page.scrollWidth, high: page.scrollHeight, charts: charts(), words: words() };
  }

  return { still, settled, parts, folded, unfold, measured };
})();
