// Parses JSON from untrusted sources so that all readers agree. JSON.parse keeps the last of two equal keys and
// other readers the first, so such a file is refused. So is deep nesting, which overflows the stack of later
// readers.

import { type JsonLimits, type JsonScan, scanJson } from "./json-scan.ts";

export type StrictJson = { kind: "ok"; value: unknown } | { kind: "malformed"; reason: string };

/** Parses UTF-8 JSON that keeps to `limits`; refuses equal keys in one object. Never throws. */
export function strictJson(bytes: Uint8Array, limits: JsonLimits): StrictJson {
  const scan = scanJson(bytes, limits);
  if (scan.kind === "malformed") return scan;
  return { kind: "ok", value: JSON.parse(withoutNonNumbers(bytes, scan, () => "null")) };
}

/** The scanned text with other words in place of NaN and infinities, which JSON.parse refuses. */
export function withoutNonNumbers(
  bytes: Uint8Array,
  { nonNumbers }: Extract<JsonScan, { kind: "ok" }>,
  instead: (name: string) => string,
): string {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let text = "";
  let at = 0;
  for (const { from, to } of nonNumbers) {
    text += all.toString("utf8", at, from) + instead(all.toString("latin1", from, to));
    at = to;
  }
  return text + all.toString("utf8", at);
}
