// One fabric: its columns, and the position of every device.

const [SERVER, LEAF, SPINE, CORE, ATTACHED] = [0, 1, 2, 3, 4];
const [SERVER_LEAF, LEAF_LEAF, LEAF_SPINE, SPINE_CORE, ATTACHMENT] = [0, 1, 2, 3, 4];
const ROLE_WORDS = ["server", "leaf", "spine", "core", "attachment"];

class Fabric {
  constructor(report, at) {
    const data = report.fabrics[at];
    Object.assign(this, data, { at, strings: report.strings });
    this.size = this.devices.name.length;
    this.byName = new Map(this.devices.name.map((name, device) => [name, device]));
    this.ends = endsOfDevices(this.size, this.links.a, this.links.b);
    this.between = this.switchLinks();
    this.lanes = this.findLanes();
    this.podList = this.findPods();
    this.groups = this.findGroups();
    this.loadsMade = new Map();
    this.prefixes = new Map();
  }

  /** Links at a device. */
  linksOf(device) {
    return this.ends.links.subarray(this.ends.start[device], this.ends.start[device + 1]);
  }

  /** Links of a device to other switches; all of them where it has none such. */
  trunksOf(device) {
    const trunks = this.linksOf(device).filter((link) => isTrunk(this.links.kind[link]));
    return trunks.length ? trunks : this.linksOf(device);
  }

  /** All links between switches; all links where no switches are linked. */
  switchLinks() {
    const every = Array.from(this.links.kind.keys());
    const trunks = every.filter((link) => isTrunk(this.links.kind[link]));
    return trunks.length ? trunks : every;
  }

  other(link, device) {
    return this.links.a[link] === device ? this.links.b[link] : this.links.a[link];
  }

  withRole(role) {
    return range(this.size).filter((device) => this.devices.role[device] === role);
  }

  /** The links' loads, made once. A name that is not known means the first scenario. */
  loads(scenarioName, direction) {
    const scenario = this.scenarios.find((item) => item.name === scenarioName) || this.scenarios[0] || this.unknown();
    const key = `${direction} ${scenario.name}`;
    if (!this.loadsMade.has(key)) {
      this.loadsMade.set(key, new Loads(scenario, direction, this.links.a.length, this.size));
    }
    return this.loadsMade.get(key);
  }

  /** Stands in where the report has no loads. */
  unknown() {
    const unknown = new Array(this.links.a.length).fill(NaN);
    return { name: "", what: "This report was made without loads.", up: unknown, down: unknown, dead: [], dead_devices: [] };
  }

  /** Isolated networks: planes, and rails of a rail-only fabric. Switches of one never meet those of another. */
  findLanes() {
    const { role, plane, rail } = this.devices;
    const lanes = new Map();
    this.laneOf = new Int32Array(this.size).fill(-1);
    for (const device of range(this.size)) {
      if (role[device] === SERVER || role[device] === ATTACHED) continue;
      const ownRail = this.kind === "rail-only" ? rail[device] : -1;
      const ownPlane = this.planes > 1 ? plane[device] : -1;
      const key = `${ownPlane} ${ownRail}`;
      if (!lanes.has(key)) lanes.set(key, { plane: ownPlane, rail: ownRail, devices: [] });
      lanes.get(key).devices.push(device);
    }
    const found = [...lanes.values()].sort((x, y) => x.plane - y.plane || x.rail - y.rail);
    found.forEach((lane, at) => {
      lane.name = [lane.plane >= 0 && `plane ${lane.plane + 1}`, lane.rail >= 0 && `rail ${lane.rail + 1}`]
        .filter(Boolean)
        .join(" ");
      for (const device of lane.devices) this.laneOf[device] = at;
    });
    return found;
  }

  /** Pods of three tiers; a fabric of fewer is one pod. Within a pod devices are ordered by plane, unit and rail. */
  findPods() {
    const { role, pod } = this.devices;
    const many = this.tiers > 2;
    const found = new Map();
    const of = (at) => {
      if (!found.has(at))
        found.set(at, { at, name: many ? `pod ${at + 1}` : "fabric", leaves: [], spines: [], servers: [], attached: [] });
      return found.get(at);
    };
    for (const device of range(this.size)) {
      const list = { [SERVER]: "servers", [LEAF]: "leaves", [SPINE]: "spines" }[role[device]];
      if (list) of(many ? Math.max(pod[device], 0) : 0)[list].push(device);
    }
    const pods = [...found.values()].sort((x, y) => x.at - y.at);
    this.podOf = new Int32Array(this.size).fill(-1);
    pods.forEach((each, at) => {
      each.leaves.sort((x, y) => this.laneOf[x] - this.laneOf[y] || this.byPlace(x, y));
      each.spines.sort((x, y) => this.laneOf[x] - this.laneOf[y] || x - y);
      for (const device of [...each.leaves, ...each.spines, ...each.servers]) this.podOf[device] = at;
      each.trunks = [...each.leaves, ...each.spines].flatMap((device) =>
        [...this.trunksOf(device)].filter((link) => this.owns(device, link)),
      );
    });
    for (const attachment of this.withRole(ATTACHED)) {
      const touched = new Set([...this.linksOf(attachment)].map((link) => this.podOf[this.other(link, attachment)]));
      for (const at of touched) if (at >= 0) pods[at].attached.push(attachment);
    }
    return pods;
  }

  byPlace(x, y) {
    const { unit, rail } = this.devices;
    return unit[x] - unit[y] || rail[x] - rail[y] || x - y;
  }

  /** Whether a link counts at this end, so that a pod counts each of its links once. */
  owns(device, link) {
    return this.links.a[link] === device || this.podOf[this.links.a[link]] === -1;
  }

  /** Core groups: the cores that the spines of the same place in every pod meet. */
  findGroups() {
    const place = new Int32Array(this.size);
    for (const pod of this.podList) {
      let lane = -1,
        at = 0;
      for (const spine of pod.spines) {
        if (this.laneOf[spine] !== lane) [lane, at] = [this.laneOf[spine], 0];
        place[spine] = at++;
      }
    }
    this.placeOfSpine = place;
    const found = new Map();
    for (const core of this.withRole(CORE)) {
      const met = [...this.linksOf(core)].map((link) => place[this.other(link, core)]);
      const at = met.length ? Math.min(...met) : 0;
      const key = this.laneOf[core] * this.size + at;
      if (!found.has(key)) found.set(key, { lane: this.laneOf[core], place: at, cores: [] });
      found.get(key).cores.push(core);
    }
    const groups = [...found.values()].sort((x, y) => x.lane - y.lane || x.place - y.place);
    const alone = new Set(groups.map((group) => group.lane)).size === groups.length;
    this.groupOf = new Int32Array(this.size).fill(-1);
    groups.forEach((group, at) => {
      const lane = this.lanes[group.lane].name;
      group.at = at;
      group.short = alone && lane ? lane : `group ${group.place + 1}`;
      group.name = alone || !lane ? group.short : `${lane} group ${group.place + 1}`;
      for (const core of group.cores) this.groupOf[core] = at;
      group.links = group.cores.flatMap((core) => [...this.linksOf(core)]);
    });
    this.bundles = groups.map((group) => {
      const toPods = this.podList.map(() => []);
      for (const core of group.cores) {
        for (const link of this.linksOf(core)) toPods[this.podOf[this.other(link, core)]].push(link);
      }
      return toPods;
    });
    return groups;
  }

  /** Group that a core belongs to or a spine is linked to; -1 where there is none. */
  groupAt(device) {
    if (this.devices.role[device] === CORE) return this.groupOf[device];
    const up = this.devices.role[device] === SPINE && this.linksOf(device).find((link) => this.links.a[link] === device);
    return up === false || up === undefined ? -1 : this.groupOf[this.links.b[up]];
  }

  /** A device in one line. */
  words(device) {
    const { name, role, pod, unit, plane, rail, rack } = this.devices;
    const words = [ROLE_WORDS[role[device]]];
    if (pod[device] >= 0 && this.tiers > 2) words.push(`pod ${pod[device] + 1}`);
    if (role[device] === CORE && this.groups.length) words.push(this.groups[this.groupOf[device]].name);
    else if (plane[device] >= 0 && this.planes > 1) words.push(`plane ${plane[device] + 1}`);
    if (unit[device] >= 0 && this.kind !== "rack") words.push(`unit ${unit[device] + 1}`);
    if (rail[device] >= 0) words.push(`rail ${rail[device] + 1}`);
    if (rack[device] > 0)
      words.push(
        this.strings[rack[device]].startsWith("rack") ? this.strings[rack[device]] : `rack ${this.strings[rack[device]]}`,
      );
    return `${name[device]} (${words.join(", ")})`;
  }

  /** An end of a link: name and port. */
  endWords(link, end) {
    const port = this.strings[this.links[end + "port"][link]];
    return this.devices.name[this.links[end][link]] + (port ? ` port ${port}` : "");
  }

  /** A link in one line, with what it carries in both directions. */
  linkWords(link, loads) {
    const { speed, length, medium } = this.links;
    const cable = [`${speed[link]}G`, length[link] ? `${length[link]} m` : "", this.strings[medium[link]]]
      .filter(Boolean)
      .join(", ");
    const { up, down } = loads.scenario;
    const load = loads.dead[link] ? "dead" : `up ${percent(up[link])}, down ${percent(down[link])}`;
    return `${this.endWords(link, "a")} – ${this.endWords(link, "b")}: ${load} (${cable})`;
  }
}

function isTrunk(kind) {
  return kind === LEAF_LEAF || kind === LEAF_SPINE || kind === SPINE_CORE;
}

function range(count) {
  return Array.from({ length: count }, (_, at) => at);
}

/** Links sorted by device: those of device d are `links[start[d] … start[d + 1]]`. */
function endsOfDevices(devices, a, b) {
  const start = new Int32Array(devices + 1);
  for (const column of [a, b]) for (const device of column) start[device + 1] += 1;
  for (let device = 0; device < devices; device += 1) start[device + 1] += start[device];
  const next = start.slice(),
    links = new Int32Array(2 * a.length);
  for (let link = 0; link < a.length; link += 1) {
    links[next[a[link]]++] = link;
    links[next[b[link]]++] = link;
  }
  return { start, links };
}
