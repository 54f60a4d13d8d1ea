export type LineChange = { kind: "same" | "gone" | "new"; text: string };

/** How many equal lines are kept on both sides of a change. */
const around = 2;

/** The lines in which two texts differ, between their equal beginning and end. */
export function lineChanges(before: string, after: string): LineChange[] {
  const [old, now] = [before, after].map((text) =>
    text === "" ? [] : text.replace(/\n$/, "").split("\n"),
  ) as [string[], string[]];
  const most = Math.min(old.length, now.length);
  let start = 0;
  while (start < most && old[start] === now[start]) start++;
  let end = 0;
  while (end < most - start && old[old.length - 1 - end] === now[now.length - 1 - end]) end++;
  const of = (kind: LineChange["kind"], lines: string[]) => lines.map((text): LineChange => ({ kind, text }));
  return [
    ...of("same", old.slice(Math.max(0, start - around), start)),
    ...of("gone", old.slice(start, old.length - end)),
    ...of("new", now.slice(start, now.length - end)),
    ...of("same", now.slice(now.length - end, now.length - end + around)),
  ];
}

/** How much of an equal beginning of two long lines is kept before their difference, in characters. */
const lead = 40;

/**
 * At most about `max` characters of the lines of each kind, with the number of lines left out. The first old and new
 * line keep the place where they differ.
 */
export function clipChanges(changes: LineChange[], max: number): LineChange[] {
  const firsts = (["gone", "new"] as const).map((kind) => changes.find((one) => one.kind === kind)?.text);
  const same = equalLength(firsts[0] ?? "", firsts[1] ?? "");
  const rooms = { same: max, gone: max, new: max };
  const left = { same: 0, gone: 0, new: 0 };
  const clipped: LineChange[] = [];
  for (const { kind, text } of changes) {
    if (rooms[kind] <= 0) {
      left[kind]++;
      continue;
    }
    const isFirst = kind !== "same" && rooms[kind] === max;
    const from = isFirst && text.length > max && same > lead ? same - lead : 0;
    const begun = from > 0 ? `…${text.slice(from)}` : text;
    const room = rooms[kind];
    rooms[kind] -= begun.length + 1;
    clipped.push({ kind, text: begun.length > room ? `${begun.slice(0, room - 1)}…` : begun });
  }
  for (const kind of ["gone", "new"] as const) {
    const last = clipped.findLastIndex((one) => one.kind === kind);
    if (left[kind] > 0) clipped.splice(last + 1, 0, { kind, text: `… ${left[kind]} more lines` });
  }
  return clipped;
}

/** Length of the equal beginning of two texts. */
function equalLength(one: string, other: string): number {
  let at = 0;
  while (at < one.length && at < other.length && one[at] === other[at]) at++;
  return at;
}
