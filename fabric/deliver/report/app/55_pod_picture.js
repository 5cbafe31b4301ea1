// The picture of a pod: devices, the lines between them, brackets, stubs, the grid of servers.

class PodPicture {
  constructor(page, pod, shown) {
    Object.assign(this, { page, pod, shown, fabric: page.fabric, loads: page.loads, chosen: page.device });
    this.place = new Map(); // device → {x, top, end}: where lines meet its rectangle
  }

  draw(width) {
    const { leaves, spines, servers } = this.shown;
    const gutter = 8,
      room = width - 2 * gutter,
      count = (list) => Math.max(1, list.length);
    const peers = leaves.some((leaf) =>
      [...this.fabric.linksOf(leaf)].some((link) => this.fabric.links.kind[link] === LEAF_LEAF),
    );
    const upper = rowOf(count(spines), gutter, room, { least: LEAF_LEAST, most: 150, gap: 6 });
    const lower = rowOf(count(leaves), gutter, room, { least: LEAF_LEAST, most: 130, gap: peers ? 110 : 5 });
    const wide = Math.max(upper.end, lower.end) + gutter,
      picture_ = Math.max(width, wide);
    const center = (row) => (picture_ - (row.end - gutter)) / 2 - gutter;
    const stubs = this.fabric.groups.length > 0;
    const spinesTop = stubs ? 66 : 20,
      mesh = Math.max(120, Math.min(230, leaves.length * 14));
    const leavesTop = spines.length ? spinesTop + 34 + mesh : 20;
    this.row(spines, upper, center(upper), spinesTop);
    this.row(leaves, lower, center(lower), leavesTop);
    const grid = this.serverGrid(servers, gutter, leavesTop + 106, room);
    const attached = this.attachments(gutter, grid.end + 14);
    const label = `${this.pod.name}: spines above, leaves below, servers at the bottom`;
    return picture(
      label,
      picture_,
      attached.end + 6,
      width,
      ...this.lines(),
      ...this.peers(leavesTop),
      ...(stubs ? this.stubs(spines, upper, spinesTop) : []),
      ...this.switches(spines, upper, 0),
      ...this.switches(leaves, lower, 1),
      ...this.brackets(leaves, leavesTop + 46),
      ...grid.nodes,
      ...attached.nodes,
    );
  }

  row(devices, row, shift, top) {
    devices.forEach((device, at) => this.place.set(device, { x: row.middle(at) + shift, top, end: top + 34 }));
  }

  choose(device) {
    const again = this.chosen === device;
    this.page.state.set({
      device: again ? "" : this.fabric.devices.name[device],
      link: "",
      pod: this.fabric.podList.length > 1 ? String(this.pod.at + 1) : "",
    });
  }

  /** Leaves of the chosen server. */
  chosenLeaves() {
    const server =
      this.chosen >= 0 && this.fabric.devices.role[this.chosen] !== LEAF && this.fabric.devices.role[this.chosen] !== SPINE;
    return server
      ? new Set([...this.fabric.linksOf(this.chosen)].map((link) => this.fabric.other(link, this.chosen)))
      : new Set();
  }

  /** A line for every leaf and spine that are linked, coloured by the mean of their links. */
  lines() {
    const strong = new Inks("line"),
      pale = new Inks("line");
    const here = this.place.has(this.chosen) || this.serverPlace.has(this.chosen);
    for (const [pair, links] of this.pairs()) {
      const [leaf, spine] = pair.split(" ").map(Number),
        from = this.place.get(leaf),
        to = this.place.get(spine);
      const inks = !here || leaf === this.chosen || spine === this.chosen ? strong : pale;
      inks.line(this.loads.summary(links).class, from.x, from.top, to.x, to.end);
    }
    const alone = this.place.has(this.chosen);
    return [...pale.nodes("mesh pale"), ...strong.nodes(alone ? "mesh lit" : "mesh"), ...this.serverLines()];
  }

  pairs() {
    const found = new Map();
    for (const leaf of this.shown.leaves) {
      for (const link of this.fabric.linksOf(leaf)) {
        const spine = this.fabric.links.b[link];
        if (this.fabric.links.kind[link] !== LEAF_SPINE || !this.place.has(spine)) continue;
        const key = `${leaf} ${spine}`;
        if (!found.has(key)) found.set(key, []);
        found.get(key).push(link);
      }
    }
    return found;
  }

  /** Lines from the chosen server's cell to its leaves. */
  serverLines() {
    const here = this.serverPlace.get(this.chosen);
    if (!here) return [];
    const inks = new Inks("line");
    for (const link of this.fabric.linksOf(this.chosen)) {
      const leaf = this.place.get(this.fabric.other(link, this.chosen));
      if (leaf) inks.line(this.loads.class[link], here.x, here.y, leaf.x, leaf.end);
    }
    return inks.nodes("mesh lit");
  }

  /** Links between leaves of a collapsed pair. */
  peers(top) {
    const found = new Map();
    for (const leaf of this.shown.leaves) {
      for (const link of this.fabric.linksOf(leaf)) {
        if (this.fabric.links.kind[link] !== LEAF_LEAF || this.fabric.links.a[link] !== leaf) continue;
        const key = `${leaf} ${this.fabric.links.b[link]}`;
        if (!found.has(key)) found.set(key, []);
        found.get(key).push(link);
      }
    }
    return [...found]
      .filter(([pair]) => pair.split(" ").every((device) => this.place.has(Number(device))))
      .flatMap(([pair, links]) => {
        const [from, to] = pair.split(" ").map((device) => this.place.get(Number(device)));
        const summary = this.loads.summary(links),
          middle = (from.x + to.x) / 2,
          y = top + 17;
        return [
          svg("path", { class: `line${summary.class}`, "stroke-width": 5, d: `M${from.x} ${y}H${to.x}` }),
          middleText(middle, y - 8, `×${links.length}`, { class: "strong small backed" }),
        ];
      });
  }

  /** What leaves the pod: a stub over each spine with its core group and the number of links. */
  stubs(spines, row, top) {
    const forms = [(group) => group.name, (group) => group.short, (group) => `g${group.place + 1}`, () => ""];
    const label = forms.find((form) => this.fabric.groups.every((group) => textWidth(form(group), 11) <= row.width + 2));
    return spines.flatMap((spine) => {
      const up = [...this.fabric.linksOf(spine)].filter((link) => this.fabric.links.a[link] === spine);
      const group = this.fabric.groups[this.fabric.groupAt(spine)],
        found = this.loads.summary(up),
        { x } = this.place.get(spine);
      if (!up.length) return [];
      return [
        middleText(x, top - 52, label(group), { class: "soft small" }),
        middleText(x, top - 39, `×${up.length}`, { class: "soft small" }),
        svg("path", { class: `line${found.class}`, "stroke-width": 5, d: `M${x} ${top}V${top - 32}` }),
      ];
    });
  }

  switches(devices, row, rank) {
    const labels = labelsThatFit(this.fabric, devices, row.width - 4);
    return devices.map((device, at) => {
      const { x, top } = this.place.get(device),
        found = this.loads.summary(this.fabric.trunksOf(device));
      const dead = this.loads.deadDevice[device] === 1,
        badge = dead ? "dead" : badgeText(found);
      const figures = [dead ? badge : `${percent(found.mean)} ${badge}`.trim(), badge || percent(found.mean)].find(
        (text) => textWidth(text, 10, Boolean(badge)) <= row.width - 4,
      );
      const classes = [
        `box role-line-${ROLE_WORDS[this.fabric.devices.role[device]]}`,
        this.chosen === device && "chosen",
        this.chosenLeaves().has(device) && "touched",
        dead && "gone",
      ]
        .filter(Boolean)
        .join(" ");
      const label = `${this.fabric.words(device)}: ${dead ? "dead" : loadWords(found)}`;
      return choice(
        { key: `device-${device}`, row: rank, pressed: this.chosen === device, label, act: () => this.choose(device) },
        svg("rect", { x: x - row.width / 2, y: top, width: row.width, height: 34, rx: 4, class: classes }),
        svg("rect", {
          x: x - row.width / 2 + 3,
          y: rank ? top + 29 : top + 2,
          width: row.width - 6,
          height: 3,
          class: `fill${dead ? DEAD : found.class}`,
        }),
        labels && middleText(x, top + (rank ? 13 : 17), labels[at], { class: "strong small" }),
        figures && middleText(x, top + (rank ? 25 : 29), figures, { class: badge ? "bad tiny" : "soft tiny" }),
      );
    });
  }

  /** Brackets below the leaves: rails where leaves serve one, else units; within one rail its units. */
  brackets(leaves, y) {
    const { rail, unit, rack } = this.fabric.devices,
      kind = this.fabric.kind;
    const rails = new Set(leaves.map((leaf) => rail[leaf])).size;
    const name = (leaf) => {
      if (rail[leaf] >= 0 && rails > 1) return `rail ${rail[leaf] + 1}`;
      if (kind === "rack") return rack[leaf] ? this.fabric.strings[rack[leaf]] : "";
      return unit[leaf] >= 0 ? `unit ${unit[leaf] + 1}` : "";
    };
    const runs = [];
    for (const leaf of leaves) {
      const text = name(leaf),
        last = runs[runs.length - 1],
        { x } = this.place.get(leaf);
      if (last && last.text === text) Object.assign(last, { to: x, count: last.count + 1 });
      else runs.push({ text, from: x, to: x, count: 1 });
    }
    const half = leaves.length > 1 ? Math.min(50, (this.place.get(leaves[1]).x - this.place.get(leaves[0]).x) / 2 - 4) : 40;
    return runs
      .filter(({ text }) => text)
      .flatMap(({ text, from, to }) => {
        const room = to - from + 2 * half;
        const short = [text, text.replace(/^(rail|unit|rack) /, "")].find((form) => textWidth(form, 11) <= room + 4);
        return [
          svg("path", { class: "bracket", d: `M${from - half} ${y - 5}v5H${to + half}v-5` }),
          short && middleText((from + to) / 2, y + 14, short, { class: "soft small backed" }),
        ];
      });
  }

  /** Servers unit by unit, each a cell with its number, coloured by the mean load of its NICs. */
  serverGrid(servers, x, top, room) {
    const { devices } = this.fabric,
      many = servers.length > 1200;
    const high = many ? 12 : 22;
    const nodes = [
      words(x, top - 8, `${counted(servers.length, "server")} by the mean load of their NICs`, {
        class: "title backed",
      }),
    ];
    const units = groupsOf(servers, (server) => (this.fabric.kind === "rack" ? 0 : devices.unit[server]));
    const widest = Math.max(0, ...[...units.values()].map((members) => members.length));
    const { cell, across, beside } = cellsOf(units.size, widest, room, many ? 12 : 30);
    const block = Math.ceil(widest / across) * high + (units.size > 1 ? 20 : 8);
    this.serverPlace = new Map();
    [...units].forEach(([unit, members], at) => {
      const left = x + (at % beside) * (across * cell + 14),
        line = Math.floor(at / beside),
        up = top + line * block + (units.size > 1 ? 12 : 0);
      if (units.size > 1) nodes.push(words(left, up - 1, `unit ${unit + 1}`, { class: "soft small backed" }));
      members.forEach((server, place) => {
        const cellX = left + (place % across) * cell,
          down = Math.floor(place / across),
          cellY = up + 3 + down * high;
        this.serverPlace.set(server, { x: cellX + cell / 2, y: cellY });
        nodes.push(this.serverCell(server, cellX, cellY, cell - 3, high - 3, many, 2 + line * 64 + down));
      });
    });
    return { nodes, end: top + Math.ceil(units.size / beside) * block };
  }

  serverCell(server, x, y, width, height, many, row) {
    const found = this.loads.summary(this.fabric.linksOf(server)),
      number = String(this.fabric.devices.number[server]);
    const label = `${number}: ${this.fabric.words(server)}, ${loadWords(found)}`;
    return choice(
      { key: `device-${server}`, row, pressed: this.chosen === server, label, act: () => this.choose(server) },
      svg("rect", { x, y, width, height, rx: 2, class: this.chosen === server ? "box chosen" : "box" }),
      svg("rect", {
        x: x + 2,
        y: y + height - (many ? height - 2 : 4),
        width: width - 4,
        height: many ? height - 4 : 2.5,
        class: `fill${found.class}`,
      }),
      many ? null : middleText(x + width / 2, y + 12, number, { class: found.over || found.dead ? "bad tiny" : "soft tiny" }),
    );
  }

  attachments(x, top) {
    const attached = this.pod.attached,
      room = 150;
    if (!attached.length) return { nodes: [], end: top - 10 };
    const nodes = [words(x, top + 4, "Attachments", { class: "title" })];
    attached.forEach((device, at) => {
      const links = this.fabric.linksOf(device),
        left = x + at * (room + 8),
        found = this.loads.summary(links);
      nodes.push(
        choice(
          {
            key: `device-${device}`,
            row: 99,
            pressed: this.chosen === device,
            label: `${this.fabric.words(device)}: ${loadWords(found)}`,
            act: () => this.choose(device),
          },
          svg("rect", {
            x: left,
            y: top + 12,
            width: room,
            height: 34,
            rx: 4,
            class: this.chosen === device ? "box dashed chosen" : "box dashed",
          }),
          middleText(left + room / 2, top + 26, endThatFits(this.fabric.devices.name[device], room - 8, 11, true), {
            class: "strong small",
          }),
          middleText(left + room / 2, top + 39, speeds(links, this.fabric.links.speed), { class: "soft tiny" }),
        ),
      );
    });
    return { nodes, end: top + 50 };
  }
}

/** Cells of `count` units of at most `widest` servers: their width, how many in a row, how many units beside each other. */
function cellsOf(count, widest, room, least) {
  const most = Math.max(1, Math.floor(room / least)),
    across = Math.ceil(widest / Math.max(1, Math.ceil(widest / most))) || 1;
  const fitting = Math.max(1, Math.floor((room + 14) / (across * least + 14)));
  const beside = Math.ceil(count / Math.ceil(count / fitting)) || 1; // lines of the same length
  const cell = Math.max(least, Math.min(2.4 * least, ((room + 14) / beside - 14) / across)); // as wide as the room allows
  return { cell, across, beside };
}

/** Items by a key, in the order in which keys come. */
function groupsOf(items, keyOf) {
  const found = new Map();
  for (const item of items) {
    const key = keyOf(item);
    if (!found.has(key)) found.set(key, []);
    found.get(key).push(item);
  }
  return found;
}
