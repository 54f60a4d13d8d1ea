// What of a program's output a model is shown: text that is text, its beginning and its end. Pure.

/** Characters of one tool result. */
export const clipMax = 12_000;

/**
 * Bytes as a person would see them on a terminal: invalid UTF-8 replaced, escape sequences and control characters
 * gone, of a line that was written over again and again (a progress bar) what it said last.
 */
export function shownText(bytes: Uint8Array): string {
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  return text
    .replace(escapes, "")
    .replaceAll("\r\n", "\n")
    .split("\n")
    .map((line) => lastWritten(line).replace(controls, ""))
    .join("\n");
}

/** ECMA-48: control sequences, and strings such as a window's title, of bounded length. */
const escapes =
  /\u001b(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|[\]PX^_][^\u0007\u001b\n]{0,4096}(?:\u0007|\u001b\\)?|[ -/]{0,8}[0-~])/g;
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

function lastWritten(line: string): string {
  const parts = line.split("\r");
  return parts.findLast((part) => part !== "") ?? "";
}

/** The end of a text's first `max` characters, or the start of its last, moved to a line's end where one is near. */
function headOf(text: string, max: number): string {
  const line = text.lastIndexOf("\n", max - 1) + 1;
  return whole(text.slice(0, line > max / 2 ? line : max));
}

function tailOf(text: string, max: number): string {
  const from = text.length - max;
  const line = text.indexOf("\n", from) + 1;
  return whole(text.slice(line > 0 && line < from + max / 2 ? line : from));
}

/** Half of a pair of surrogates at either end is no text. */
const whole = (text: string) => text.replace(/^[\udc00-\udfff]/, "").replace(/[\ud800-\udbff]$/, "");

export type Clipped = { text: string; clipped: boolean };

/** `head` and `tail` are the same text where nothing lies between them. `told` is said in place of what is left out. */
export function clipText(
  { head, tail, gap }: { head: string; tail: string; gap: boolean },
  told: string,
  max: number = clipMax,
): Clipped {
  if (!gap && head.length <= max) return { text: head, clipped: false };
  const half = Math.floor(max / 2);
  const [first, last] = [headOf(head, half), tailOf(gap ? tail : head, half)];
  return { text: `${first}${first.endsWith("\n") ? "" : "\n"}[… ${told} …]\n${last}`, clipped: true };
}
