// Schematic: core groups above, pods below. Bundles of links are drawn for what is chosen; the rest is faint.

const SCHEMATIC = {
  name: "schematic",
  title: "Schematic",
  shows: "load of bundles",
  offered: (fabric) => fabric.groups.length > 0,
  draw: drawSchematic,
};
const GUTTER = 64;
const FAINT_MOST = 6000;
const BLOCK_LEAST = 15; // pixels of a pod or core group; more of them than fit scroll

/** Between blocks: the more there are, the less. */
function gapOf(count) {
  return count > 24 ? 2 : 4;
}

/** A figure in the largest size that fits; nothing where not even the smallest does. */
function figure(x, y, text, room, attributes = {}) {
  const size = [12, 11, 10, 9, 8].find((each) => textWidth(text, each, /strong|bad/.test(attributes.class || "")) <= room);
  if (!text || !size) return null;
  const sized = { class: `${attributes.class || ""} s${size}`.trim() };
  return middleText(x, y, text, sized);
}

function drawSchematic(page) {
  const { fabric, width } = page;
  const lanes = [...new Set(fabric.groups.map((group) => group.lane))],
    several = lanes.length > 1 && lanes.length < fabric.groups.length;
  const apart = (at) => (several ? lanes.indexOf(fabric.groups[at].lane) : 0);
  const room = width - GUTTER - 2;
  const groups = rowOf(fabric.groups.length, GUTTER, room, { least: BLOCK_LEAST, gap: gapOf(fabric.groups.length), apart });
  const pods = rowOf(fabric.podList.length, GUTTER, room, { least: BLOCK_LEAST, gap: gapOf(fabric.podList.length) });
  const layout = { groups, pods, chosen: chosenBlock(page), groupsTop: several ? 22 : 4, lanes: several ? lanes : [] };
  layout.groupsEnd = layout.groupsTop + 58;
  layout.podsTop = layout.groupsEnd + 216;
  layout.pod = podLayout(fabric, pods.width);
  const height = layout.podsTop + layout.pod.height + 4;
  const label = `${counted(fabric.groups.length, "core group")} above, ${counted(fabric.podList.length, "pod")} below`;
  const drawn = picture(
    label,
    Math.max(width, groups.end + 2, pods.end + 2),
    height,
    width,
    ...schematicTitles(fabric, layout),
    ...bundles(page, layout),
    ...fabric.groups.map((group) => groupBlock(page, layout, group)),
    ...fabric.podList.map((pod, at) => podBlock(page, layout, pod, at)),
  );
  roving(drawn);
  const cores = fabric.groups.reduce((sum, group) => sum + group.cores.length, 0),
    first = fabric.podList[0];
  return [
    drawn,
    html(
      "p",
      { class: "note" },
      `Core: ${counted(cores, "switch", "switches")} in ${counted(fabric.groups.length, "group")}. ` +
        `Below, ${counted(fabric.podList.length, "pod")}; the first has ${counted(first.spines.length, "spine")}, ` +
        `${counted(first.leaves.length, "leaf", "leaves")} and ${counted(first.servers.length, "server")}. ` +
        "In a pod one tick is one switch, colored by the mean load of its links to other switches. " +
        "Choose a group or a pod to see its bundles.",
    ),
  ];
}

/** The group or pod whose bundles are drawn: as chosen, else where the chosen switch stands, else the first pod. */
function chosenBlock({ fabric, state, device }) {
  const group = fabric.groups[Number(state.get("group")) - 1];
  if (state.get("group") && group) return { group };
  if (device >= 0 && !state.get("pod")) {
    if (fabric.groupOf[device] >= 0) return { group: fabric.groups[fabric.groupOf[device]] };
    if (fabric.podOf[device] >= 0) return { pod: fabric.podOf[device] };
  }
  return { pod: podChosen(fabric, state) };
}

/** Place of the pod that the address names; the first where it names none. */
function podChosen(fabric, state) {
  return Math.max(
    0,
    fabric.podList.findIndex((pod) => String(pod.at + 1) === state.get("pod")),
  );
}

function schematicTitles(fabric, { groups, groupsTop, podsTop, pod, lanes }) {
  const names = [
    ["spines", pod.spines],
    ["leaves", pod.leaves],
    ["servers", pod.servers],
    ["load", pod.mean],
  ];
  return [
    ...lanes.map((lane) =>
      words(groups.at(fabric.groups.findIndex((group) => group.lane === lane)), 15, fabric.lanes[lane].name, {
        class: "soft",
      }),
    ),
    ...names.map(([name, y]) => words(GUTTER - 8, podsTop + y, name, { class: "soft", "text-anchor": "end" })),
  ];
}

/** Heights within a pod's block, and how many ticks stand in a row. */
function podLayout(fabric, width) {
  const room = width - 6;
  const most = Math.max(1, Math.floor(room / 2.4));
  const spines = Math.max(...fabric.podList.map((pod) => pod.spines.length));
  const leaves = Math.max(...fabric.podList.map((pod) => pod.leaves.length));
  const first = fabric.podList[0].leaves;
  const unit = first.filter((leaf) => fabric.devices.unit[leaf] === fabric.devices.unit[first[0]]).length;
  const inUnits = unit > 1 && unit <= most && leaves / unit <= 16;
  const evenly = (count) => Math.ceil(count / Math.ceil(count / most)); // rows of the same length
  const spinesAcross = evenly(spines),
    leavesAcross = inUnits ? unit : evenly(leaves);
  const spineRows = Math.ceil(spines / spinesAcross),
    leafRows = Math.ceil(leaves / leavesAcross);
  const leavesTop = 26 + spineRows * 11 + 6;
  const end = leavesTop + leafRows * 11;
  return {
    spinesAcross,
    leavesAcross,
    leavesTop,
    spinesTop: 26,
    height: end + 72,
    spines: 35,
    leaves: leavesTop + 9,
    servers: end + 18,
    mean: end + 36,
    over: end + 51,
    dead: end + 65,
  };
}

function groupBlock({ fabric, loads, state }, { groups, groupsTop, groupsEnd, chosen }, group) {
  const found = loads.summary(group.links),
    badge = badgeText(found);
  const x = groups.at(group.at),
    middle = groups.middle(group.at),
    wide = groups.width;
  const pressed = chosen.group === group;
  const name = [group.name, group.short, String(group.place + 1)].find((text) => textWidth(text, 12, true) <= wide - 4) || "";
  const act = () => state.set({ group: String(group.at + 1), pod: "", device: "", link: "" });
  return choice(
    {
      key: `group-${group.at}`,
      row: 0,
      pressed,
      act,
      label: `${group.name}, ${counted(group.cores.length, "core")}: ${loadWords(found)}`,
    },
    svg("rect", {
      x,
      y: groupsTop,
      width: wide,
      height: groupsEnd - groupsTop,
      rx: 4,
      class: pressed ? "box role-line-core chosen" : "box role-line-core",
    }),
    svg("rect", { x: x + 3, y: groupsEnd - 8, width: wide - 6, height: 5, class: `fill${found.class}` }),
    middleText(middle, groupsTop + 16, name, { class: "strong" }),
    figure(middle, groupsTop + 31, percent(found.mean), wide - 2, { class: "soft" }),
    figure(middle, groupsTop + 45, badge, wide - 2, { class: "bad" }),
  );
}

function podBlock({ fabric, loads, state, device }, { pods, podsTop, pod: heights, chosen }, pod, at) {
  const found = loads.summary(pod.trunks),
    x = pods.at(at),
    middle = pods.middle(at),
    wide = pods.width;
  const pressed = chosen.pod === at;
  const name = wide >= 60 ? pod.name : String(pod.at + 1);
  const ticks = new Inks("fill");
  const rows = (switches, across, top) =>
    tickRows(ticks, fabric, loads, device, switches, across, x + 3, podsTop + top, wide - 6);
  const marks = [
    rows(pod.spines, heights.spinesAcross, heights.spinesTop),
    rows(pod.leaves, heights.leavesAcross, heights.leavesTop),
  ];
  const act = () => state.set({ pod: String(pod.at + 1), group: "", device: "", link: "" });
  return choice(
    { key: `pod-${at}`, row: 1, pressed, act, label: `${pod.name}: ${loadWords(found)}` },
    svg("rect", { x, y: podsTop, width: wide, height: heights.height, rx: 4, class: pressed ? "box chosen" : "box" }),
    figure(middle, podsTop + 17, name, wide - 2, { class: "strong" }),
    ...ticks.nodes("tick"),
    ...marks.filter(Boolean),
    figure(middle, podsTop + heights.servers, thousands(pod.servers.length), wide - 2, { class: "soft" }),
    figure(middle, podsTop + heights.mean, percent(found.mean), wide - 2),
    figure(middle, podsTop + heights.over, found.over ? `${found.over}!` : "", wide - 2, { class: "bad" }),
    figure(middle, podsTop + heights.dead, found.dead ? `${found.dead}✕` : "", wide - 2, { class: "bad" }),
  );
}

/** One tick a switch, colored by the mean load of its links to other switches; gives a frame around the chosen one. */
function tickRows(inks, fabric, loads, chosen, switches, across, x, y, room) {
  const step = Math.min(26, room / across),
    width = Math.max(step - (step > 3 ? 1 : 0.5), 1),
    left = x + (room - step * across) / 2;
  let mark = null;
  switches.forEach((device, place) => {
    const found = loads.summary(fabric.trunksOf(device));
    const [tickX, tickY] = [left + (place % across) * step, y + Math.floor(place / across) * 11];
    inks.rect(loads.deadDevice[device] ? DEAD : found.class, tickX, tickY, width, 9);
    if (device === chosen) mark = svg("rect", { x: tickX - 2, y: tickY - 2, width: width + 4, height: 13, class: "mark" });
  });
  return mark;
}

/** Every bundle faintly, those of the chosen group or pod with their colour and count. */
function bundles({ fabric, loads }, layout) {
  const { groups, pods, groupsEnd, podsTop, chosen } = layout;
  const count = fabric.groups.length * fabric.podList.length,
    end = podsTop;
  const spread = (at, group) =>
    chosen.group ? pods.middle(at) : pods.at(at) + (pods.width * (group + 0.5)) / fabric.groups.length;
  const faint =
    count > FAINT_MOST
      ? []
      : fabric.groups.flatMap((group) =>
          fabric.podList.map((_, at) => curve(groups.middle(group.at), groupsEnd, pods.middle(at), end)),
        );
  const strong = fabric.groups
    .flatMap((group) => fabric.podList.map((_, at) => [group, at]))
    .filter(([group, at]) => group === chosen.group || at === chosen.pod)
    .map(([group, at]) => ({ group, at, found: loads.summary(fabric.bundles[group.at][at]) }))
    .filter(({ found }) => found.links);
  const thick = Math.max(
    1.5,
    Math.min(5, (pods.width / fabric.groups.length) * 0.8, (groups.width / fabric.podList.length) * 3),
  );
  return [
    svg("path", { class: "faint", d: faint.join("") }),
    ...strong.map(({ group, at, found }) =>
      svg("path", {
        class: `line${found.class}`,
        "stroke-width": thick,
        d: curve(groups.middle(group.at), groupsEnd, spread(at, group.at), end),
      }),
    ),
    ...strong.map(({ group, at, found }) => {
      const room = chosen.group ? pods.width : groups.width,
        badge = badgeText(found);
      const text =
        [`×${found.links} (${badge})`, `×${found.links}`].find(
          (form) => (badge || !form.includes("(")) && textWidth(form, 11, true) <= room + 3,
        ) || "";
      return chosen.group
        ? middleText(pods.middle(at), end - 7, text, { class: "strong small backed" })
        : middleText(groups.middle(group.at), groupsEnd + 14, text, { class: "strong small backed" });
    }),
  ];
}
