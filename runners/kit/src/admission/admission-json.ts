// Parses JSON from untrusted sources so that all readers agree. JSON.parse keeps the last of two equal keys and other
// readers the first, so such a file is refused. So is deep nesting, which overflows the stack of later readers.
export type StrictJson = { kind: "ok"; value: unknown } | { kind: "malformed"; reason: string };

/** Parses UTF-8 JSON; refuses equal keys in one object and nesting over `depthMax`. Never throws. */
export function strictJson(bytes: Uint8Array, depthMax = 64): StrictJson {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return { kind: "malformed", reason: "not UTF-8 text" };
  }
  const depth = depthOf(text);
  if (depth > depthMax) return { kind: "malformed", reason: `nested deeper than ${depthMax}` };
  let value: unknown;
  try {
    value = JSON.parse(/\b(?:NaN|Infinity)\b/.test(text) ? withoutNonNumbers(text) : text);
  } catch {
    return { kind: "malformed", reason: text.trim() === "" ? "empty" : "not JSON" };
  }
  const twice = equalKey(text);
  if (twice !== undefined)
    return { kind: "malformed", reason: `the key ${clip(twice)} appears twice in one object` };
  return { kind: "ok", value };
}

/** A hostile text for a message: quoted, escaped and short. */
export function clip(text: string, max = 80): string {
  const quoted = JSON.stringify(text.length > max ? `${text.slice(0, max)}…` : text);
  return quoted.replace(/[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g, (odd) => {
    return `\\u${odd.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

/** Replaces NaN and Infinity, which Python writes into real configurations and JSON lacks, by null. */
function withoutNonNumbers(text: string): string {
  let clean = "";
  let from = 0;
  const bare = (to: number) => text.slice(from, to).replace(/-?\bInfinity\b|\bNaN\b/g, "null");
  for (let at = 0; at < text.length; at++) {
    if (text[at] !== '"') continue;
    const end = endOfString(text, at);
    clean += bare(at) + text.slice(at, end + 1);
    from = end + 1;
    at = end;
  }
  return clean + bare(text.length);
}

function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) at = endOfString(text, at);
    else if (code === 0x5b || code === 0x7b) deepest = Math.max(deepest, ++depth);
    else if (code === 0x5d || code === 0x7d) depth--;
  }
  return deepest;
}

/** `from`: the opening quote. Strings may be megabytes of base64. */
function endOfString(text: string, from: number): number {
  for (let at = text.indexOf('"', from + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(at - 1 - backslashes) === 0x5c) backslashes++;
    if (backslashes % 2 === 0) return at;
  }
  return text.length;
}

/** The first key that appears twice in one object. `text` is valid JSON. */
function equalKey(text: string): string | undefined {
  const open: (Set<string> | undefined)[] = [];
  let wantsKey = false;
  for (let at = 0; at < text.length; at++) {
    switch (text[at]) {
      case "{":
        open.push(new Set());
        wantsKey = true;
        break;
      case "[":
        open.push(undefined);
        wantsKey = false;
        break;
      case "}":
      case "]":
        open.pop();
        wantsKey = false;
        break;
      case ",":
        wantsKey = open.at(-1) !== undefined;
        break;
      case '"': {
        const end = endOfString(text, at);
        if (wantsKey) {
          const key = JSON.parse(text.slice(at, end + 1)) as string;
          const keys = open.at(-1)!;
          if (keys.has(key)) return key;
          keys.add(key);
          wantsKey = false;
        }
        at = end;
        break;
      }
    }
  }
  return undefined;
}
