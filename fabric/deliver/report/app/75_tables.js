// Tables: the first rows shown, all of them searched, sorted, copied and printed.

const ROWS_SHOWN = 200;
const ROWS_PRINTED = 480; // of all tables together, unless the reader filters one
const ROWS_PRINTED_LEAST = 20; // of each
const ROWS_PRINTED_FILTERED = 400;

class Table {
  constructor(report, given, fabric, state) {
    Object.assign(this, { report, given, fabric, state, shown: ROWS_SHOWN, filter: "", sorted: -1, descending: false });
    this.all = Int32Array.from(given.rows.flatMap(([first, end]) => range(end - first).map((at) => first + at)));
    this.rows = this.all;
    this.columns = given.columns.filter((column, at) => at === 0 || this.says(column));
  }

  /** Whether a column says anything at all; one of nothing but blanks is left out. */
  says(column) {
    return this.all.some((row) => this.value(column, row) !== "");
  }

  /** The value of a column at a row, looked up step after step. */
  value(column, row) {
    let value = row;
    for (const step of column.via) {
      const [table, name] = step.split(".");
      const values = name ? this.fabric[table][name] : this.report[table];
      if (value < 0) return "";
      value = values[value];
    }
    if (typeof value !== "number") return value;
    return value < 0 || (value === 0 && column.blank) ? "" : value + (column.add || 0);
  }

  /** The device that a column names, -1 where it names none. */
  deviceAt(column, row) {
    const via = column.via;
    if (via[via.length - 1] !== "devices.name") return -1;
    return via.length === 1 ? row : this.fabric[via[0].split(".")[0]][via[0].split(".")[1]][row];
  }

  /** All rows as text, made at the first search. */
  get texts() {
    this.made ??= new Map(
      Array.from(this.all, (row) => [
        row,
        this.columns
          .map((column) => this.value(column, row))
          .join(" ")
          .toLowerCase(),
      ]),
    );
    return this.made;
  }

  look() {
    const wanted = tokens(this.filter);
    this.rows = wanted.length
      ? this.all.filter((row) => wanted.every((token) => this.texts.get(row).includes(token)))
      : this.all.slice();
    if (this.sorted < 0) return;
    const column = this.columns[this.sorted],
      sign = this.descending ? -1 : 1;
    const keys = new Map(Array.from(this.rows, (row) => [row, this.value(column, row)]));
    const order = new Intl.Collator("en", { numeric: true }).compare;
    this.rows.sort((x, y) => {
      const [left, right] = [keys.get(x), keys.get(y)];
      if (left === "" || right === "") return (left === "") - (right === "") || x - y; // blanks last, either way
      return sign * (column.number ? left - right : order(left, right)) || x - y;
    });
  }

  get titles() {
    return this.columns.map((column) => column.title + (column.unit ? `, ${column.unit}` : ""));
  }

  values() {
    return Array.from(this.rows, (row) => this.columns.map((column) => this.value(column, row)));
  }

  /** The section of the page that holds this table. */
  node(heading) {
    this.body = html("tbody");
    this.status = html("p", { class: "note", role: "status" });
    this.cut = html("p", { class: "cut" });
    this.more = html("button", { type: "button", onclick: () => this.showMore() });
    const section = html(
      "details",
      { class: "table", open: this.given.id === "switches" },
      html("summary", {}, html("span", { class: "summary" }, heading), ` (${thousands(this.all.length)})`),
      this.controls(),
      this.status,
      html(
        "div",
        { class: "scroll", tabindex: "0", role: "region", "aria-label": `${heading}, table` },
        html("table", { class: "plain" }, html("caption", { class: "unseen" }, heading), this.head(), this.body),
      ),
      this.cut,
      html("p", { class: "more" }, this.more),
    );
    section.addEventListener("toggle", () => section.open && !this.body.firstChild && this.draw());
    if (section.open) this.draw();
    return section;
  }

  /** The head; a click on a title sorts. */
  head() {
    this.heads = this.titles.map((title, at) => {
      const look = { type: "button", class: "sort", title: meaningOf(title) || null };
      const sort = html("button", { ...look, onclick: () => this.sort(at) }, title);
      return html("th", { scope: "col", class: this.columns[at].number ? "number" : null }, sort);
    });
    return html("thead", {}, html("tr", {}, this.heads));
  }

  controls() {
    const title = this.given.title.toLowerCase();
    const search = (event) => this.search(event.target.value);
    const field = html("input", { type: "search", spellcheck: "false", autocomplete: "off", oninput: search });
    const button = (text, act) => html("button", { type: "button", "aria-label": `${text}: ${title}`, onclick: act }, text);
    return html(
      "div",
      { class: "controls" },
      html("label", { class: "field" }, html("span", {}, `Filter ${title}`), field),
      ...this.columnsKey(title),
      button("Copy", () => this.copy()),
      button("Download CSV", () => download(this.fileName, csv(this.titles, this.values()))),
    );
  }

  /** What the columns mean. */
  columnsKey(title) {
    const id = `columns-${this.fabric.at}-${this.given.id}`;
    const known = this.titles.map((name) => [name, meaningOf(name)]).filter(([, meaning]) => meaning);
    return [
      html("button", { type: "button", "aria-label": `Columns: ${title}`, popovertarget: id }, "Columns"),
      html("div", { id, popover: "", class: "columns-key" }, factList(known, (name) => name)),
    ];
  }

  get fileName() {
    return `${this.report.site}-${this.fabric.name}-${this.given.id}`.replace(/[^\w.-]+/g, "_") + ".csv";
  }

  async copy() {
    const worked = await copy(tabbed(this.titles, this.values()));
    this.status.textContent = worked ? `${counted(this.rows.length, "row")} copied.` : "The browser does not allow copying.";
  }

  search(text) {
    this.filter = text;
    this.shown = ROWS_SHOWN;
    this.look();
    this.draw();
  }

  sort(at) {
    this.descending = this.sorted === at && !this.descending;
    this.sorted = at;
    this.look();
    this.draw();
  }

  showMore() {
    const before = this.shown;
    this.shown += ROWS_SHOWN;
    this.draw();
    if (this.more.hidden) this.body.rows[before]?.querySelector("a")?.focus({ preventScroll: true });
  }

  /** Rows as far as `count`; on paper names are no links. */
  draw(count = this.shown, paper = false) {
    this.body.replaceChildren(
      ...Array.from(this.rows.slice(0, count), (row) =>
        html(
          "tr",
          {},
          this.columns.map((column) => this.cell(column, row, paper)),
        ),
      ),
    );
    this.heads.forEach((head, at) => {
      if (at === this.sorted) head.setAttribute("aria-sort", this.descending ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    const rows = this.rows.length,
      left = rows - count;
    this.status.textContent =
      rows > count ? `${thousands(count)} of ${counted(rows, "row")} shown.` : `${counted(rows, "row")}.`;
    this.cut.textContent =
      left > 0 ? `The first ${thousands(count)} of ${thousands(rows)}: filter the table to print others, or download the CSV.` : "";
    this.more.hidden = left <= 0;
    this.more.textContent = `Show ${thousands(Math.min(ROWS_SHOWN, left))} more`;
  }

  cell(column, row, paper) {
    const device = paper ? -1 : this.deviceAt(column, row),
      value = this.value(column, row);
    const shown = device >= 0 ? deviceLink(this.state, this.fabric, device) : String(value);
    return html("td", column.number ? { class: "number" } : {}, shown);
  }
}

/** All tables of the page. Printing opens all of them, with their first rows, or those that a filter leaves. */
function tableViews(report, fabricAt, state) {
  const several = report.fabrics.length > 1;
  const made = report.tables.map((given) => new Table(report, given, fabricAt(given.fabric), state));
  const nodes = made.map((table) => table.node(several ? `${table.fabric.name}: ${table.given.title}` : table.given.title));
  const folded = [...nodes, ...document.querySelectorAll("details.findings-rest")];
  let closed = [];
  window.addEventListener("beforeprint", () => {
    if (!document.getElementById("print-all").checked) return;
    closed = folded.filter((node) => !node.open);
    for (const node of closed) node.open = true;
    const all = made.reduce((sum, table) => sum + table.rows.length, 0);
    const each = all <= ROWS_PRINTED ? all : Math.max(ROWS_PRINTED_LEAST, Math.floor(ROWS_PRINTED / made.length));
    for (const table of made) table.draw(Math.min(table.rows.length, table.filter ? ROWS_PRINTED_FILTERED : each), true);
  });
  window.addEventListener("afterprint", () => {
    for (const node of closed) node.open = false;
    for (const table of made) table.draw();
  });
  return nodes;
}
