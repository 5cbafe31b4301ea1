// What the pictures share.

/**
 * `count` boxes in a row: where each begins and how wide it is. Boxes narrower than `least` make the row wider than the
 * room. `apart` tells how many wider gaps stand before a box.
 */
function rowOf(count, from, room, { least, most = Infinity, gap = 4, apart = () => 0 }) {
  const wider = 14,
    gaps = (count - 1) * gap + apart(count - 1) * wider;
  const width = Math.max(least, Math.min(most, (room - gaps) / Math.max(count, 1)));
  const at = (place) => from + place * (width + gap) + apart(place) * wider;
  return { width, at, middle: (place) => at(place) + width / 2, end: at(count - 1) + width };
}

function words(x, y, text, attributes = {}) {
  return svg("text", { x, y, ...attributes }, text);
}

/** Text in the middle of a box. */
function middleText(x, y, text, attributes = {}) {
  return words(x, y, text, { "text-anchor": "middle", ...attributes });
}

/** Shapes of one load class become one path each: a few nodes instead of thousands. */
class Inks {
  constructor(kind) {
    this.kind = kind; // "fill" or "line"
    this.paths = LOAD_CLASSES.map(() => []);
  }

  rect(at, x, y, width, height) {
    this.paths[at].push(`M${x.toFixed(2)} ${y.toFixed(2)}h${width.toFixed(2)}v${height.toFixed(2)}h${(-width).toFixed(2)}z`);
  }

  line(at, x, y, toX, toY) {
    this.paths[at].push(`M${x.toFixed(1)} ${y.toFixed(1)}L${toX.toFixed(1)} ${toY.toFixed(1)}`);
  }

  nodes(extra = "") {
    return this.paths.flatMap((shapes, at) =>
      shapes.length ? [svg("path", { class: `${this.kind}${at} ${extra}`, d: shapes.join("") })] : [],
    );
  }
}

/** From one point down to another. */
function curve(x, y, toX, toY) {
  const half = (y + toY) / 2;
  return `M${x.toFixed(1)} ${y}C${x.toFixed(1)} ${half} ${toX.toFixed(1)} ${half} ${toX.toFixed(1)} ${toY}`;
}

/** A picture as wide as the room or wider; then it scrolls. */
function picture(label, width, height, room, ...children) {
  const drawn = svg(
    "svg",
    { width, height, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": label, class: "picture" },
    ...children,
  );
  return scrolling(label, width, room, drawn);
}

function scrolling(label, width, room, node) {
  return width > room + 1
    ? html("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `${label}; scrolls sideways` }, node)
    : node;
}

/** A box that can be chosen: a group with a role, a name for those who do not see it, and what happens on click. */
function choice({ key, row, label, pressed, act }, ...children) {
  return svg(
    "g",
    {
      class: "choice",
      role: "button",
      "aria-label": label,
      "aria-pressed": String(Boolean(pressed)),
      "data-key": key,
      "data-row": row,
      onclick: act,
    },
    svg("title", {}, label), // for those who point at it
    ...children,
  );
}
