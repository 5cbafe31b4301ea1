// One pod: leaves and spines with a line for every pair, rails bracketed, uplinks as stubs, servers as a grid.

const POD = { name: "pod", title: "One pod", shows: "load of leaves and spines", offered: () => true, draw: drawPod };
const PAIRS_MOST = 400; // lines that remain distinguishable
const LEAF_LEAST = 22;

function drawPod(page) {
  const { fabric, state, width } = page;
  const at =
    page.device >= 0 && fabric.podOf[page.device] >= 0 && !state.get("pod")
      ? fabric.podOf[page.device]
      : podChosen(fabric, state);
  const pod = fabric.podList[at],
    lens = lensOf(page, pod);
  const shown = {
    leaves: pod.leaves.filter((leaf) => through(fabric, lens, leaf, ["plane", "rail", "unit"])).sort(byRail(fabric)),
    spines: pod.spines.filter((spine) =>
      through(fabric, lens, spine, fabric.kind === "rail-only" ? ["plane", "rail"] : ["plane"]),
    ),
    servers: pod.servers.filter((server) => through(fabric, lens, server, ["unit"])),
  };
  const drawn = new PodPicture(page, pod, shown).draw(width);
  roving(drawn);
  return [podControls(page, pod, lens), html("p", { class: "note" }, podSentence(page, pod, shown)), drawn];
}

/** Leaves of one rail stand together. */
function byRail({ devices: { plane, rail, unit } }) {
  return (x, y) => plane[x] - plane[y] || rail[x] - rail[y] || unit[x] - unit[y] || x - y;
}

/** Plane, rail and unit that are shown, "" for all. What the reader did not choose is the least that keeps lines apart. */
function lensOf({ fabric, state, width, device }, pod) {
  const lens = {},
    { devices } = fabric;
  for (const name of ["plane", "rail", "unit"]) {
    const found = [...new Set(pod.leaves.map((leaf) => devices[name][leaf]))]
      .filter((value) => value >= 0)
      .sort((x, y) => x - y);
    const own = device >= 0 && found.includes(devices[name][device]) ? devices[name][device] : found[0];
    const chosen = state.get(name);
    lens[name] = {
      found,
      own: String(own + 1),
      value: chosen === "all" ? "" : found.some((value) => String(value + 1) === chosen) ? chosen : "",
      free: !chosen,
    };
  }
  const shown = () => pod.leaves.filter((leaf) => through(fabric, lens, leaf, ["plane", "rail", "unit"]));
  const spines = (leaves) =>
    new Set(
      leaves.flatMap((leaf) =>
        [...fabric.linksOf(leaf)].filter((link) => fabric.links.a[link] === leaf).map((link) => fabric.links.b[link]),
      ),
    ).size;
  for (const name of ["plane", "rail", "unit"]) {
    const leaves = shown();
    const crowded =
      (leaves.length * spines(leaves)) / Math.max(1, laneCount(fabric, leaves)) > PAIRS_MOST ||
      leaves.length * LEAF_LEAST > width;
    if (crowded && lens[name].free && lens[name].found.length > 1 && !(name === "unit" && fabric.kind === "rack"))
      lens[name].value = lens[name].own;
  }
  return lens;
}

function laneCount(fabric, devices) {
  return new Set(devices.map((device) => fabric.laneOf[device])).size;
}

function through(fabric, lens, device, names) {
  return names.every((name) => {
    const value = fabric.devices[name][device];
    return !lens[name].value || value < 0 || String(value + 1) === lens[name].value;
  });
}

function podControls({ fabric, state }, pod, lens) {
  const controls = [];
  if (fabric.podList.length > 1) {
    controls.push(
      picker(
        "pod",
        "Pod",
        fabric.podList.map((each) => [String(each.at + 1), each.name]),
        String(pod.at + 1),
        (value) => state.set({ pod: value, group: "", device: "", link: "" }),
      ),
    );
  }
  for (const name of ["plane", "rail", "unit"]) {
    const { found, value } = lens[name];
    if (found.length < 2 || (name === "unit" && fabric.kind === "rack")) continue;
    controls.push(
      picker(
        name,
        name[0].toUpperCase() + name.slice(1),
        [["all", "all"], ...found.map((each) => [String(each + 1), String(each + 1)])],
        value || "all",
        (chosen) => state.set({ [name]: chosen }),
      ),
    );
  }
  return controls.length ? html("div", { class: "controls" }, controls) : null;
}

function podSentence({ fabric, loads }, pod, shown) {
  const part = (list, all, ...nouns) =>
    list.length === all.length
      ? counted(all.length, ...nouns)
      : `${thousands(list.length)} of ${counted(all.length, ...nouns)}`;
  const counts = [];
  if (pod.spines.length) counts.push(part(shown.spines, pod.spines, "spine"));
  counts.push(part(shown.leaves, pod.leaves, "leaf", "leaves"), part(shown.servers, pod.servers, "server"));
  const name = fabric.podList.length > 1 ? pod.name[0].toUpperCase() + pod.name.slice(1) : "The fabric";
  const load = loadWords(loads.summary(pod.trunks));
  const hint = "Choose a switch or a server to see its links alone.";
  return `${name}: ${counts.join(", ")} shown; links between switches: ${load}. ${hint}`;
}
