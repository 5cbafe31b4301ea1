// Tables as text for other programs.

/** A cell that a spreadsheet takes for a formula gets an apostrophe in front; numbers stay numbers. */
function harmless(value) {
  return typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
}

/** RFC 4180: quotes around what holds a comma, a quote or a line's end. */
function csv(titles, rows) {
  const cell = (value) => (/[",\r\n]/.test(harmless(value)) ? `"${harmless(value).replace(/"/g, '""')}"` : harmless(value));
  return [titles, ...rows].map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
}

/** For the clipboard: cells divided by tabs, as spreadsheets paste them. */
function tabbed(titles, rows) {
  return (
    [titles, ...rows].map((row) => row.map((value) => harmless(value).replace(/[\t\r\n]+/g, " ")).join("\t")).join("\n") +
    "\n"
  );
}

function download(name, text) {
  const address = URL.createObjectURL(new Blob(["\ufeff", text], { type: "text/csv;charset=utf-8" }));
  const anchor = html("a", { href: address, download: name });
  document.body.append(anchor);
  anchor.click();
  anchor.remove();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

/** Puts a text on the clipboard; where the browser forbids that to a file, by a hidden field. Tells whether it worked. */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = html("textarea", { class: "unseen", "aria-hidden": "true" });
    field.value = text;
    document.body.append(field);
    field.select();
    const worked = document.execCommand("copy");
    field.remove();
    return worked;
  }
}
