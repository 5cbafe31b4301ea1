// The document of the page: base64 → gzip → JSON → columns.

/** Parses the data of the page. Throws an Error whose message is meant for the reader. */
async function unpack(text) {
  if (typeof DecompressionStream === "undefined") {
    throw new Error(
      "This browser is too old for the interactive views (it has no DecompressionStream). What is below works.",
    );
  }
  const bytes = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const report = JSON.parse(await new Response(stream).text());
  report.addresses = unpackAddresses(report.addresses);
  for (const fabric of report.fabrics) {
    unpackColumns(fabric.devices);
    unpackColumns(fabric.links);
    fabric.scenarios.forEach(unpackColumns);
  }
  return report;
}

/** IPv4 addresses come as the difference from the one before. */
function unpackAddresses(addresses) {
  let last = 0;
  return addresses.map((item) => {
    if (typeof item !== "number") return item;
    last += item;
    return `${Math.floor(last / 16777216)}.${(last >> 16) & 255}.${(last >> 8) & 255}.${last & 255}`;
  });
}

/** Columns of integers may come as differences, `{"delta": [first, difference, …]}`, or as letters that stand for values. */
function unpackColumns(columns) {
  for (const [name, column] of Object.entries(columns)) {
    if (column && typeof column.letters === "string") columns[name] = unpackLetters(column);
    if (!column || !Array.isArray(column.delta)) continue;
    let value = 0;
    columns[name] = column.delta.map((step) => (value += step));
  }
}

/** "#" is the first value; a backslash is none. */
function unpackLetters({ of, letters }) {
  const column = new Array(letters.length);
  for (let at = 0; at < letters.length; at += 1) {
    const code = letters.charCodeAt(at);
    column[at] = of[code - (code > 92 ? 36 : 35)];
  }
  return column;
}
