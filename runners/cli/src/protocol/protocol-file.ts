// Reads a frozen protocol, and compares it with what was observed. Another person may have edited the file.
// Pure: no disk, no clock.
import { createHash } from "node:crypto";
import { type Reading, readFormat, unreadableWords } from "@mlrb/formats/read-format";
import {
  type FrozenProtocol,
  frozenProtocol,
  type Protocol,
  type ProtocolObservation,
  type ProtocolResult,
} from "@mlrb/formats/report/protocol";
import { canonicalJson } from "@mlrb/kit/json-file";
import { departures } from "@mlrb/report/protocol/departures";
import { plainText } from "@mlrb/report/read/plain-text";

export function digestOf(protocol: Protocol): string {
  return createHash("sha256").update(canonicalJson(protocol)).digest("hex");
}

/** A protocol whose digest is right. */
export function readProtocol(text: string): Reading<FrozenProtocol> {
  const reading = readFormat(frozenProtocol, text);
  if (reading.kind === "unreadable") return { ...reading, cause: plainText(unreadableWords(reading)) };
  const { digest, ...protocol } = reading.value;
  const found = digestOf(protocol);
  if (found === digest) return reading;
  const cause = `it was edited after it was frozen: it states the digest ${digest.slice(0, 10)}, and its content has ${found.slice(0, 10)}; restore it from Git`;
  return { kind: "unreadable", cause };
}

/** `text`: of the protocol's file, empty if it is gone. */
export function protocolResultOf(text: string, now: ProtocolObservation): ProtocolResult {
  const last = now.earlier.at(-1);
  if (text === "" && last !== undefined) {
    const cause = `it was frozen at ${last.frozenAt} (digest ${last.digest.slice(0, 10)}), and its file is gone; restore it from Git`;
    return { kind: "unreadable", path: now.path, cause };
  }
  const reading = readProtocol(text);
  if (reading.kind === "unreadable") return { kind: "unreadable", path: now.path, cause: reading.cause };
  const { digest, frozenAt, selection, commit, before } = reading.value;
  return {
    ...{ kind: "frozen", path: now.path, digest, frozenAt, selection, commit, before: before.length },
    committed: now.committed,
    departures: departures(reading.value, now),
  };
}
