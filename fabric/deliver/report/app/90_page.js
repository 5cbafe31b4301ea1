// The page: controls above, one view, what is chosen below it.

const VIEWS = [SCHEMATIC, LOAD_MAP, POD, LADDER];
const DIRECTIONS = [
  ["both", "Busier"],
  ["up", "Up"],
  ["down", "Down"],
];

class Page {
  constructor(report, root) {
    this.report = report;
    this.root = root;
    this.state = new State();
    this.made = new Map();
    this.search = new Search(
      () => this.fabric,
      (device) => this.find(device),
    );
    this.controls = html("div", { class: "inner" });
    this.legend = html("div", { class: "legend" });
    this.title = html("h3");
    this.what = html("p", { class: "note" });
    this.stage = html("div", { class: "stage" });
    this.details = html("div", { class: "chosen-details" });
    this.status = html("p", { class: "unseen", "aria-live": "polite" });
    root.replaceChildren(
      html("div", { class: "controls" }, this.controls, this.search.node),
      html("div", { class: "shown" }, this.title, this.what, this.legend, this.stage),
      this.details,
      this.status,
    );
    this.state.listeners.push(() => this.draw());
    new ResizeObserver(() => this.stage.clientWidth !== this.drawnWidth && this.draw()).observe(this.stage);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  fabricAt(at) {
    if (!this.made.has(at)) this.made.set(at, new Fabric(this.report, at));
    return this.made.get(at);
  }

  get fabric() {
    const at = this.report.fabrics.findIndex((fabric) => fabric.name === this.state.get("fabric"));
    return this.fabricAt(Math.max(at, 0));
  }

  /** A device that the search found: chosen, and seen in the view that is open; the ladder takes a server as its end. */
  find(device) {
    const { fabric, state } = this,
      name = fabric.devices.name[device];
    const open = this.view(fabric),
      path = open === LADDER && fabric.devices.role[device] === SERVER ? { to: name, tonic: "" } : {};
    state.set({ device: name, link: "", pod: "", group: "", plane: "", rail: "", unit: "", ...path });
  }

  view(fabric) {
    const offered = VIEWS.filter((view) => view.offered(fabric));
    return offered.find((view) => view.name === this.state.get("view")) || (fabric.groups.length ? SCHEMATIC : POD);
  }

  draw() {
    performance.mark("draw");
    const { fabric, state } = this,
      view = this.view(fabric),
      device = fabric.byName.get(state.get("device")),
      link = Number(state.get("link"));
    applyTheme(state.get("theme"));
    const loads = fabric.loads(state.get("scenario"), state.get("direction"));
    Object.assign(this, {
      loads,
      device: device ?? -1,
      link: state.get("link") !== "" && link < fabric.links.a.length ? link : -1,
    });
    this.drawnWidth = this.stage.clientWidth;
    this.width = this.drawnWidth - 24; // the stage's padding
    keepingFocus(this.root, () => {
      this.controls.replaceChildren(...this.controlNodes(fabric, view));
      this.title.textContent = this.titleOf(fabric, view, loads);
      this.what.textContent = loads.scenario.what;
      this.legend.replaceChildren(...legendNodes(fabric, loads, view));
      this.stage.replaceChildren(...view.draw(this).filter(Boolean));
      this.details.replaceChildren(...detailsOf(this));
    });
    this.status.textContent =
      this.device >= 0 ? fabric.words(this.device) : this.link >= 0 ? fabric.linkWords(this.link, loads) : "";
    performance.measure("draw", "draw");
  }

  /** What a picture shows, for those who see nothing else of the page. */
  titleOf(fabric, view, { scenario }) {
    const switches = fabric.devices.role.filter((role) => role !== SERVER && role !== ATTACHED).length;
    const size = `${counted(fabric.withRole(SERVER).length, "server")}, ${counted(switches, "switch", "switches")}`;
    return `${this.report.site} ${fabric.name} (${size}): ${view.shows}${scenario.name ? `, ${scenario.name}` : ""}`;
  }

  controlNodes(fabric, view) {
    const { state, report } = this,
      nothing = {
        device: "",
        link: "",
        pod: "",
        group: "",
        plane: "",
        rail: "",
        unit: "",
        from: "",
        to: "",
        nic: "",
        tonic: "",
      };
    const scenarios = fabric.scenarios.map(({ name }) => [name, name]);
    return [
      segments(
        "view",
        "View",
        VIEWS.filter((each) => each.offered(fabric)).map((each) => [
          each.name,
          each === POD && fabric.podList.length === 1 ? "Leaves and spines" : each.title,
        ]),
        view.name,
        (value) => state.set({ view: value }),
      ),
      report.fabrics.length > 1 &&
        picker(
          "fabric",
          "Fabric",
          report.fabrics.map(({ name }) => [name, name]),
          fabric.name,
          (value) => state.set({ ...nothing, scenario: "", fabric: value }),
        ),
      scenarios.length > 0 &&
        picker("scenario", "Load", scenarios, this.loads.scenario.name, (value) => state.set({ scenario: value })),
      scenarios.length > 0 &&
        view !== LADDER && // which shows each hop in the direction that it is crossed
        segments("direction", "Direction", DIRECTIONS, state.get("direction"), (value) => state.set({ direction: value })),
    ].filter(Boolean);
  }
}

/** How the figures in a picture read. */
const SIGNS = [
  ["", "In the picture:"],
  ["109%", "mean load of the links, which gives the color"],
  ["3!", "3 of them over 100%"],
  ["2✕", "2 dead"],
  ["×16", "a bundle of 16"],
];

/** Classes of load with the number of links in each: a key to the colours and a histogram in one; then the signs. */
function legendNodes(fabric, loads, view) {
  if (!fabric.scenarios.length) return [];
  const counts = LOAD_CLASSES.map(() => 0);
  for (const link of fabric.between) counts[loads.class[link]] += 1;
  return [
    html(
      "span",
      { class: "legend-title" },
      term("Color"),
      ": ",
      fabric.between.some((link) => isTrunk(fabric.links.kind[link])) ? "links between switches by " : "links by ",
      term("load"),
    ),
    ...LOAD_CLASSES.flatMap(({ title }, at) =>
      at === DEAD && !counts[at]
        ? []
        : [
            html(
              "span",
              { class: "key" },
              svg(
                "svg",
                { width: 14, height: 14, "aria-hidden": "true" },
                svg("rect", { x: 0.5, y: 0.5, width: 13, height: 13, class: `fill${at} keyed` }),
              ),
              `${title}: `,
              html("b", {}, thousands(counts[at])),
            ),
          ],
    ),
    html("span", { class: "break" }),
    ...(view === LOAD_MAP ? [] : SIGNS).map(([sign, means]) =>
      html("span", sign ? { class: "key" } : { class: "legend-title" }, sign && html("b", {}, sign), means),
    ),
  ];
}

function applyTheme(theme) {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

function themeControl(state) {
  const node = document.getElementById("theme");
  const draw = () =>
    keepingFocus(node, () =>
      node.replaceChildren(
        segments(
          "theme",
          "Theme",
          [
            ["auto", "Auto"],
            ["light", "Light"],
            ["dark", "Dark"],
          ],
          state.get("theme"),
          (value) => state.set({ theme: value }),
        ),
      ),
    );
  state.listeners.push(draw);
  draw();
}

async function start() {
  const root = document.getElementById("views"),
    begin = performance.now();
  try {
    for (const button of document.querySelectorAll("button.term")) button.title = meaningOf(button.textContent);
    const sections = document.getElementById("sections");
    sections.addEventListener("click", () => sections.matches(":popover-open") && sections.hidePopover());
    const report = await unpack(document.getElementById("fabric-data").textContent);
    const page = new Page(report, root);
    themeControl(page.state);
    page.draw();
    document.getElementById("table-views").replaceChildren(...tableViews(report, (at) => page.fabricAt(at), page.state));
    document.documentElement.dataset.ready = String(Math.round(performance.now() - begin));
  } catch (problem) {
    document.documentElement.dataset.failed = "";
    root.replaceChildren(html("p", { class: "status warn", role: "alert" }, problem.message));
    if (typeof DecompressionStream !== "undefined") throw problem;
  }
}

start();
