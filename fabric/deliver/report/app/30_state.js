// What the reader looks at, kept in the address of the page: a view can be shared, and comes back when the page does.

const START = {
  fabric: "",
  scenario: "",
  direction: "both",
  view: "",
  theme: "auto",
  pod: "",
  group: "",
  device: "",
  link: "",
  plane: "",
  rail: "",
  unit: "",
  from: "",
  to: "",
  nic: "",
  tonic: "",
};

class State {
  constructor() {
    this.listeners = [];
    this.values = { ...START };
    this.read();
    window.addEventListener("hashchange", () => {
      this.read();
      this.tell();
    });
  }

  /** From the address; a plain `#section` is none of ours and changes nothing. */
  read() {
    const hash = location.hash.slice(1);
    if (!hash.includes("=")) return;
    const found = new URLSearchParams(hash);
    for (const name of Object.keys(START)) this.values[name] = found.get(name) ?? START[name];
  }

  get(name) {
    return this.values[name];
  }

  /** Changes some values and redraws; "" is what the page chooses by itself. */
  set(changes) {
    Object.assign(this.values, changes);
    const changed = Object.entries(this.values).filter(([name, value]) => value !== START[name]);
    const hash = new URLSearchParams(changed.map(([name, value]) => [name, String(value)])).toString();
    history.replaceState(null, "", "#" + (hash || "view="));
    this.tell();
  }

  tell() {
    for (const listener of this.listeners) listener();
  }
}
