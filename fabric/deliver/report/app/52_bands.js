// The load map's cells: which link stands where. A band is a grid of rows and columns, each cell one link.

/** Rows or columns of a band: items of `sub` cells each; items of one block stand together. */
class Axis {
  constructor(items, sub = 1) {
    this.items = items; // [{label, block}]
    this.sub = sub;
    this.cells = items.length * sub;
  }

  /** Gives every cell a place from `from` on; cells are `size` pixels or share the room. */
  lay(from, { room = 0, size = 0, least = 1, most = Infinity, between = 0, blockGap = 0 }) {
    const gaps = this.items.map((item, at) => (at === 0 ? 0 : item.block === this.items[at - 1].block ? between : blockGap));
    const spare = room - gaps.reduce((sum, gap) => sum + gap, 0);
    this.size = size || Math.max(least, Math.min(most, spare / this.cells));
    this.start = new Float64Array(this.cells + 1);
    let place = from;
    this.items.forEach((_, at) => {
      place += gaps[at];
      for (let sub = 0; sub < this.sub; sub += 1, place += this.size) this.start[at * this.sub + sub] = place;
    });
    this.start[this.cells] = this.end = place;
  }

  /** Cell at a place; -1 in a gap or outside. */
  find(place) {
    let low = 0,
      high = this.cells;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.start[middle] <= place) low = middle + 1;
      else high = middle;
    }
    return low > 0 && place < this.start[low - 1] + this.size ? low - 1 : -1;
  }

  itemStart(at) {
    return this.start[at * this.sub];
  }

  itemEnd(at) {
    return this.start[at * this.sub + this.sub - 1] + this.size;
  }

  /** Runs of items of the same block: [first, last, block]. */
  blocks() {
    const found = [];
    this.items.forEach(({ block }, at) => {
      if (at && block === this.items[at - 1].block) found[found.length - 1][1] = at;
      else found.push([at, at, block]);
    });
    return found;
  }
}

class Band {
  constructor(title, rows, columns) {
    Object.assign(this, { title, rows, columns });
    this.cells = new Int32Array(rows.cells * columns.cells).fill(-1);
  }

  at(row, column) {
    return this.cells[row * this.columns.cells + column];
  }

  put(row, column, link) {
    this.cells[row * this.columns.cells + column] = link;
  }
}

/** The bands of a fabric, top to bottom. `room`: pixels that columns share. */
function bandsOf(fabric, room) {
  const bands = fabric.groups.length ? [coreBand(fabric)] : [];
  for (const lane of range(fabric.lanes.length)) bands.push(leafBand(fabric, lane, room));
  bands.push(pairBand(fabric, LEAF_LEAF, "Links between leaves"), pairBand(fabric, ATTACHMENT, "Links of attachments"));
  if (fabric.podList.length === 1 && 2 * fabric.podList[0].servers.length <= room) bands.push(serverBand(fabric));
  return bands.filter((band) => band && band.cells.some((link) => link >= 0));
}

/** Counts the links between two ends as they come: 0 for the first of a pair. */
function counter() {
  const seen = new Map();
  return (...key) => {
    const text = key.join(" "),
      before = seen.get(text) || 0;
    seen.set(text, before + 1);
    return before;
  };
}

/** Spine–core links: one row per core group, one column per pod, in each cell of those one column per core. */
function coreBand(fabric) {
  const { links, groups, podList: pods } = fabric;
  const cores = Math.max(...groups.map((group) => group.cores.length));
  const place = new Map(groups.flatMap((group) => group.cores.map((core, at) => [core, at])));
  const slot = counter(),
    found = [];
  for (const link of fabric.between) {
    if (links.kind[link] !== SPINE_CORE) continue;
    const core = links.b[link],
      pod = fabric.podOf[links.a[link]];
    found.push([fabric.groupOf[core], slot(core, pod), pod * cores + place.get(core), link]);
  }
  const parallel = found.reduce((most, [, sub]) => Math.max(most, sub + 1), 1);
  const rows = new Axis(
    groups.map((group) => ({ label: group.name, block: group.lane })),
    parallel,
  );
  const columns = new Axis(pods.flatMap((pod) => range(cores).map(() => ({ label: "", block: String(pod.at + 1) }))));
  const each = parallel > 1 ? `, ${parallel} links to each` : "";
  const band = new Band(
    `Spine–core links: rows are core groups, columns are pods; in each pod a column per core of the group${each}`,
    rows,
    columns,
  );
  for (const [group, sub, column, link] of found) band.put(group * parallel + sub, column, link);
  return band;
}

/** Leaf–spine links of an isolated network: one row per leaf, one column per spine, pod beside pod. */
function leafBand(fabric, lane, room) {
  const { links, podList: pods } = fabric;
  const inLane = (devices) => devices.filter((device) => fabric.laneOf[device] === lane);
  const leaves = pods.map((pod) => inLane(pod.leaves)),
    spines = pods.map((pod) => inLane(pod.spines));
  const across = Math.max(...spines.map((list) => list.length)),
    place = new Map();
  for (const list of [...leaves, ...spines]) list.forEach((device, at) => place.set(device, at));
  const slot = counter(),
    found = [];
  for (const link of fabric.between) {
    const leaf = links.a[link],
      spine = links.b[link];
    if (links.kind[link] === LEAF_SPINE && fabric.laneOf[leaf] === lane) found.push([leaf, spine, slot(leaf, spine), link]);
  }
  if (!found.length) return null;
  const parallel = found.reduce((most, [, , sub]) => Math.max(most, sub + 1), 1);
  const wide = Math.max(1, Math.min(parallel, Math.floor(room / pods.length / across / 5)));
  const tall = Math.ceil(parallel / wide);
  const rows = new Axis(leafItems(fabric, leaves), tall);
  const columns = new Axis(
    pods.flatMap((pod, at) => range(across).map((spine) => spineItem(fabric, pod, spines[at][spine]))),
    wide,
  );
  const name = fabric.lanes[lane].name,
    each = parallel > 1 ? `, ${parallel} links each` : "";
  const columnsAre = pods.length > 1 ? "spines of each pod" : "spines";
  const title = `Leaf–spine links${name ? ` of ${name}` : ""}: rows are leaves, columns are ${columnsAre}${each}`;
  const band = new Band(title, rows, columns);
  for (const [leaf, spine, sub, link] of found) {
    const column = fabric.podOf[leaf] * across + place.get(spine);
    band.put(place.get(leaf) * tall + Math.floor(sub / wide), column * wide + (sub % wide), link);
  }
  return band;
}

/** Rows of the pod with the most leaves; in one pod each row is a leaf and says its name. */
function leafItems(fabric, leaves) {
  const most = leaves.reduce((best, list) => (list.length > best.length ? list : best), []);
  const unitless = fabric.kind === "rack" || new Set(most.map((leaf) => fabric.devices.unit[leaf])).size === most.length;
  const first = fabric.devices.unit[most[0]];
  return most.map((leaf) => ({
    label: leaves.length === 1 ? fabric.devices.name[leaf] : "",
    device: leaf,
    block: unitless ? "" : `unit ${fabric.devices.unit[leaf] + 1 - (leaves.length > 1 ? first : 0)}`,
  }));
}

function spineItem(fabric, pod, spine) {
  const alone = fabric.podList.length === 1;
  return { label: alone ? fabric.devices.name[spine] : "", device: spine, block: alone ? "" : String(pod.at + 1) };
}

/** Links of a kind with few pairs of devices: one row per lower end, its links beside each other. */
function pairBand(fabric, kind, title) {
  const { links, devices } = fabric;
  const lower = new Map(),
    slot = counter();
  for (let link = 0; link < links.a.length; link += 1) {
    if (links.kind[link] !== kind) continue;
    if (!lower.has(links.a[link])) lower.set(links.a[link], []);
    lower.get(links.a[link])[slot(links.a[link])] = link;
  }
  if (!lower.size) return null;
  const most = Math.max(...[...lower.values()].map((list) => list.length));
  const rows = new Axis([...lower.keys()].map((device) => ({ label: devices.name[device], device, block: "" })));
  const band = new Band(
    `${title}: rows are ${kind === LEAF_LEAF ? "leaves" : "attachments"}, columns their links`,
    rows,
    new Axis(range(most).map(() => ({ label: "", block: "" }))),
  );
  [...lower.values()].forEach((list, row) => list.forEach((link, column) => band.put(row, column, link)));
  return band;
}

/** Server–leaf links of one pod: one row per NIC port, one column per server. */
function serverBand(fabric) {
  const { links, devices, strings } = fabric;
  const servers = fabric.podList[0].servers,
    column = new Map(servers.map((server, at) => [server, at]));
  const slot = counter(),
    ports = [],
    found = [];
  for (let link = 0; link < links.a.length; link += 1) {
    if (links.kind[link] !== SERVER_LEAF) continue;
    const row = slot(links.a[link]);
    ports[row] = ports[row] ?? strings[links.aport[link]];
    found.push([row, column.get(links.a[link]), link]);
  }
  const rows = new Axis(ports.map((label) => ({ label, block: "" })));
  const columns = new Axis(
    servers.map((server) => ({ label: "", block: fabric.kind === "rack" ? "" : `unit ${devices.unit[server] + 1}` })),
  );
  const band = new Band("Server–leaf links: rows are NIC ports, columns are servers", rows, columns);
  for (const [row, at, link] of found) band.put(row, at, link);
  return band;
}
