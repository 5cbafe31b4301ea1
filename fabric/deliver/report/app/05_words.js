// Numbers and loads as a person reads them.

const grouped = new Intl.NumberFormat("en-US");

function thousands(number) {
  return grouped.format(number);
}

/** "1 link", "1,280 switches". */
function counted(number, one, many = one + "s") {
  return `${thousands(number)} ${number === 1 ? one : many}`;
}

/** Thousandths of a capacity in percent. */
function percent(load) {
  return Number.isFinite(load) ? `${Math.round(load / 10)}%` : "–";
}

/** The number in a name that a person reads from 1; "" where there is none. */
function from1(number) {
  return number >= 0 ? String(number + 1) : "";
}

/** "2 × 400G" of a number of links of one speed; every speed of a mix is listed. */
function speeds(links, speed) {
  const found = new Map();
  for (const link of links) found.set(speed[link], (found.get(speed[link]) || 0) + 1);
  return [...found]
    .sort((x, y) => y[0] - x[0])
    .map(([gbps, count]) => `${count} × ${gbps}G`)
    .join(" + ");
}

/** Bandwidth in the unit that keeps it short. */
function bandwidth(gbps) {
  return gbps >= 1000 ? `${grouped.format(Math.round(gbps / 10) / 100)} Tb/s` : `${thousands(gbps)} Gb/s`;
}
