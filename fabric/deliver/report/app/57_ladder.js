// Path ladder: all equal-cost paths between two servers, hop by hop, with what they carry.

const LADDER = {
  name: "path",
  title: "Path",
  shows: "paths of two servers",
  offered: (fabric) => fabric.withRole(SERVER).length > 1,
  draw: drawLadder,
};
const STATIONS = {
  "server–leaf": LEAF,
  "leaf–leaf": LEAF,
  "leaf–spine": SPINE,
  "spine–core": CORE,
  "core–spine": SPINE,
  "spine–leaf": LEAF,
  "leaf–server": SERVER,
};
const PLURALS = [["server"], ["leaf", "leaves"], ["spine"], ["core"], ["attachment"]];

function drawLadder(page) {
  const { fabric, state } = page,
    servers = fabric.withRole(SERVER);
  const [from, to] = [
    named(fabric, state.get("from"), servers[0]),
    named(fabric, state.get("to"), servers[servers.length - 1]),
  ];
  const controls = ladderControls(page, from, to, servers);
  const complaint = [
    ["From", from, state.get("from")],
    ["To", to, state.get("to")],
  ].find(([, device]) => device < 0);
  if (complaint)
    return [
      controls,
      html("p", { class: "status warn", role: "status" }, `${complaint[0]}: no server is named “${complaint[2]}”.`),
    ];
  if (from === to) return [controls, html("p", { class: "status", role: "status" }, "Choose two servers.")];
  const loads = fabric.loads(state.get("scenario"), "up");
  const pairs = portPairs(portsOf(fabric, from), portsOf(fabric, to), state.get("nic"), state.get("tonic"));
  const found = pathsBetween(fabric, loads, pairs),
    hops = carried(page, found.hops);
  const missed = missedWords(fabric, loads, pairs, found.missed);
  return [
    controls,
    html("p", { class: missed ? "status warn" : "status", role: "status" }, missed || ladderSentence(page, from, to, hops)),
    hops.length ? ladderPicture(page, from, to, hops) : null,
    hops.length ? ladderTable(page, hops) : null,
  ];
}

/** A server by name: the one chosen; the given one where none is; -1 where there is none of that name. */
function named(fabric, name, otherwise) {
  if (!name) return otherwise;
  const found = fabric.byName.get(name);
  return found !== undefined && fabric.devices.role[found] === SERVER ? found : -1;
}

/** The suggestions of the fields, made once. */
function serverNames(fabric, servers) {
  fabric.serverNames ??= html(
    "datalist",
    { id: "server-names" },
    servers.map((server) => html("option", { value: fabric.devices.name[server] })),
  );
  return fabric.serverNames;
}

function ladderControls({ fabric, state }, from, to, servers) {
  const name = (device, value) => (device >= 0 ? fabric.devices.name[device] : value);
  const ports = (device) => (device < 0 ? [] : portChoices(portsOf(fabric, device)));
  return html(
    "div",
    { class: "controls" },
    serverNames(fabric, servers),
    suggesting("from", "From", "server-names", name(from, state.get("from")), (value) => state.set({ from: value, nic: "" })),
    picker("nic", "NIC port", withAll("all", ports(from)), state.get("nic"), (value) => state.set({ nic: value })),
    suggesting("to", "To", "server-names", name(to, state.get("to")), (value) => state.set({ to: value, tonic: "" })),
    picker("tonic", "To port", withAll("the same port", ports(to)), state.get("tonic"), (value) =>
      state.set({ tonic: value }),
    ),
    html(
      "button",
      {
        type: "button",
        "data-key": "swap",
        onclick: () =>
          state.set({ from: name(to, ""), to: name(from, ""), nic: state.get("tonic"), tonic: state.get("nic") }),
      },
      "Swap ends",
    ),
  );
}

/** Planes and rails where they are several ports, then every port by its label. */
function portChoices(ports) {
  const sets = ["plane", "rail"].flatMap((kind) => {
    const names = [...new Set(ports.map((port) => port[kind]))].filter(Boolean);
    return names.length > 1 && names.length < ports.length ? names.map((name) => [name, name]) : [];
  });
  return [...sets, ...ports.map(({ label, rail, plane }) => [label, [label, plane, rail].filter(Boolean).join(", ")])];
}

/** Hops with the load of the direction in which this traffic crosses them. */
function carried({ fabric, state }, hops) {
  const rising = new Set(["server–leaf", "leaf–spine", "spine–core"]);
  return hops.map((hop) => {
    const loads = fabric.loads(
      state.get("scenario"),
      hop.name === "leaf–leaf" ? "both" : rising.has(hop.name) ? "up" : "down",
    );
    const gbps = hop.links.reduce((sum, link) => sum + fabric.links.speed[link], 0);
    return {
      ...hop,
      gbps,
      found: loads.summary(hop.links),
      upper: fabric.links[rising.has(hop.name) || hop.name === "leaf–leaf" ? "b" : "a"],
    };
  });
}

function missedWords(fabric, loads, pairs, missed) {
  if (!pairs.length) return "These servers have no such ports.";
  if (!missed.length) return "";
  const apart = missed.find(([from, to]) => fabric.laneOf[from.leaf] !== fabric.laneOf[to.leaf]);
  const count =
    missed.length === pairs.length
      ? "No path"
      : `No path for ${thousands(missed.length)} of ${counted(pairs.length, "pair")} of ports`;
  if (!apart) return `${count}: every path is cut by failures.`;
  const lane = (port) => fabric.lanes[fabric.laneOf[port.leaf]].name;
  const [from, to] = apart;
  return `${count}: ${from.label} is on ${lane(from)}, ${to.label} on ${lane(to)}, and no link joins these networks.`;
}

function ladderSentence({ fabric }, from, to, hops) {
  const narrow = hops.reduce((best, hop) => (hop.gbps < best.gbps ? hop : best));
  const worst = hops.reduce((best, hop) => (hop.found.worst > best.found.worst ? hop : best));
  const lengths = {
    2: "under the same leaves",
    3: "over the link between the leaves",
    4: fabric.tiers > 2 ? "in the same pod, over spines" : "over spines",
    6: "over spines and cores",
  };
  const { unit, pod } = fabric.devices;
  const where = [pod[from] !== pod[to] && "other pod", unit[from] === unit[to] && fabric.kind !== "rack" && "same unit"]
    .filter(Boolean)
    .join(", ");
  return (
    `${counted(hops.length, "hop")} ${lengths[hops.length] || ""}${where ? ` (${where})` : ""}. ` +
    `Narrowest: ${narrow.name}, ${bandwidth(narrow.gbps)}. ` +
    (fabric.scenarios.length ? `Busiest link: ${percent(worst.found.worst)}, ${worst.name}.` : "")
  );
}

function ladderPicture({ fabric, width }, from, to, hops) {
  const stations = [
    [from],
    ...hops.map((hop, at) =>
      at === hops.length - 1 ? [to] : [...new Set(hop.links.map((link) => hop.upper[link]))].sort((x, y) => x - y),
    ),
  ];
  const stationWidth = 126,
    row = rowOf(stations.length, 2, Math.max(width, 150 * stations.length) - 4, { least: stationWidth, most: stationWidth, gap: 0 });
  const step = (Math.max(width, 172 * stations.length - 60) - stationWidth - 6) / (stations.length - 1),
    rung = Math.min(step, 210);
  const x = (at) => 2 + at * rung,
    middle = 58,
    whole = Math.max(width, x(stations.length - 1) + row.width + 4);
  const path = hops.map((hop) => `${hop.name} ×${hop.links.length}`).join(", ");
  const label = `From ${fabric.devices.name[from]} to ${fabric.devices.name[to]}: ${path}`;
  const bands = hops.map((hop, at) => {
    const begin = x(at) + stationWidth,
      end = x(at + 1),
      center = (begin + end) / 2,
      badge = badgeText(hop.found);
    return [
      svg("path", {
        class: `line${hop.found.class}`,
        "stroke-width": Math.min(16, 2 + 2 * Math.log2(hop.links.length)),
        d: `M${begin} ${middle}H${end}`,
      }),
      middleText(center, middle - 24, `×${thousands(hop.links.length)}`, { class: "strong" }),
      middleText(center, middle + 47, `mean load ${percent(hop.found.mean)}`, { class: "soft small" }),
      middleText(center, middle + 61, `highest ${percent(hop.found.worst)}`, { class: "soft small" }),
      middleText(center, middle + 75, badge, { class: "bad small" }),
    ];
  });
  const pictures = stations.map((devices, at) =>
    stationPicture(fabric, devices, at === 0 ? SERVER : STATIONS[hops[at - 1].name], x(at), middle, stationWidth),
  );
  return picture(label, whole, 140, width, ...bands.flat(), ...pictures.flat());
}

/** One hop of a path: the device, or the number of equal devices. */
function stationPicture(fabric, devices, role, x, middle, width) {
  const name =
    devices.length === 1
      ? endThatFits(fabric.devices.name[devices[0]], width - 8, 11, true)
      : counted(devices.length, ...PLURALS[role]);
  const ends =
    devices.length === 1
      ? ROLE_WORDS[role]
      : shortNames(fabric, [devices[0], devices[devices.length - 1]], width / 2 - 12).join(" … ");
  return [
    svg("rect", { x, y: middle - 32, width, height: 64, rx: 5, class: `box role-line-${ROLE_WORDS[role]}` }),
    middleText(x + width / 2, middle - 3, name, { class: "strong small" }),
    middleText(x + width / 2, middle + 14, endThatFits(ends, width - 6, 10), { class: "soft tiny" }),
  ];
}

function shortNames(fabric, devices, room) {
  return labelsThatFit(fabric, devices, room, 10) || devices.map((device) => String(fabric.devices.number[device]));
}

function ladderTable({ fabric, state }, hops) {
  const titles = ["hop", "links", "speed", "capacity", "mean load", "highest load", "over 100%", "fullest link"];
  const rows = hops.map((hop) =>
    html(
      "tr",
      {},
      html("th", { scope: "row" }, hop.name),
      html("td", { class: "number" }, thousands(hop.links.length)),
      html("td", {}, speeds(hop.links, fabric.links.speed)),
      html("td", { class: "number" }, bandwidth(hop.gbps)),
      html("td", { class: "number" }, percent(hop.found.mean)),
      html("td", { class: "number" }, percent(hop.found.worst)),
      html("td", { class: "number" }, thousands(hop.found.over)),
      html("td", { class: "wrap" }, hop.found.worstLink < 0 ? "" : linkLink(state, fabric, hop.found.worstLink)),
    ),
  );
  return html(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": "Hops" },
    html(
      "table",
      { class: "plain" },
      headOf(titles),
      html("tbody", {}, rows),
    ),
  );
}
