// An intermediate checkpoint of a submission that is a program, as moment.ts does it for models: the folder as it was at a
// share of the budget, judged as validate-program.ts judges a submission.
import { constants, copyFileSync, cpSync } from "node:fs";
import { join } from "node:path";
import { submissionAt } from "@mlrb/agents/attempt/submission-at";
import { snapshotIndex } from "@mlrb/formats/attempt/snapshot-index";
import { admission } from "@mlrb/formats/judged/admission";
import type { Moment } from "@mlrb/formats/judged/moment";
import { mustFollow } from "@mlrb/formats/read-format";
import { admitProgram, writeCleanProgram } from "@mlrb/kit/admission/admit-program";
import { momentShare } from "@mlrb/kit/attempts/moment-share";
import { readJson, writeJson } from "@mlrb/kit/json-file";
import { readLedger } from "@mlrb/kit/rules/ledger";
import { stage } from "@mlrb/kit/stage";

const { axes, inputs, outputs } = stage();
const share = momentShare(axes.moment!);
if (share === undefined)
  throw new Error(`the axis moment has the value "${axes.moment}"; write a share of the budget, e.g. 25%`);
const ledger = readLedger(inputs.ledger!);
if (typeof ledger === "string") throw new Error(`${ledger}, so the time of the checkpoint is unknown`);
const index = mustFollow(snapshotIndex, readJson(join(inputs.snapshots!, "index.json")), "index.json");

const stood = submissionAt(share, index, ledger);
if (stood.kind === "dropped")
  throw new Error(`the snapshot at ${axes.moment} was not kept: the snapshots exceeded their space`);
const from = stood.kind === "snapshot" ? join(inputs.snapshots!, stood.name) : inputs.submission!;
if (stood.kind !== "none")
  cpSync(from, outputs.checkpoint!, { recursive: true, mode: constants.COPYFILE_FICLONE });

const digestOf = (name: string) => index.snapshots.find((snapshot) => snapshot.name === name)?.digest;
const isFinal =
  stood.kind === "final" || (stood.kind === "snapshot" && digestOf(stood.name) === ledger.submission.digest);
// the final submission's own admission, so that both share a score
if (isFinal) copyFileSync(inputs.admission!, outputs.admission!);
else writeJson(outputs.admission!, admitProgram(outputs.checkpoint!));
const { admitted, reasons } = mustFollow(admission, readJson(outputs.admission!), "admission.json");
if (admitted) writeCleanProgram(outputs.checkpoint!, outputs.submission!);
const found: Moment = { formatVersion: 1, stood, admitted, reasons };
writeJson(outputs.moment!, found);
console.log(`${axes.moment}: ${stood.kind}, ${admitted ? "admitted" : "not admitted"}`);
