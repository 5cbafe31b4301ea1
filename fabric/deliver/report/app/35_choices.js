// Form controls: plain radio buttons, lists and fields, so that the keyboard works as everywhere.

/** Radio buttons side by side. `options` are [value, label] pairs. */
function segments(name, label, options, chosen, choose) {
  const buttons = options.map(([value, text]) =>
    html(
      "label",
      {},
      html("input", {
        type: "radio",
        name,
        value,
        checked: value === chosen,
        "data-key": `${name}-${value}`,
        onchange: () => choose(value),
      }),
      html("span", {}, text),
    ),
  );
  return html("fieldset", { class: "segments" }, html("legend", {}, term(label)), ...buttons);
}

/** A drop-down list. */
function picker(name, label, options, chosen, choose) {
  const list = html(
    "select",
    { "data-key": name, onchange: (event) => choose(event.target.value) },
    options.map(([value, text]) => html("option", { value, selected: value === chosen }, text)),
  );
  return html("label", { class: "field" }, html("span", {}, label), list);
}

/** A field with suggestions; `change` is called when the reader is done with it. */
function suggesting(name, label, list, value, change) {
  const field = html("input", {
    type: "text",
    list,
    value,
    "data-key": name,
    autocomplete: "off",
    spellcheck: "false",
    onchange: (event) => change(event.target.value.trim()),
  });
  return html("label", { class: "field" }, html("span", {}, label), field);
}

/** A list of [value, text] pairs with one in front that stands for all. */
function withAll(all, pairs) {
  return [["", all], ...pairs];
}

/** Arrow keys move between the elements of a picture that carry `data-row`; only one of them is a tab stop. */
function roving(picture) {
  const items = [...picture.querySelectorAll("[data-row]")];
  const chosen = items.find((item) => item.getAttribute("aria-pressed") === "true") || items[0];
  for (const item of items) item.setAttribute("tabindex", item === chosen ? "0" : "-1");
  picture.addEventListener("keydown", (event) => {
    const at = items.indexOf(event.target.closest("[data-row]"));
    if (at < 0) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      items[at].dispatchEvent(new MouseEvent("click", { bubbles: true }));
      return;
    }
    const next = neighbor(items, at, event.key);
    if (next === undefined) return;
    event.preventDefault();
    items[at].setAttribute("tabindex", "-1");
    next.setAttribute("tabindex", "0");
    next.focus();
  });
}

/** The item that a key leads to: along a row, or to the nearest of the next row. */
function neighbor(items, at, key) {
  const row = items.filter((item) => item.dataset.row === items[at].dataset.row);
  const place = row.indexOf(items[at]);
  if (key === "Home") return row[0];
  if (key === "End") return row[row.length - 1];
  if (key === "ArrowLeft") return row[place - 1];
  if (key === "ArrowRight") return row[place + 1];
  const step = { ArrowUp: -1, ArrowDown: 1 }[key];
  if (!step) return undefined;
  const rows = [...new Set(items.map((item) => item.dataset.row))];
  const wanted = rows[rows.indexOf(items[at].dataset.row) + step];
  const middle = (item) => item.getBoundingClientRect().left + item.getBoundingClientRect().width / 2;
  const here = middle(items[at]);
  return items
    .filter((item) => item.dataset.row === wanted)
    .reduce(
      (best, item) => (best && Math.abs(middle(best) - here) <= Math.abs(middle(item) - here) ? best : item),
      undefined,
    );
}
