// Lays a page out at each width, in each look, with each font, and says what is wrong with it.
// PAGES: {look and font: page}; AXE: the source of axe-core, or nothing.
const WIDTHS = [360, 800, 1200];
// What a browser rounds, px.
const SLACK = 0.5;
const said = [];

const overlap = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > SLACK
  && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > SLACK;

// The room of the letters: ascent 0.8 em, descent 0.22 em.
function room(text, view) {
  const style = view.getComputedStyle(text);
  const size = parseFloat(style.fontSize);
  const [at, base] = [text.x.baseVal[0].value, text.y.baseVal[0].value];
  const wide = text.getComputedTextLength();
  const left = at - wide * { start: 0, middle: 0.5, end: 1 }[style.textAnchor];
  return { left, right: left + wide, top: base - 0.8 * size, bottom: base + 0.22 * size,
    words: text.textContent };
}

function drawing(svg, view, where) {
  const sheet = svg.viewBox.baseVal;
  const texts = [...svg.querySelectorAll("text")].filter((text) => text.getNumberOfChars() > 0);
  const rooms = texts.map((text) => room(text, view));
  for (const [at, one] of rooms.entries()) {
    if (one.left < -SLACK || one.right > sheet.width + SLACK || one.top < -SLACK
      || one.bottom > sheet.height + SLACK) said.push(`${where}: outside: '${one.words}' ${one.left} ${one.right} of ${sheet.width}`);
    for (const other of rooms.slice(at + 1)) {
      if (overlap(one, other)) said.push(`${where}: '${one.words}' on '${other.words}'`);
    }
  }
  return rooms.length;
}

async function audit(frame, where) {
  if (!AXE) return;
  frame.contentWindow.eval(AXE);
  const found = await frame.contentWindow.axe.run(frame.contentDocument, { iframes: false });
  for (const fault of found.violations) {
    said.push(`${where}: axe: ${fault.id}: ${fault.nodes[0].html.slice(0, 160)}`);
  }
}

async function look(name, page, width) {
  const frame = document.createElement("iframe");
  frame.width = width;
  frame.height = 900;
  const loaded = new Promise((done) => { frame.onload = done; });
  frame.srcdoc = page;
  document.body.append(frame);
  await loaded;
  const [view, inside] = [frame.contentWindow, frame.contentDocument];
  await inside.fonts.ready;
  for (const fold of inside.querySelectorAll("details")) fold.open = true;
  const where = `${name}, ${width} px`;
  let [drawings, texts] = [0, 0];
  for (const svg of inside.querySelectorAll("svg.fig")) {
    if (svg.getBoundingClientRect().width === 0) continue;
    const figure = svg.closest("figure");
    texts += drawing(svg, view, `${where}, ${figure ? figure.id : "spark"}`);
    drawings += 1;
  }
  const wide = inside.documentElement.scrollWidth;
  if (wide > width) said.push(`${where}: the page is ${wide} px wide`);
  const asked = view.performance.getEntriesByType("resource").length;
  if (asked > 0) said.push(`${where}: ${asked} requests`);
  if (width !== 800) await audit(frame, where);
  frame.remove();
  return `${where}: ${drawings} drawings, ${texts} texts`;
}

async function all() {
  const seen = [];
  for (const [name, page] of Object.entries(PAGES)) {
    for (const width of WIDTHS) seen.push(await look(name, page, width));
  }
  const out = document.createElement("pre");
  out.textContent = ["BEGIN", ...seen, "FAULTS", ...said, "END"].join("\n");
  document.body.append(out);
}
all().catch((why) => { document.body.append(`BEGIN\nFAULTS\n${why.stack || why}\nEND`); });
