// The licences and terms that a person accepted, in the state folder. An entry is of one commit, licence and gate
// of a source, so a change of one of them asks again.
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { LockedSource } from "@mlrb/formats/declared/source-lock";
import { readFormat } from "@mlrb/formats/read-format";
import { anyText, type TypeOf, textOrNull, wholeObject } from "@mlrb/formats/schema";
import { canonicalJson } from "@mlrb/kit/json-file";

const consent = wholeObject({
  source: anyText,
  repository: anyText,
  revision: anyText,
  licence: textOrNull,
  gated: anyText,
  acceptedAt: anyText,
});

type Consent = TypeOf<typeof consent>;

function consentsFile(state: string): string {
  return join(state, "accepted-sources.jsonl");
}

/** Lines that cannot be read count as no consent. */
export function readConsents(state: string): Consent[] {
  const file = consentsFile(state);
  if (!existsSync(file)) return [];
  return readFileSync(file, "utf8")
    .split("\n")
    .flatMap((line) => {
      const reading = readFormat(consent, line);
      return reading.kind === "ok" ? [reading.value] : [];
    });
}

export function isAccepted(source: string, entry: LockedSource, consents: Consent[]): boolean {
  return consents.some(
    (one) =>
      one.source === source &&
      (["repository", "revision", "licence", "gated"] as const).every((key) => one[key] === entry[key]),
  );
}

export function recordConsent(state: string, source: string, entry: LockedSource, now: Date): void {
  const { repository, revision, licence, gated } = entry;
  const line: Consent = { source, repository, revision, licence, gated, acceptedAt: now.toISOString() };
  appendFileSync(consentsFile(state), `${canonicalJson(line)}\n`);
}
