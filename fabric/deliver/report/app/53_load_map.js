// Load map: every link one cell of a canvas. A hot plane is a row, a hot pod a column, a dead switch a dark line.

const LOAD_MAP = { name: "load", title: "Load map", shows: "load of every link", offered: () => true, draw: drawLoadMap };
const LABELS = 132; // pixels left of the cells

function drawLoadMap(page) {
  const map = new LoadMap(page);
  return [
    html(
      "p",
      { class: "note", id: "map-help" },
      "Every cell is a link. Point at one, or focus the map and use the arrow keys; Enter chooses. ",
      hotSpots(page),
    ),
    map.node,
    map.status,
    busiestLinks(page),
  ];
}

/** The bands of a fabric placed below each other in a room, and the size of it all; made once for a width. */
function laidBands(fabric, width) {
  if (fabric.laid?.room === width) return fabric.laid;
  const bands = bandsOf(fabric, width - LABELS);
  const many = fabric.podList.length > 1,
    least = 1.5,
    blockGap = 3;
  const needed = many ? Math.max(...bands.map((band) => band.columns.cells * (least + (band.columns.sub > 1 ? 1 : 0)))) : 0;
  // The same for all bands, so that pods line up.
  const room = Math.max(width - LABELS - 2, needed + fabric.podList.length * blockGap);
  let y = 0;
  for (const band of bands) {
    const named = band.columns.items.some((item) => item.label) || band.columns.items[0].block !== "";
    band.titleAt = y + 14;
    band.lines = folded(band.title, width - LABELS - 4, 12, true);
    y += (named ? 40 : 24) + 15 * (band.lines.length - 1);
    band.columns.lay(LABELS, { room, least, most: many ? Infinity : 90, blockGap, between: band.columns.sub > 1 ? 2 : 0 });
    band.rows.lay(y, { size: rowHeight(band, many), between: band.rows.sub > 1 || !many ? 1 : 0, blockGap: 5 });
    y = band.rows.end + 18;
  }
  fabric.laid = {
    room: width,
    bands,
    height: y,
    width: Math.max(width, ...bands.map((band) => Math.ceil(band.columns.end) + 2)),
  };
  return fabric.laid;
}

class LoadMap {
  constructor(page) {
    this.page = page;
    Object.assign(this, laidBands(page.fabric, page.width));
    this.chosen = page.device >= 0 ? new Set(page.fabric.linksOf(page.device)) : null;
    this.canvas = html("canvas", {
      tabindex: "0",
      role: "application",
      "aria-roledescription": "load map",
      "aria-describedby": "map-help",
      "data-key": "map",
      "aria-label": `Load map of ${counted(page.fabric.between.length, "link")}, in words in the table below`,
      onmousemove: (event) => this.point(event),
      onmouseleave: () => this.show(page.link),
      onclick: (event) => this.choose(this.linkAt(event)),
      onkeydown: (event) => this.key(event),
    });
    this.marker = html("div", { class: "marker", hidden: true });
    this.status = html("p", { class: "status", "aria-live": "polite" });
    const label = "Load map";
    this.node = html(
      "div",
      { class: "map" },
      scrolling(label, this.width, page.width, html("div", { class: "map-inner" }, this.canvas, this.marker)),
    );
    this.paint();
    this.show(page.link);
  }

  paint() {
    const scale = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(this.width * scale);
    this.canvas.height = Math.round(this.height * scale);
    this.canvas.style.width = `${this.width}px`;
    this.canvas.style.height = `${this.height}px`;
    const context = this.canvas.getContext("2d", { willReadFrequently: true });
    context.scale(scale, scale);
    const colours = getComputedStyle(document.documentElement);
    for (const band of this.bands) {
      this.paintCells(context, band, colours);
      this.paintLabels(context, band, colours);
    }
  }

  /** Class by class, so that the colour changes ten times and not once a link; what is not chosen is pale. */
  paintCells(context, band, colours) {
    const { loads } = this.page,
      { rows, columns, cells } = band;
    const byClass = LOAD_CLASSES.map(() => []);
    cells.forEach((link, at) => link >= 0 && byClass[loads.class[link]].push(at));
    const gap = columns.size >= 6 ? 0.5 : 0;
    byClass.forEach((places, at) => {
      context.fillStyle = colours.getPropertyValue(LOAD_CLASSES[at].colour).trim();
      for (const place of places) {
        if (this.chosen) context.globalAlpha = this.chosen.has(cells[place]) ? 1 : 0.22;
        const row = Math.floor(place / columns.cells),
          x = columns.start[place % columns.cells];
        context.fillRect(x, rows.start[row], columns.size - gap, rows.size - (rows.size >= 6 ? 0.5 : 0));
      }
    });
    context.globalAlpha = 1;
  }

  paintLabels(context, band, colours) {
    const ink = colours.getPropertyValue("--ink").trim(),
      soft = colours.getPropertyValue("--soft").trim();
    const write = (text, x, y, align, colour, font) => {
      Object.assign(context, { textAlign: align, textBaseline: "middle", fillStyle: colour, font: `${font} ${FONT}` });
      context.fillText(text, x, y);
    };
    band.lines.forEach((line, at) => write(line, LABELS, band.titleAt - 4 + 15 * at, "left", ink, "600 12px"));
    const top = band.rows.start[0] - 8;
    for (const { text, middle } of axisLabels(this.page.fabric, band.columns))
      write(text, middle, top, "center", soft, "11px");
    for (const [first, last, block] of band.rows.blocks()) {
      const begin = band.rows.itemStart(first),
        end = band.rows.itemEnd(last);
      if (typeof block !== "string" || !block) continue;
      if (band.rows.items[first].label) write(block, 4, (begin + band.rows.itemEnd(first)) / 2, "left", soft, "11px");
      else write(block, LABELS - 6, (begin + end) / 2, "right", soft, "11px");
    }
    const room = LABELS - 8 - (band.rows.items.some((item) => typeof item.block === "string" && item.block) ? 48 : 0);
    const devices = band.rows.items.map((item) => item.device);
    const fitting = devices.every((device) => device >= 0) ? labelsThatFit(this.page.fabric, devices, room) : null;
    let free = -Infinity; // labels stand at least 12 pixels apart
    band.rows.items.forEach((item, at) => {
      const middle = (band.rows.itemStart(at) + band.rows.itemEnd(at)) / 2;
      if (!item.label || middle < free) return;
      write(endThatFits(fitting ? fitting[at] : item.label, room, 11), LABELS - 6, middle, "right", soft, "11px");
      free = middle + 12;
    });
  }

  linkAt(event) {
    const box = this.canvas.getBoundingClientRect();
    const x = event.clientX - box.left,
      y = event.clientY - box.top;
    for (const band of this.bands) {
      const row = band.rows.find(y),
        column = band.columns.find(x);
      if (row >= 0 && column >= 0) return band.at(row, column);
    }
    return -1;
  }

  point(event) {
    const link = this.linkAt(event);
    this.show(link >= 0 ? link : this.page.link);
  }

  choose(link) {
    if (link >= 0) this.page.state.set({ link: String(link), device: "" });
  }

  /** Says a link in words and marks its cell. */
  show(link) {
    this.at = this.placeOf(link);
    this.marker.hidden = !this.at;
    this.status.textContent = this.at ? this.page.fabric.linkWords(link, this.page.loads) : "No link chosen.";
    this.canvas.title = this.at ? this.status.textContent : "";
    if (!this.at) return;
    const { rows, columns } = this.at.band;
    this.marker.style.left = `${columns.start[this.at.column] - 2}px`;
    this.marker.style.top = `${rows.start[this.at.row] - 2}px`;
    this.marker.style.width = `${columns.size + 4}px`;
    this.marker.style.height = `${rows.size + 4}px`;
  }

  placeOf(link) {
    if (link < 0) return null;
    for (const band of this.bands) {
      const place = band.cells.indexOf(link);
      if (place >= 0) return { band, row: Math.floor(place / band.columns.cells), column: place % band.columns.cells };
    }
    return null;
  }

  key(event) {
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (event.key === "Enter" && this.at) this.choose(this.at.band.at(this.at.row, this.at.column));
    if (!step) return;
    event.preventDefault();
    const link = this.at ? this.next(...step) : this.bands[0].cells.find((cell) => cell >= 0);
    if (link !== undefined) this.show(link);
    this.marker.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  /** The next link in a direction, over gaps and into the band above or below. */
  next(down, right) {
    let { band, row, column } = this.at;
    for (;;) {
      row += down;
      column += right;
      if (column < 0 || column >= band.columns.cells) return undefined;
      if (row < 0 || row >= band.rows.cells) {
        const other = this.bands[this.bands.indexOf(band) + down];
        if (!other) return undefined;
        column = Math.min(other.columns.cells - 1, Math.floor((column / band.columns.cells) * other.columns.cells));
        [band, row] = [other, down > 0 ? 0 : other.rows.cells - 1];
      }
      if (band.at(row, column) >= 0) return band.at(row, column);
    }
  }
}

function rowHeight(band, many) {
  const { items, sub } = band.rows;
  if (many) return Math.max(2, Math.min(14, 300 / items.length) / sub);
  return Math.max(3, Math.min(22, Math.max(9, 640 / items.length)) / sub);
}

/** Labels over columns: of blocks where there are several, else of items as far as they stand apart. */
function axisLabels(fabric, axis) {
  const blocks = axis.blocks();
  const span = ([first, last, text]) => ({ text, middle: (axis.itemStart(first) + axis.itemEnd(last)) / 2 });
  if (blocks.length > 1 || blocks[0][2]) return apart(blocks.map(span));
  const devices = axis.items.filter((item) => item.label).map((item) => item.device);
  if (!devices.length) return [];
  const fitting = labelsThatFit(fabric, devices, axis.itemEnd(0) - axis.itemStart(0) - 4);
  return apart(devices.map((device, at) => span([at, at, fitting ? fitting[at] : String(fabric.devices.number[device])])));
}

/** Leaves out labels that would touch the one before. */
function apart(labels) {
  let free = -Infinity;
  return labels.filter(({ text, middle }) => {
    const half = textWidth(text, 11) / 2;
    if (middle - half < free) return false;
    free = middle + half + 5;
    return true;
  });
}

/** Where the load lies, in a sentence. */
function hotSpots({ fabric, loads }) {
  const all = loads.summary(fabric.between);
  const named = [
    ...fabric.groups.map((group) => [group.name, loads.summary(group.links)]),
    ...(fabric.podList.length > 1 ? fabric.podList.map((pod) => [pod.name, loads.summary(pod.trunks)]) : []),
    ...(fabric.groups.length
      ? []
      : fabric.withRole(SPINE).map((spine) => [fabric.devices.name[spine], loads.summary(fabric.linksOf(spine))])),
  ].filter(([, found]) => found.live);
  const hottest = named.reduce((best, each) => (best && best[1].mean >= each[1].mean ? best : each), null);
  const summary = `All ${counted(all.links, "link")}: ${loadWords(all)}.`;
  if (all.live && all.worst < LOAD_CLASSES[0].below)
    return `${summary} This traffic stays below the leaves: all servers that talk to each other share one. Choose another load.`;
  return hottest && hottest[1].mean > all.mean * 1.1
    ? `${summary} Hottest by mean: ${hottest[0]} with ${percent(hottest[1].mean)}.`
    : summary;
}

/** The map in words: the dead and the busiest links. */
function busiestLinks({ fabric, loads, state }) {
  const { up, down } = loads.scenario;
  const rows = busiest(fabric.between, loads, 12).map((link) =>
    html(
      "tr",
      {},
      html("td", {}, deviceLink(state, fabric, fabric.links.a[link]), ` ${fabric.strings[fabric.links.aport[link]]}`),
      html("td", {}, deviceLink(state, fabric, fabric.links.b[link]), ` ${fabric.strings[fabric.links.bport[link]]}`),
      html("td", { class: "number" }, percent(up[link])),
      html("td", { class: "number" }, percent(down[link])),
    ),
  );
  const dead = loads.scenario.dead.length;
  return html(
    "details",
    { class: "words" },
    html("summary", {}, "Busiest links"),
    html("p", { class: "note" }, dead ? `${counted(dead, "link")} dead: ${deadWords(fabric, loads)}.` : "No link is dead."),
    html(
      "table",
      { class: "plain" },
      headOf(["lower end", "upper end", "load up", "load down"]),
      html("tbody", {}, rows),
    ),
  );
}

/** The links with the highest loads, the busiest first. */
function busiest(links, loads, most) {
  const found = [];
  for (const link of links) {
    if (found.length === most && loads.of[link] <= loads.of[found[most - 1]]) continue;
    let at = found.length;
    while (at && loads.of[found[at - 1]] < loads.of[link]) at -= 1;
    found.splice(at, 0, link);
    found.length = Math.min(found.length, most);
  }
  return found;
}

function deadWords(fabric, loads) {
  const devices = loads.scenario.dead_devices.map((device) => fabric.devices.name[device]);
  return devices.length
    ? `of ${devices.slice(0, 6).join(", ")}${devices.length > 6 ? ` and ${devices.length - 6} more` : ""}`
    : "single cables";
}
