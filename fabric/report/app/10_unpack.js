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
  for (const fabric of report.fabrics) {
    unpackColumns(fabric.devices);
    unpackColumns(fabric.links);
    fabric.scenarios.forEach(unpackColumns);
  }
  return report;
}

/** Columns of integers may come as differences: `{"delta": [first, difference, …]}`. */
function unpackColumns(columns) {
  for (const [name, column] of Object.entries(columns)) {
    if (!column || !Array.isArray(column.delta)) continue;
    let value = 0;
    columns[name] = column.delta.map((step) => (value += step));
  }
}
