// The protocol of a report and the departures from it as a section, for every renderer, and as a paragraph.
import { unreachable } from "@mlrb/core/ports/outcome";
import type { Departure, ProtocolResult } from "@mlrb/formats/report/protocol";
import { shortDigest } from "../sections/report-words.ts";
import type { Section } from "../sections/table.ts";
import { column, oneGroup, tableOf } from "../sections/table-of.ts";

const heading = "Protocol";

export function protocolSection(found: ProtocolResult): Section {
  const departures = found.kind === "frozen" ? found.departures : [];
  return {
    heading,
    caption: protocolText(found),
    tables: [
      tableOf<Departure>("", oneGroup(departures), [
        column("departure", ({ what }) => what),
        column("where", ({ where }) => (where === "" ? "everything" : where)),
        column("when", ({ when }) => when ?? "unknown"),
        column("primary table", ({ primary }) => primary),
      ]),
    ],
    items: [],
  };
}

/** The protocol and the number of departures, in sentences that a paper can use. */
export function protocolText(found: ProtocolResult): string {
  switch (found.kind) {
    case "none":
      return `No protocol was frozen. Before the first attempt, \`${found.freeze}\` freezes one.`;
    case "unreadable":
      return `The protocol ${found.path} cannot be used: ${found.cause}. So departures from it are not known.`;
    case "frozen": {
      const { departures, before, digest, frozenAt, selection, commit, committed } = found;
      const touching = departures.filter(({ primary }) => primary !== "no").length;
      const wide = selection === "" ? "" : ` of ${selection}`;
      return [
        `The protocol${wide} was frozen at ${frozenAt} by this machine's clock, ${before === 0 ? "before any attempt" : `after ${before} ${before === 1 ? "attempt" : "attempts"} had been started`}`,
        `(digest ${shortDigest(digest)}, commit ${commit?.slice(0, 10) ?? "unknown"}).`,
        departures.length === 0
          ? "Departures: none."
          : `Departures: ${departures.length}, of which ${touching} ${touching === 1 ? "changes" : "change"} or may change the primary table.`,
        committed === null
          ? "No Git commit here is known to hold its file."
          : `Git commit ${committed.commit.slice(0, 10)} of ${committed.committedAt} is the first that holds its file.`,
      ].join(" ");
    }
    default:
      return unreachable(found);
  }
}
