// Makes instruction pairs in rows of alpaca_cleaned from templates; every call returns the same pairs in the same
// order. A digest of the pair decides which pairs are used and which are held out, independent of the order of
// word lists.
import { createHash } from "node:crypto";
import { type Family, families } from "./families.ts";

export type Instruction = { instruction: string; input: string; output: string };

const trainPerFamily = 160;
const heldOutPerFamily = 15;

/** Training rows, and held-out rows with their family. No input of a family is in both. */
export function instructionPairs(): {
  train: Instruction[];
  heldOut: { family: string; row: Instruction }[];
} {
  const drawn = families.map((family) => ({ family, rows: draw(family) }));
  return {
    train: inOrder(drawn.flatMap(({ rows }) => rows.slice(heldOutPerFamily))),
    heldOut: drawn.flatMap(({ family, rows }) =>
      rows.slice(0, heldOutPerFamily).map((row) => ({ family: family.name, row })),
    ),
  };
}

/** The text for training and scoring: one line each for instruction, input and output. */
export function instructionText({ instruction, input, output }: Instruction): string {
  return `${instruction}\n${input}\n${output}\n`;
}

function draw({ phrasings, all }: Family): Instruction[] {
  const rows = all().map((asked, at) => ({ instruction: phrasings[at % 2] ?? phrasings[0], ...asked }));
  const wanted = trainPerFamily + heldOutPerFamily;
  if (new Set(rows.map(({ input }) => input)).size < wanted)
    throw new Error(`bug: fewer than ${wanted} pairs`);
  return inOrder(rows).slice(0, wanted);
}

function inOrder(rows: Instruction[]): Instruction[] {
  return rows
    .map((row) => ({
      row,
      place: createHash("sha256")
        .update(`mlrb-instructions-v1:${instructionText(row)}`)
        .digest("hex"),
    }))
    .sort((a, b) => (a.place < b.place ? -1 : 1))
    .map(({ row }) => row);
}
