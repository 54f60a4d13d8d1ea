// What the page of a bundle shows besides the report: outcomes, hosts and times of stages, and the attempts'
// stories.
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { environmentStage } from "@mlrb/core/plan/plan";
import type { Report } from "@mlrb/formats/report";
import type { BundledPage } from "@mlrb/formats/report/evidence-bundle";
import { canonicalJson } from "@mlrb/kit/json-file";
import { hashFile } from "@mlrb/local/digests/hash-file";
import type { PageInstance } from "@mlrb/report/page/page-data";
import { type PageRequest, pageData } from "../attempts/page-data.ts";
import { shapeOf } from "../diagnose/clean-text.ts";
import { privateInstances } from "../diagnose/diagnose-command.ts";
import { protocolEvidence } from "../protocol/observe-protocol.ts";
import { nodeOf } from "../show/trace-nodes.ts";
import { copyCleanLines } from "./clean-lines.ts";
import { type Gathering, writeText } from "./gather-evidence.ts";
import { bundledPageFile, ledgerFile, protocolFiles, trajectoryFile } from "./rebuild-results.ts";

/** `request.folder`: the rebuilt tables. */
export async function gatherPage(
  request: PageRequest & { report: Report },
  gathering: Gathering,
): Promise<void> {
  const { plan, workspace } = request;
  const data = await pageData(request);
  const evidence = protocolEvidence(request, request.report);
  if (evidence) {
    writeText(protocolFiles.frozen, evidence.text, gathering);
    writeText(protocolFiles.observed, `${canonicalJson(evidence.observation, 1)}\n`, gathering);
  }
  const hidden = privateInstances(plan);
  const attempts: BundledPage["attempts"] = [];
  for (const instance of plan.instances) {
    if (!instance.stage.durable || instance.stage.name === environmentStage) continue;
    const node = nodeOf(instance, { plan, workspace });
    if (typeof node === "string") continue;
    const place = data.stories[attempts.length]!;
    const { task, agent, seed } = place;
    const cause = place.kind === "unreadable" ? place.cause : undefined;
    const isHere = node.record !== null && cause === undefined;
    const folder = isHere ? await copiedRecord(node.record!, gathering) : null;
    attempts.push({ task, agent, seed, folder, ...(cause !== undefined && { cause }) });
  }
  const held: BundledPage = {
    ...{ formatVersion: 1, commit: data.commit, graph: data.graph },
    instances: data.instances.map((one) => instanceOf(one, hidden.has(one.id))),
    attempts,
  };
  writeText(bundledPageFile, `${canonicalJson(held, 1)}\n`, gathering);
}

/** `isHidden`: its log may quote private rows. */
function instanceOf(
  { outcome, said, ...rest }: PageInstance,
  isHidden: boolean,
): BundledPage["instances"][number] {
  const shown = isHidden ? shapeOf(said.join("\n")).split("\n").slice(0, -1) : said;
  const cause = "cause" in outcome ? { cause: outcome.cause } : {};
  return { ...rest, outcome: outcome.kind, ...cause, said: shown };
}

/** The trajectory and the ledger of a record; its folder in the bundle. */
async function copiedRecord(record: string, gathering: Gathering): Promise<string> {
  const { workspace, to, clean, redactions } = gathering;
  const { trajectory, ledger } = workspace.attempts.read(record).outputs;
  const from = join(workspace.state.attempts, "records", record);
  const folder = `records/${record}`;
  mkdirSync(join(to, folder), { recursive: true });
  const path = `${folder}/${trajectoryFile}`;
  const whole = join(from, trajectory!.file);
  const changed = await copyCleanLines(whole, join(to, path), clean);
  if (changed) redactions.set(path, { what: "keys", original: hashFile(whole) });
  const spent = ledger && join(from, ledger.file);
  if (spent && existsSync(spent))
    writeText(`${folder}/${ledgerFile}`, readFileSync(spent, "utf8"), gathering);
  return folder;
}
