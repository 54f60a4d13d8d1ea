// Finds what a planned stage gave, by its role and axes, and reads it. What cannot be read is a gap of the report.
import type { Reading } from "@mlrb/formats/read-format";
import type { Coverage } from "@mlrb/formats/report";
import type { Seed } from "@mlrb/formats/report/attempt";
import type { Member } from "@mlrb/formats/stage/collected";
import { plainText } from "./plain-text.ts";
import { type PlannedPlaces, placeKey, type Role } from "./planned-places.ts";
import type { ReadText } from "./read-artifact.ts";

export class ArtifactReader {
  readonly gaps: Coverage["gaps"];
  readonly plan: PlannedPlaces;
  readonly read: ReadText;

  constructor(plan: PlannedPlaces, read: ReadText) {
    this.gaps = [...plan.gaps];
    this.plan = plan;
    this.read = read;
  }

  find(role: Role, ...axes: Seed[]): Member | undefined {
    return this.plan.members.get(placeKey([role, ...axes]));
  }

  /** `parse` on an artifact's text. What cannot be read is a gap, called `what`. */
  parsed<T>(
    member: Member | undefined,
    artifact: string,
    parse: (text: string) => Reading<T>,
    what = artifact,
  ): Reading<T> {
    const text = contentOf(member, artifact, this.read);
    const found = text.kind === "ok" ? parse(text.value) : text;
    if (found.kind === "ok" || member?.outcome !== "succeeded") return found;
    const cause = `unreadable ${what} (${found.cause})`;
    this.gaps.push({ stage: plainText(member.stage), outcome: "unreadable", cause });
    return { kind: "unreadable", cause };
  }
}

export function contentOf<T>(
  member: Member | undefined,
  artifact: string,
  read: (artifact: { path: string; kind: "file" | "dir" }) => Reading<T>,
): Reading<T> {
  if (!member) return { kind: "unreadable", cause: "not planned" };
  if (member.outcome !== "succeeded") return { kind: "unreadable", cause: endOf(member) };
  const found = Object.hasOwn(member.artifacts, artifact) ? member.artifacts[artifact] : undefined;
  if (!found) return { kind: "unreadable", cause: "the stage wrote none" };
  const { path, kind } = found;
  return path === undefined
    ? { kind: "unreadable", cause: "only its digest was collected" }
    : read({ path, kind });
}

export function endOf(member: Member): string {
  const end = `${member.name} ${member.outcome === "not-run" ? "was not run" : member.outcome}`;
  return plainText(member.cause ? `${end}: ${member.cause}` : end);
}
