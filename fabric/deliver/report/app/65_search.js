// Search over all devices: every word must be found. "pod06 leaf 03", "b12 spine", "plane2 rail4".

const MATCHES_SHOWN = 10;

class Search {
  constructor(fabricOf, choose) {
    this.fabricOf = fabricOf;
    this.choose = choose;
    this.made = new Map();
    this.active = 0;
    this.found = [];
    this.list = html("ul", { role: "listbox", id: "matches", "aria-label": "Matches", hidden: true });
    this.status = html("span", { class: "unseen", role: "status" });
    this.field = html("input", {
      type: "search",
      role: "combobox",
      "aria-expanded": "false",
      "aria-controls": "matches",
      "aria-autocomplete": "list",
      autocomplete: "off",
      spellcheck: "false",
      placeholder: "pod06 leaf 03",
      oninput: () => this.look(),
      onkeydown: (event) => this.key(event),
      onblur: () => this.close(),
    });
    this.node = html(
      "div",
      { class: "field search" },
      html("label", {}, html("span", {}, "Find a device"), this.field),
      this.list,
      this.status,
    );
  }

  /** What each device is found by, switches first. Made once a fabric. */
  haystack(fabric) {
    if (!this.made.has(fabric)) {
      const order = range(fabric.size).sort(
        (x, y) => (fabric.devices.role[x] === SERVER) - (fabric.devices.role[y] === SERVER) || x - y,
      );
      this.made.set(
        fabric,
        order.map((device) => [device, searchText(fabric, device)]),
      );
    }
    return this.made.get(fabric);
  }

  look() {
    const fabric = this.fabricOf(),
      wanted = tokens(this.field.value);
    this.found = wanted.length
      ? this.haystack(fabric)
          .filter(([, text]) => wanted.every((token) => text.includes(token)))
          .map(([device]) => device)
      : [];
    const exact = fabric.byName.get(this.field.value.trim());
    if (exact !== undefined) this.found = [exact, ...this.found.filter((device) => device !== exact)];
    this.active = 0;
    const shown = this.found.slice(0, MATCHES_SHOWN);
    this.list.replaceChildren(
      ...shown.map((device, at) =>
        html(
          "li",
          {
            role: "option",
            id: `match-${at}`,
            "aria-selected": String(at === 0),
            onmousedown: (event) => {
              event.preventDefault();
              this.take(at);
            },
          },
          fabric.words(device),
        ),
      ),
    );
    const open = shown.length > 0;
    this.list.hidden = !open;
    this.field.setAttribute("aria-expanded", String(open));
    this.field.setAttribute("aria-activedescendant", open ? "match-0" : "");
    this.status.textContent = wanted.length ? counted(this.found.length, "device") : "";
    if (wanted.length && !open) this.list.replaceChildren();
  }

  key(event) {
    const shown = Math.min(this.found.length, MATCHES_SHOWN);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Enter" && shown) this.take(this.active);
    if (event.key === "Escape") this.close();
    if (!step || !shown) return;
    event.preventDefault();
    this.active = (this.active + step + shown) % shown;
    [...this.list.children].forEach((item, at) => item.setAttribute("aria-selected", String(at === this.active)));
    this.field.setAttribute("aria-activedescendant", `match-${this.active}`);
  }

  take(at) {
    const device = this.found[at];
    this.field.value = this.fabricOf().devices.name[device];
    this.close();
    this.choose(device);
  }

  close() {
    this.list.hidden = true;
    this.field.setAttribute("aria-expanded", "false");
    this.field.setAttribute("aria-activedescendant", "");
  }
}

function tokens(text) {
  return text.toLowerCase().split(/\s+/).filter(Boolean);
}

/** Name, role, model and place; numbers as `pod6`, `pod06` and `pod006`, since all are typed. */
function searchText(fabric, device) {
  const { devices, strings } = fabric;
  const place = ["pod", "unit", "plane", "rail"]
    .filter((word) => devices[word][device] >= 0)
    .flatMap((word) => [1, 2, 3].map((digits) => word + String(devices[word][device] + 1).padStart(digits, "0")));
  const texts = [strings[devices.model[device]], strings[devices.rack[device]], ...place];
  return [devices.name[device], ROLE_WORDS[devices.role[device]], ...texts].join(" ").toLowerCase();
}
