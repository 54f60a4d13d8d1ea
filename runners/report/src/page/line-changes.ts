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
