// Adds to an article what paper cannot: hover and arrow keys over the points of a figure, links to
// a point, sorting, downloads. Nothing here asks the network for anything, and without it the
// article lacks nothing. Marks the root element with data-ready at its end, data-fault if it broke.
(() => {
  "use strict";
  const root = document.documentElement;
  addEventListener("error", (event) => { root.dataset.fault = event.message; });
  addEventListener("securitypolicyviolation", (event) => {
    root.dataset.fault = `${event.violatedDirective} ${event.blockedURI}`;
  });
  const { words, csv } = JSON.parse(document.getElementById("page-data").textContent);

  /** An element with attributes and a text. */
  const make = (name, attributes, text) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    return element;
  };

  /** Hands a text or bytes to the person as a file. */
  const save = (blob, name) => {
    const link = make("a", { href: URL.createObjectURL(blob), download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };

  /** What lies packed in the page: gzip as base64. */
  const unpack = async (text, type) => {
    const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
    const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(plain, { headers: { "content-type": type } }).blob();
  };

  // Figures -------------------------------------------------------------------------------------

  const TITLES = ":scope > * > title";
  const middle = (marker) => {
    const box = marker.getBoundingClientRect();
    return [box.left + box.width / 2, box.top + box.height / 2];
  };
  const series = (marker) => (/\bs\d\b/.exec(marker.getAttribute("class") || "") || [""])[0];

  class Walk {
    constructor(figure) {
      this.figure = figure;
      this.at = -1;
      const name = figure.querySelector("svg > title").textContent.split(". ")[0];
      const label = words.points.replace("{}", name);
      this.bar = make("div", { class: "tools", role: "group", "aria-label": label });
      if (this.markers().length > 1) {
        this.button("‹", words.back, () => this.step(-1));
        this.button("›", words.on, () => this.step(1));
        this.said = make("output", { "aria-live": "polite" });
        this.bar.append(this.said);
        this.bar.addEventListener("keydown", (event) => this.key(event));
        figure.addEventListener("pointermove", (event) => this.hover(event));
        figure.addEventListener("pointerleave", () => { if (!this.held) this.show(-1); });
        figure.addEventListener("click", (event) => {
          const near = this.nearest(event);
          if (near >= 0) this.hold(near);
        });
      }
      if (window.DecompressionStream) {
        const load = async () => {
          const all = JSON.parse(await (await unpack(csv, "application/json")).text());
          save(new Blob([all[figure.id]], { type: "text/csv" }), `${figure.id}.csv`);
        };
        this.button(words.csv, `${words.csv}, ${name}`, load).classList.add("last");
      }
      figure.append(this.bar);
    }

    button(face, label, act) {
      const button = make("button", { type: "button", "aria-label": label, title: label }, face);
      button.addEventListener("click", (event) => { event.stopPropagation(); act(); });
      this.bar.append(button);
      return button;
    }

    /** The drawing that is seen: that of a page or that of a telephone. */
    drawing() {
      const all = [...this.figure.querySelectorAll("svg")];
      return all.find((svg) => svg.getBoundingClientRect().width > 0) || all[0];
    }

    markers() {
      const titles = this.drawing().querySelectorAll(TITLES);
      return [...titles].map((title) => title.parentElement);
    }

    /** What a pointer resting on a marker is told. The first drawing has the words of both;
     * markers without a title are single runs. */
    hint(at) {
      return this.figure.querySelector("svg").querySelectorAll(TITLES)[at].textContent;
    }

    step(by) {
      const count = this.markers().length;
      this.hold(this.at < 0 ? (by > 0 ? 0 : count - 1) : (this.at + by + count) % count);
    }

    /** The point of the next series that is nearest along the curve. */
    across(by) {
      const markers = this.markers();
      if (this.at < 0) return this.step(by);
      const names = [...new Set(markers.map(series))];
      const here = markers[this.at];
      const next = names[(names.indexOf(series(here)) + by + names.length) % names.length];
      const x = middle(here)[0];
      const rows = markers.map((marker, i) => [Math.abs(middle(marker)[0] - x), i, series(marker)])
        .filter((row) => row[2] === next).sort((a, b) => a[0] - b[0]);
      this.hold(rows[0][1]);
    }

    key(event) {
      const acts = {
        ArrowLeft: () => this.step(-1), ArrowRight: () => this.step(1),
        ArrowUp: () => this.across(-1), ArrowDown: () => this.across(1),
        Home: () => this.hold(0), End: () => this.hold(this.markers().length - 1),
        Escape: () => { this.held = false; this.show(-1); },
      };
      const act = acts[event.key];
      if (!act || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      act();
    }

    nearest(event) {
      let best = -1;
      let reach = 24 * 24;
      this.markers().forEach((marker, i) => {
        const [x, y] = middle(marker);
        const far = (x - event.clientX) ** 2 + (y - event.clientY) ** 2;
        if (far < reach) [best, reach] = [i, far];
      });
      return best;
    }

    hover(event) {
      const near = this.nearest(event);
      if (near >= 0 && near !== this.at) {
        this.held = false;
        this.show(near);
      }
    }

    /** Keeps a point in view and in the address, so that the address leads to it again. */
    hold(at) {
      this.held = true;
      this.show(at);
      try {
        history.replaceState(null, "", `#${this.figure.id}~${at + 1}`);
      } catch { /* A viewer that allows no address still shows the point. */ }
    }

    show(at) {
      this.figure.querySelectorAll(".ring").forEach((ring) => ring.remove());
      const marker = this.markers()[at];
      this.at = marker ? at : -1;
      this.said.textContent = marker ? this.hint(at) : "";
      if (!marker) return;
      const box = marker.getBBox();
      const ring = document.createElementNS(marker.namespaceURI, "circle");
      const round = { class: "ring", cx: box.x + box.width / 2, cy: box.y + box.height / 2, r: 9 };
      for (const [key, value] of Object.entries(round)) ring.setAttribute(key, value);
      marker.parentNode.append(ring);
    }
  }

  const walks = new Map();
  for (const figure of document.querySelectorAll("figure[id]")) {
    walks.set(figure.id, new Walk(figure));
  }

  /** Opens what is folded around the place that the address names, and shows its point. */
  const arrive = () => {
    let name = "";
    try {
      name = decodeURIComponent(location.hash.slice(1));
    } catch { return; }
    const [id, point] = name.split("~");
    const place = id && document.getElementById(id);
    if (!place) return;
    for (let at = place; at; at = at.parentElement) {
      if (at.tagName === "DETAILS") at.open = true;
    }
    const walk = walks.get(id);
    if (point && walk && walk.said && walk.markers()[point - 1]) {
      walk.held = true;
      walk.show(point - 1);
      place.scrollIntoView();
    }
  };
  addEventListener("hashchange", arrive);
  arrive();

  // Tables --------------------------------------------------------------------------------------

  const PREFIX = { n: 1e-9, "µ": 1e-6, m: 1e-3, k: 1e3, K: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15,
    Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40 };
  const NUMBER = /^[^\d+-]*([+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?)\s*((?:[KMGT]i|[nµmkKMGTP])(?=bit|B|op|packet|s\b|Hz|W\b|J\b))?/;

  /** A cell as a quantity in its base unit; NaN if it is words. */
  const quantity = (text) => {
    const found = NUMBER.exec(text.replace(/,/g, "").replace(/\u2212/g, "-"));
    return found ? Number(found[1]) * (PREFIX[found[2]] || 1) : NaN;
  };

  const sort = (table, column, way) => {
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => {
      const text = row.cells[column].textContent.trim();
      return { row, text, value: quantity(text) };
    });
    rows.sort((a, b) => {
      const [x, y] = [Number.isNaN(a.value), Number.isNaN(b.value)];
      if (x !== y) return x ? 1 : -1;
      return way * (x ? a.text.localeCompare(b.text) : a.value - b.value);
    });
    // In another order a heading no longer stands for the rows below it.
    table.querySelectorAll(".again").forEach((row) => row.classList.remove("again"));
    table.querySelectorAll(".unseen").forEach((word) => word.classList.remove("unseen"));
    body.append(...rows.map((row) => row.row));
  };

  for (const table of document.querySelectorAll(".wide > table")) {
    if (!table.tHead || !table.tBodies[0] || table.tBodies[0].rows.length < 3) continue;
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = make("button", { type: "button", class: "sort" });
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const up = head.getAttribute("aria-sort") !== "ascending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        sort(table, column, up ? 1 : -1);
      });
    });
  }

  // The records ---------------------------------------------------------------------------------

  const archive = document.getElementById("data");
  if (archive && window.DecompressionStream) {
    const bar = make("div", { class: "tools" });
    const button = make("button", { type: "button" }, words.bundle);
    const bundle = () => unpack(document.getElementById("bundle").textContent, "application/json");
    button.addEventListener("click", async () => save(await bundle(), "bundle.json"));
    bar.append(button);
    archive.append(bar);
  }
  // For whoever doubts it: how many things this page has asked for.
  root.dataset.requests = performance.getEntriesByType("resource").length;
  root.dataset.ready = "yes";
})();
