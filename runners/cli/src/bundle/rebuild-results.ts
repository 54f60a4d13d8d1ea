// Rebuilds the tables and the page of a report from the files of an evidence bundle alone. The bundle names no
// program: the tables are made by this repository's script of the report.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { nodeFlags } from "@mlrb/core/ports/node-flags";
import { pageFile } from "@mlrb/core/spec/check-published";
import { mustFollow } from "@mlrb/formats/read-format";
import { type BundledPage, bundledPage } from "@mlrb/formats/report/evidence-bundle";
import { type ProtocolResult, protocolObservation } from "@mlrb/formats/report/protocol";
import { jsonObject } from "@mlrb/formats/schema";
import { collected } from "@mlrb/formats/stage/collected";
import { canonicalJson, readJson } from "@mlrb/kit/json-file";
import { page } from "@mlrb/report/page/page";
import type { PageInstance, PageStory } from "@mlrb/report/page/page-data";
import { pageStory } from "../attempts/page-story.ts";
import { protocolResultOf } from "../protocol/protocol-file.ts";
import { freezeCommand } from "../protocol/protocol-path.ts";
import { writeProtocol } from "../protocol/write-protocol.ts";
import { readReport, readTimes } from "../show/read-report.ts";
import { isBundlePath } from "./bag.ts";
import { isPlainDrawing } from "./plain-drawing.ts";

/** The script whose report a bundle can hold. */
export const reportScript = "pipelines/steps/report.ts";

export const bundleFile = "bundle.json";
export const manifestFile = "manifest.json";
export const paramsFile = "params.json";
export const bundledPageFile = "page.json";
export const trajectoryFile = "trajectory.jsonl";
export const ledgerFile = "ledger.json";
export const protocolFiles = { frozen: "protocol/frozen.json", observed: "protocol/observed.json" } as const;

export type BundlePlan = { pipeline: string; profile: string; selection: string };

/** Writes the report's files to `to`, which must be an empty folder. Throws if they cannot be made. */
export function rebuildTables(repository: string, { from, to }: { from: string; to: string }): void {
  const manifest = join(from, manifestFile);
  for (const { stage, artifacts } of mustFollow(collected, readJson(manifest), manifestFile).members)
    for (const { path } of Object.values(artifacts))
      if (path !== undefined && !(isBundlePath(path) && path.startsWith("members/")))
        throw new Error(`${manifestFile}: ${stage} has a file outside of members/`);
  const context = {
    ...{ formatVersion: 1, stage: "report", axes: {}, files: [], budget: {} },
    params: mustFollow(jsonObject, readJson(join(from, paramsFile)), paramsFile),
    inputs: { manifest },
    outputs: { report: to },
  };
  const stage = `${to}.stage.json`;
  writeFileSync(stage, canonicalJson(context));
  // no variable of the user reaches the script, so none can change a byte
  const { PATH = "", LD_LIBRARY_PATH } = process.env;
  const made = spawnSync(process.execPath, [...nodeFlags, join(repository, reportScript)], {
    env: { PATH, ...(LD_LIBRARY_PATH && { LD_LIBRARY_PATH }), MLRB_STAGE: stage, TZ: "UTC", LC_ALL: "C" },
    stdio: ["ignore", "ignore", "pipe"],
    encoding: "utf8",
    maxBuffer: 64 << 20,
  });
  rmSync(stage); // it names this machine's folders
  if (made.status === 0) return;
  const said = made.error?.message ?? made.stderr.trim().split("\n").slice(-5).join("\n  ");
  throw new Error(`the report cannot be made from the bundle's files:\n  ${said}`);
}

/** Draws report.html into `to`, which holds the tables. Throws if they are no report of this version. */
export function rebuildPage(plan: BundlePlan, { from, to }: { from: string; to: string }): void {
  const report = readReport(join(to, "report.json"));
  if (report.kind !== "ok") throw new Error(`report.json: ${report.cause}`);
  const times = readTimes(join(to, "times.json"));
  const held = mustFollow(bundledPage, readJson(join(from, bundledPageFile)), bundledPageFile);
  if (!isPlainDrawing(held.graph)) throw new Error(`${bundledPageFile}: its graph is more than a drawing`);
  const protocol = protocolIn(from, plan);
  writeProtocol(to, { report: report.value, protocol });
  const html = page({
    ...{ protocol, report: report.value, times: times.kind === "ok" ? times.value : null },
    plan: { pipeline: plan.pipeline, profile: plan.profile, selection: plan.selection },
    ...{ commit: held.commit, graph: held.graph },
    instances: held.instances.map(instanceOf),
    stories: held.attempts.map((one) => storyOf(one, from)),
  });
  writeFileSync(join(to, pageFile), html);
}

/** The protocol of a bundle, compared again with what was observed. */
export function protocolIn(from: string, plan: BundlePlan): ProtocolResult {
  const [frozen, observed] = [join(from, protocolFiles.frozen), join(from, protocolFiles.observed)];
  if (!existsSync(frozen)) return { kind: "none", freeze: freezeCommand(plan) };
  const observation = mustFollow(protocolObservation, readJson(observed), protocolFiles.observed);
  return protocolResultOf(readFileSync(frozen, "utf8"), observation);
}

function instanceOf({ outcome, cause = "", ...instance }: BundledPage["instances"][number]): PageInstance {
  const isEnd = outcome === "succeeded" || outcome === "unknown";
  return { ...instance, outcome: isEnd ? { kind: outcome } : { kind: outcome, cause } };
}

function storyOf(attempt: BundledPage["attempts"][number], from: string): PageStory {
  const { task, agent, seed, folder, cause = "" } = attempt;
  if (folder === null) return { task, agent, seed, kind: "unreadable", cause };
  if (!/^records\/[0-9a-f]{64}$/.test(folder)) throw new Error(`${bundledPageFile}: ${folder} is no record`);
  const ledger = join(from, folder, ledgerFile);
  const read = pageStory(join(from, folder, trajectoryFile), existsSync(ledger) ? ledger : undefined);
  return { task, agent, seed, ...read };
}

/** Names of files that are in one folder only, or differ. Paths from the folders. */
export function differentFiles(
  here: ReadonlyMap<string, string>,
  there: ReadonlyMap<string, string>,
): string[] {
  const names = [...new Set([...here.keys(), ...there.keys()])].sort();
  return names.filter((name) => here.get(name) !== there.get(name));
}
