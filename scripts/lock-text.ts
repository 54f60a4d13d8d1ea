// Makes the text of a lock file from its .in file and the resolved pins, and lists changes. Pure.
import {
  nameKey,
  type Pin,
  pinText,
  readPin,
  readSections,
  sections,
} from "../pipelines/steps/environment/lock-file.ts";

type Resolved = NonNullable<ReturnType<typeof readPin<{ text: string }>>>;

/** Reads uv's output as pins. Throws on any other line, since uv resolves to pins only. */
export function resolvedPins(text: string): Resolved[] {
  // uv has no sections; one section holds all of its lines
  return readSections(`# section: wheels\n${text}`, "uv").entries.map((entry) => {
    const pin = readPin({ text: entry.text });
    if (!pin) throw new Error(`bug: uv resolved to "${entry.text}", which is not a pin`);
    return pin;
  });
}

/** The lock file's text, or the problems of the .in file `file`. */
export function lockText(input: string, resolved: Resolved[], file: string): string | { problems: string[] } {
  const { entries, problems } = readSections(input, file);
  const left = leftToUnhashed(input);
  const placed = new Map(entries.map((entry) => [nameKey(/^[\w.-]+/.exec(entry.text)?.[0] ?? ""), entry]));
  const parts: string[] = [];
  for (const section of sections) {
    const comments = commentsOf(input, section);
    if (comments === undefined) continue;
    parts.push(`\n# section: ${section}\n${comments}`);
    if (section === "unhashed") {
      for (const entry of entries.filter((one) => one.section === section)) {
        const pin = readPin(entry);
        if (pin?.hashes.length === 0) parts.push(`${pinText(pin)}\n`);
        else
          problems.push(
            `${file}:${entry.line}: "${entry.text}" is not NAME==VERSION, which section unhashed needs`,
          );
      }
      continue;
    }
    const wanted = resolved.filter(({ key }) => (placed.get(key)?.section ?? "wheels") === section);
    for (const pin of wanted.sort((a, b) => (a.key < b.key ? -1 : 1))) {
      if (left.some((form) => form.test(pin.key)) && !placed.has(pin.key)) continue;
      const { only = [], without } = placed.get(pin.key) ?? {};
      if (only.length > 0) parts.push(`# only: ${only.join(" ")}\n`);
      if (without) parts.push(`# without: ${without}\n`);
      parts.push(`${pinText(pin)}\n`);
    }
  }
  if (commentsOf(input, "wheels") === undefined)
    problems.push(`${file}: it has no line "# section: wheels", where dependencies belong`);
  if (problems.length > 0) return { problems };
  const header = input.slice(0, input.search(/^# section:/m)).trimEnd();
  return `# Made by scripts/update-environment.ts from ${file.split("/").at(-1)}, which is what to edit.\n${header}\n${parts.join("")}`;
}

/** One line for each changed pin, in the order of names. */
export function lockChanges(before: Pin[], after: Pin[]): string[] {
  const [old, now] = [before, after].map((pins) => new Map(pins.map((pin) => [pin.key, pin])));
  const said = (pin: Pin) => `${pin.version}${pin.marker ? ` ; ${pin.marker}` : ""}`;
  return [...new Set([...old!.keys(), ...now!.keys()])].sort().flatMap((key) => {
    const [was, is] = [old!.get(key), now!.get(key)];
    if (!was) return [`+ ${is!.name} ${said(is!)}`];
    if (!is) return [`- ${was.name} ${said(was)}`];
    if (said(was) !== said(is)) return [`~ ${is.name} ${said(was)} -> ${said(is)}`];
    const gone = was.hashes.filter((hash) => !is.hashes.includes(hash)).length;
    const come = is.hashes.filter((hash) => !was.hashes.includes(hash)).length;
    if (gone + come > 0) return [`~ ${is.name} ${is.version}: ${come} more files, ${gone} fewer`];
    return was.section === is.section ? [] : [`~ ${is.name} ${is.version}: now in section ${is.section}`];
  });
}

/** `# leave: cuda-* nvidia-*` names dependencies that differ between builds of unhashed packages. */
function leftToUnhashed(input: string): RegExp[] {
  const said = /^# leave: (.+)$/m.exec(input)?.[1]?.trim().split(/\s+/) ?? [];
  return said.map((glob) => new RegExp(`^${nameKey(glob).replaceAll("*", ".*")}$`));
}

/** The comments at the start of a section; undefined where the section is missing. */
function commentsOf(input: string, section: string): string | undefined {
  const [, after] =
    new RegExp(`^# section: ${section}\\s*\\n((?:#.*\\n|\\s*\\n)*)`, "m").exec(`${input}\n`) ?? [];
  return after
    ?.split("\n")
    .filter((line) => line.startsWith("#") && !/^# (section|only|without):/.test(line))
    .map((line) => `${line}\n`)
    .join("");
}
