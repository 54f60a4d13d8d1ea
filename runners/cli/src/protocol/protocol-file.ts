// Reads a frozen protocol, and compares it with what was observed. Another person may have edited the file.
// Pure: no disk, no clock.
import { type Reading, readFormat } from "@mlrb/formats/read-format";
import {
  type FrozenProtocol,
  frozenProtocol,
  type ProtocolObservation,
  type ProtocolResult,
} from "@mlrb/formats/report/protocol";
import { protocolDigest } from "@mlrb/local/attempts/protocol-in-force";
import { departures } from "@mlrb/report/protocol/departures";
import { plainText } from "@mlrb/report/read/plain-text";

export function readProtocol(text: string): Reading<FrozenProtocol> {
  const reading = readFormat(frozenProtocol, text);
  if (reading.kind === "ok") return reading;
  const { cause, help = "restore it from Git" } = reading;
  return { kind: "unreadable", cause: plainText(`${cause}; ${help}`) };
}

/** `text`: of the protocol's file, empty if it is gone. */
export function protocolResultOf(text: string, now: ProtocolObservation): ProtocolResult {
  const { path, started } = now;
  const of = started.filter(({ protocol }) => protocol !== null);
  if (text === "" && of.length > 0) {
    const digests = [...new Set(of.map(({ protocol }) => protocol!.slice(0, 10)))].join(", ");
    const cause = `${of.length} of ${started.length} attempts started with one (digest ${digests}), and its file is gone; restore it from Git`;
    return { kind: "unreadable", path, cause };
  }
  const reading = readProtocol(text);
  if (reading.kind === "unreadable") return { kind: "unreadable", path, cause: reading.cause };
  const digest = protocolDigest(text);
  return {
    ...{ kind: "frozen", path, digest, selection: reading.value.selection, attempts: started.length },
    before: started.filter(({ protocol }) => protocol === digest).length,
    departures: departures({ ...reading.value, digest }, now),
  };
}
