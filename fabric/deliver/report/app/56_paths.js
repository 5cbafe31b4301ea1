// Equal-cost paths between two servers: the links of each hop that lie on a shortest path which is alive.

/** Ports of a server in a fabric: the link, the leaf at its other end, and what a reader may choose it by. */
function portsOf(fabric, server) {
  const { links, devices, strings } = fabric;
  return [...fabric.linksOf(server)]
    .filter((link) => links.a[link] === server)
    .map((link) => {
      const leaf = links.b[link];
      const rail = devices.rail[leaf] >= 0 ? `rail ${devices.rail[leaf] + 1}` : "";
      const plane = fabric.planes > 1 ? `plane ${devices.plane[leaf] + 1}` : "";
      return { link, leaf, rail, plane, label: strings[links.aport[link]], nic: links.nic[link] };
    });
}

function isPort({ label, rail, plane }, wanted) {
  return !wanted || wanted === label || wanted === rail || wanted === plane;
}

/** Which port sends to which: to the same port of the other server, as collectives do, unless another is named. */
function portPairs(sources, targets, port, toPort) {
  return sources
    .filter((each) => isPort(each, port))
    .flatMap((from) => {
      const same = targets.filter((each) => (toPort ? isPort(each, toPort) : each.label === from.label));
      return (same.length || toPort ? same : targets.filter(({ nic }) => nic === from.nic).slice(0, 1)).map((to) => [
        from,
        to,
      ]);
    });
}

/** Hops from server to server, `pairs` of ports that were asked for, and those of them that no live path joins. */
function pathsBetween(fabric, loads, pairs) {
  const hops = new Hops(fabric, loads),
    done = new Map();
  for (const [from, to] of pairs) {
    const key = `${from.leaf} ${to.leaf}`;
    if (!done.has(key)) done.set(key, hops.across(from.leaf, to.leaf));
    const stages = loads.dead[from.link] || loads.dead[to.link] ? null : done.get(key);
    if (stages) hops.add(from, to, stages);
    else hops.missed.push([from, to]);
  }
  return { hops: hops.list(), missed: hops.missed };
}

class Hops {
  constructor(fabric, loads) {
    Object.assign(this, { fabric, loads, missed: [], stages: new Map() });
  }

  /** Live links from a switch to those above it. */
  up(device) {
    return [...this.fabric.linksOf(device)].filter(
      (link) => this.fabric.links.a[link] === device && isTrunk(this.fabric.links.kind[link]),
    );
  }

  /** The stages between two leaves, [name, links] each; null where no path lives. */
  across(from, to) {
    if (from === to) return [];
    const { links } = this.fabric,
      live = (found) => found.filter((link) => !this.loads.dead[link]);
    const first = live(this.up(from)),
      last = live(this.up(to));
    const peers = live(
      [...this.fabric.linksOf(from)].filter((link) => links.kind[link] === LEAF_LEAF && this.fabric.other(link, from) === to),
    );
    const high = (found) => new Set(found.map((link) => links.b[link]));
    const shared = high(last.filter((link) => links.kind[link] === LEAF_SPINE && high(first).has(links.b[link])));
    if (shared.size)
      return [
        ["leaf–spine", first.filter((link) => shared.has(links.b[link]))],
        ["spine–leaf", last.filter((link) => shared.has(links.b[link]))],
      ];
    if (peers.length) return [["leaf–leaf", peers]];
    return this.overCores(first, last, live);
  }

  overCores(first, last, live) {
    const { links } = this.fabric,
      ends = (found, column) => new Set(found.map((link) => links[column][link]));
    const rising = live([...ends(first, "b")].flatMap((spine) => this.up(spine))),
      falling = live([...ends(last, "b")].flatMap((spine) => this.up(spine)));
    const met = ends(falling, "b"),
      cores = new Set([...ends(rising, "b")].filter((core) => met.has(core)));
    if (!cores.size) return null;
    const up = rising.filter((link) => cores.has(links.b[link])),
      down = falling.filter((link) => cores.has(links.b[link]));
    const spinesUp = ends(up, "a"),
      spinesDown = ends(down, "a");
    return [
      ["leaf–spine", first.filter((link) => spinesUp.has(links.b[link]))],
      ["spine–core", up],
      ["core–spine", down],
      ["spine–leaf", last.filter((link) => spinesDown.has(links.b[link]))],
    ];
  }

  add(from, to, stages) {
    for (const [name, links] of [["server–leaf", [from.link]], ...stages, ["leaf–server", [to.link]]]) {
      if (!this.stages.has(name)) this.stages.set(name, new Set());
      for (const link of links) this.stages.get(name).add(link);
    }
  }

  /** Stages in the order in which a packet meets them. */
  list() {
    const order = ["server–leaf", "leaf–leaf", "leaf–spine", "spine–core", "core–spine", "spine–leaf", "leaf–server"];
    return order.filter((name) => this.stages.has(name)).map((name) => ({ name, links: [...this.stages.get(name)] }));
  }
}
