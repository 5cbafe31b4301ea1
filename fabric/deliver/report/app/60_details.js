// What is chosen, in words and figures.

/** A link within the page that chooses a device, or a cable. It is a plain address too, so it can be copied. */
function deviceLink(state, fabric, device) {
  return choosing(
    state,
    { fabric: fabric.name, device: fabric.devices.name[device], link: "", pod: "", group: "" },
    fabric.devices.name[device],
  );
}

function linkLink(state, fabric, link) {
  const text = `${fabric.endWords(link, "a")} – ${fabric.endWords(link, "b")}`;
  return choosing(state, { fabric: fabric.name, link: String(link), device: "", view: "load" }, text);
}

function choosing(state, changes, text) {
  const stated = Object.entries(changes).filter(([, value]) => value !== "");
  const act = (event) => {
    event.preventDefault();
    state.set(changes);
    document.getElementById("topology").scrollIntoView();
  };
  return html("a", { href: "#" + new URLSearchParams(stated).toString(), onclick: act }, text);
}

/** The panel beside the picture. */
function detailsOf(page) {
  if (page.device >= 0) return deviceDetails(page, page.device);
  if (page.link >= 0) return linkDetails(page, page.link);
  return [html("p", { class: "note" }, "Choose a switch, a server or a link to see its figures here.")];
}

function deviceDetails(page, device) {
  const { fabric, loads, state } = page,
    { devices, strings } = fabric;
  const facts = [
    ["model", strings[devices.model[device]]],
    ["rack", strings[devices.rack[device]]],
    ["RU", devices.ru[device] || ""],
    ["ASN", devices.asn[device] || ""],
    ["loopback", devices.loopback[device]],
    ["management", devices.management[device]],
    ["links", speeds(fabric.linksOf(device), fabric.links.speed)],
    ["load", loads.deadDevice[device] ? "dead" : loadWords(loads.summary(fabric.linksOf(device)))],
  ].filter(([, value]) => value !== "" && value !== undefined);
  const server = devices.role[device] === SERVER;
  const actions = [
    fabric.podOf[device] >= 0 &&
      state.get("view") !== "pod" && [
        "Show in its pod",
        { view: "pod", pod: fabric.podList.length > 1 ? String(fabric.podList[fabric.podOf[device]].at + 1) : "" },
      ],
    server && ["Path from here", { view: "path", from: devices.name[device], nic: "" }],
    server && ["Path to here", { view: "path", to: devices.name[device], tonic: "" }],
    ["Choose nothing", { device: "" }],
  ].filter(Boolean);
  return [
    html("h3", {}, fabric.words(device)),
    factList(facts),
    html(
      "p",
      { class: "actions" },
      actions.map(([text, changes]) =>
        html("button", { type: "button", "data-key": text, onclick: () => state.set(changes) }, text),
      ),
    ),
    neighborTable(page, device),
  ];
}

function neighborTable({ fabric, loads, state }, device) {
  const { role } = fabric.devices;
  const most = 16,
    neighbors = [...groupsOf(fabric.linksOf(device), (link) => fabric.other(link, device))].sort(
      ([x], [y]) => (role[x] === SERVER) - (role[y] === SERVER) || x - y,
    );
  const rows = neighbors.slice(0, most).map(([other, links]) => {
    const found = loads.summary(links),
      port = (link) => fabric.strings[fabric.links[fabric.links.a[link] === device ? "aport" : "bport"][link]];
    return html(
      "tr",
      {},
      html("td", {}, deviceLink(state, fabric, other)),
      html("td", {}, speeds(links, fabric.links.speed)),
      html("td", {}, links.length > 3 ? `${port(links[0])} … ${port(links[links.length - 1])}` : links.map(port).join(", ")),
      html("td", { class: "number" }, found.live ? percent(found.mean) : "dead"),
      html("td", { class: "number" }, percent(found.worst)),
    );
  });
  const rest = neighbors.length - most;
  return html(
    "div",
    {},
    html(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": "Neighbors" },
      html(
        "table",
        { class: "plain" },
        headOf(["neighbor", "links", "ports here", "mean load", "highest load"]),
        html("tbody", {}, rows),
      ),
    ),
    rest > 0 ? html("p", { class: "note" }, `and ${counted(rest, "more neighbor")}; all are in the table of links.`) : null,
  );
}

function linkDetails({ fabric, loads, state }, link) {
  const { links, strings } = fabric,
    { up, down } = loads.scenario;
  const facts = [
    ["lower end", fabric.endWords(link, "a")],
    ["upper end", fabric.endWords(link, "b")],
    ["speed", `${links.speed[link]} Gb/s`],
    ["cable", [links.length[link] ? `${links.length[link]} m` : "", strings[links.medium[link]]].filter(Boolean).join(", ")],
    ["load up", loads.dead[link] ? "dead" : percent(up[link])],
    ["load down", loads.dead[link] ? "dead" : percent(down[link])],
  ].filter(([, value]) => value);
  return [
    html("h3", {}, "Link"),
    factList(facts),
    html("p", { class: "actions" }, deviceLink(state, fabric, links.a[link]), " ", deviceLink(state, fabric, links.b[link])),
  ];
}

/** Terms and values; `named` makes the term. */
function factList(facts, named = term) {
  return html(
    "dl",
    { class: "facts" },
    facts.map(([title, value]) => html("div", {}, html("dt", {}, named(title)), html("dd", {}, value))),
  );
}
