// Makes smoke's items in three parts: every family's statements, each in one of its phrasings.
import { createHash } from "node:crypto";
import { type Family, phrase, type Statement } from "./family.ts";
import { logicFamilies } from "./logic-families.ts";
import { numberFamilies } from "./number-families.ts";
import { chanceOf, slotsOf } from "./slots.ts";
import { type Part, type Row, split, statementOf } from "./split.ts";
import { binders, lean } from "./terms.ts";

export const families: Family[] = [...logicFamilies, ...numberFamilies];

/** `group` is the family; `phrasing` is known if training rows use it. Public rows lack both fields. */
export type Item = Row & { group: string; phrasing: "known" | "new" };

const statementsEach = 320;
const knownPhrasings = 4;
const heldOutItems = 120; // in test and in dev, each
const newEvery = 3; // every third of them has a phrasing that training lacks

/** Every call returns the same items in the same order. */
export function makeItems(): Record<Part, Item[]> {
  // each statement in all phrasings, so that the split keeps all rows with the same meaning together
  const statements = families.flatMap((family) => statementsOf(family).map((put) => ({ family, put })));
  const parts = split(statements.flatMap(({ put }) => put));
  let at = 0;
  const placed = statements.map((statement) => {
    const part = parts[at]!;
    at += statement.put.length;
    return { ...statement, part };
  });
  const take = (part: Part): Item[] => {
    const taken: Item[] = [];
    for (const [place, family] of families.entries()) {
      const members = placed.filter((statement) => statement.family === family && statement.part === part);
      const wanted = part === "train" ? members.length : shareOf(heldOutItems, place);
      if (members.length < wanted)
        throw new Error(`bug: ${members.length} of ${wanted} ${family.name} for ${part}`);
      for (const { put } of members.slice(0, wanted)) {
        const isNew = part !== "train" && taken.length % newEvery === newEvery - 1;
        const which = isNew ? newPhrasing(part, taken.length) : taken.length % knownPhrasings;
        taken.push({ ...put[which]!, group: family.name, phrasing: isNew ? "new" : "known" });
      }
    }
    return taken.sort((a, b) => (hashOf(a.name) < hashOf(b.name) ? -1 : 1));
  };
  return { train: take("train"), dev: take("dev"), test: take("test") };
}

/** The distinct statements of a family. Each is a list of rows, one per phrasing, in the family's order. */
function statementsOf(family: Family): Row[][] {
  const chance = chanceOf(family.name);
  const seen = new Set<string>();
  const made: Row[][] = [];
  for (let tries = 0; made.length < statementsEach; tries++) {
    if (tries > 20 * statementsEach)
      throw new Error(`bug: ${family.name} has only ${made.length} statements`);
    const rows = rowsOf(family, family.draw(slotsOf(chance)), made.length);
    const said = statementOf(rows[0]!);
    if (seen.has(said)) continue;
    seen.add(said);
    made.push(rows);
  }
  return made;
}

function rowsOf(family: Family, statement: Statement, at: number): Row[] {
  const { train, dev, test } = family.phrasings;
  const { hypotheses, claim, proof } = statement;
  const named = hypotheses.map(
    (term, place) => `(h${hypotheses.length > 1 ? place + 1 : ""} : ${lean(term)})`,
  );
  const before = [binders([...hypotheses, claim]), ...named].filter((part) => part !== "").join(" ");
  return [...train, ...dev, ...test].map((template, which) => ({
    name: `${family.name}_${String(at).padStart(3, "0")}_${which + 1}`,
    informal_statement: phrase(template, statement),
    informal_proof: phrase(family.reason, statement),
    formal_proof: `theorem ${family.name}${before && ` ${before}`} : ${lean(claim)} := ${proof}`,
  }));
}

/** The index of a phrasing that only `part` has: after the known ones comes that of dev, then the two of test. */
function newPhrasing(part: Part, at: number): number {
  return part === "dev" ? knownPhrasings : knownPhrasings + 1 + (at % 2);
}

/** The share of `total` items of the family at `place`. The first families take the remainder. */
function shareOf(total: number, place: number): number {
  return Math.floor(total / families.length) + (place < total % families.length ? 1 : 0);
}

function hashOf(name: string): string {
  return createHash("sha256").update(name).digest("hex");
}
