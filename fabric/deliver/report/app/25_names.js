// Names that fit: the whole name, else what tells it from its neighbors, else its number.

/** The labels of some devices of one role, all of one form, each at most `room` pixels wide; null where none fits. */
function labelsThatFit(fabric, devices, room, size = 11) {
  const prefix = commonPrefix(fabric, devices.length ? fabric.devices.role[devices[0]] : SERVER);
  const word = prefix.slice(
    Math.max(...["-", "_", ".", " ", ":"].map((mark) => prefix.lastIndexOf(mark, prefix.length - 2))) + 1,
  );
  const forms = [
    (name) => name,
    (name) => word + name.slice(prefix.length),
    (name) => name.slice(prefix.length),
    (name, device) => String(fabric.devices.number[device]),
  ];
  for (const form of forms) {
    const labels = devices.map((device) => form(fabric.devices.name[device], device));
    if (labels.every((label) => label && textWidth(label, size) <= room)) return labels;
  }
  return null;
}

/** What all names of a role begin with, their numbers left whole. */
function commonPrefix(fabric, role) {
  if (!fabric.prefixes.has(role)) {
    const names = fabric.withRole(role).map((device) => fabric.devices.name[device]);
    let prefix = names.reduce((common, name) => {
      let at = 0;
      while (at < common.length && common[at] === name[at]) at += 1;
      return common.slice(0, at);
    }, names[0] || "");
    if (names.length > 1 || /\d$/.test(prefix)) prefix = prefix.replace(/\d+$/, "");
    fabric.prefixes.set(role, prefix);
  }
  return fabric.prefixes.get(role);
}
