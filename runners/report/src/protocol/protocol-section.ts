// The protocol of a report and the departures from it as a section, for every renderer, and as a paragraph.
import { unreachable } from "@mlrb/core/ports/outcome";
import { counted } from "@mlrb/core/text/counted";
import type { Departure, ProtocolResult } from "@mlrb/formats/report/protocol";
import { shortDigest } from "../sections/report-words.ts";
import type { Section } from "../sections/table.ts";
import { column, oneGroup, tableSection } from "../sections/table-of.ts";

export function protocolSection(found: ProtocolResult): Section {
  const about = { heading: "Protocol", caption: protocolText(found) };
  return tableSection<Departure>(about, oneGroup(found.kind === "frozen" ? found.departures : []), [
    column("departure", ({ what }) => what),
    column("where", ({ where }) => (where === "" ? "everything" : where)),
    column("primary table", ({ primary }) => primary),
  ]);
}

/** The protocol and the number of departures, in sentences that a paper can use. */
export function protocolText(found: ProtocolResult): string {
  switch (found.kind) {
    case "none":
      return `No protocol was frozen. Before the first attempt, \`${found.freeze}\` freezes one.`;
    case "unreadable":
      return `The protocol ${found.path} cannot be used: ${found.cause}. So departures from it are not known.`;
    case "frozen": {
      const { departures, before, attempts, digest, selection } = found;
      const touching = departures.filter(({ primary }) => primary !== "no").length;
      const wide = selection === "" ? "" : ` of ${selection}`;
      const frozen = `The protocol${wide} was frozen before ${before} of ${counted(attempts, "attempt")} (digest ${shortDigest(digest)}).`;
      return departures.length === 0
        ? `${frozen} Departures: none.`
        : `${frozen} Departures: ${departures.length}, of which ${touching} ${touching === 1 ? "changes" : "change"} or may change the primary table.`;
    }
    default:
      return unreachable(found);
  }
}
