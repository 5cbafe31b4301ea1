// What links carry: one scenario in one direction. Loads are thousandths of a link's capacity.

const LOAD_CLASSES = [
  { title: "idle", colour: "--load-idle", below: 0.5 },
  { title: "under 25%", colour: "--load-0", below: 250 },
  { title: "25–50%", colour: "--load-1", below: 500 },
  { title: "50–75%", colour: "--load-2", below: 750 },
  { title: "75–90%", colour: "--load-3", below: 900 },
  { title: "90–100%", colour: "--load-4", below: 1000.5 }, // exactly 100% is not over it, nor is a sum's rounding
  { title: "100–125%", colour: "--load-5", below: 1250 },
  { title: "125–150%", colour: "--load-6", below: 1500 },
  { title: "over 150%", colour: "--load-7", below: Infinity },
  { title: "dead", colour: "--load-dead", below: Infinity },
];
const FULL = 1000.5;
const DEAD = LOAD_CLASSES.length - 1;

/** Class of a load. */
function loadClass(load) {
  let at = 0;
  while (load >= LOAD_CLASSES[at].below) at += 1;
  return at;
}

class Loads {
  /** `direction`: "up" from lower to upper end, "down", or "both" for the busier of the two. */
  constructor(scenario, direction, links, devices) {
    const { up, down } = scenario;
    this.scenario = scenario;
    this.busier = direction === "both";
    this.of = direction === "up" ? up : direction === "down" ? down : up.map((load, at) => Math.max(load, down[at]));
    this.dead = new Uint8Array(links);
    for (const link of scenario.dead) this.dead[link] = 1;
    this.deadDevice = new Uint8Array(devices);
    for (const device of scenario.dead_devices) this.deadDevice[device] = 1;
    this.class = Uint8Array.from(this.of, (load, link) => (this.dead[link] ? DEAD : loadClass(load)));
  }

  /** Of several links: how many, how many dead or over 100%, the mean and the busiest of those that live. */
  summary(links) {
    let sum = 0,
      dead = 0,
      over = 0,
      worst = -1,
      worstLink = -1;
    for (const link of links) {
      if (this.dead[link]) {
        dead += 1;
        continue;
      }
      const load = this.of[link];
      sum += load;
      if (load >= FULL) over += 1;
      if (load > worst) [worst, worstLink] = [load, link];
    }
    const live = links.length - dead;
    const mean = live ? sum / live : NaN;
    return {
      links: links.length,
      live,
      dead,
      over,
      busier: this.busier,
      mean,
      worst: Number.isNaN(mean) ? NaN : worst,
      worstLink,
      class: live ? loadClass(mean) : DEAD,
    };
  }
}

/** A summary in words. */
function loadWords(found) {
  if (!found.links) return "no links";
  if (Number.isNaN(found.mean) && found.live) return `${counted(found.links, "link")}, their loads not computed`;
  if (!found.live) return `${counted(found.links, "link")}, all dead`;
  const mean = `mean load ${percent(found.mean)}${found.busier ? " (busier direction of each link)" : ""}`;
  const words = [mean, `busiest ${percent(found.worst)}`];
  if (found.over) words.push(`${counted(found.over, "link")} over 100%`);
  if (found.dead) words.push(`${counted(found.dead, "link")} dead`);
  return words.join(", ");
}

/** What stands beside a colour, which is never the only sign: "3!" links over 100%, "2✕" dead ones. */
function badgeText(found) {
  return [found.over ? `${found.over}!` : "", found.dead ? `${found.dead}✕` : ""].filter(Boolean).join(" ");
}
