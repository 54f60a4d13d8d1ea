import assert from "node:assert/strict";
import { test } from "node:test";
import { readProtocol } from "./protocol-file.ts";

test("a protocol of an older or newer format is refused with the way out, and a damaged one with its cause", () => {
  const causeOf = (text: string) => {
    const reading = readProtocol(text);
    return reading.kind === "unreadable" ? reading.cause : undefined;
  };
  for (const formatVersion of [0, 2])
    assert.equal(
      causeOf(JSON.stringify({ formatVersion, arms: [] })),
      `formatVersion is ${formatVersion}, not 1; use the mlrb that wrote it`,
    );
  assert.equal(causeOf("{}"), "formatVersion is missing; restore it from Git");
});
