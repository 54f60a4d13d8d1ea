// `pipeline protocol`: freezes what a paper will report before the first attempt, and shows it.
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Plan } from "@mlrb/core/plan/plan";
import { counted } from "@mlrb/core/text/counted";
import type { FrozenProtocol, Protocol } from "@mlrb/formats/report/protocol";
import { canonicalJson, writeJson } from "@mlrb/kit/json-file";
import { statePaths } from "@mlrb/local/store/state-folder";
import { openWorkspace } from "@mlrb/local/store/workspace";
import { plainText } from "@mlrb/report/read/plain-text";
import { rememberFreeze } from "../protocol/earlier-protocols.ts";
import { attemptHistories } from "../protocol/observe-attempts.ts";
import { plannedFacts } from "../protocol/protocol-facts.ts";
import { digestOf, readProtocol } from "../protocol/protocol-file.ts";
import { freezeCommand, protocolPath, reportCommand } from "../protocol/protocol-path.ts";
import { rememberedRequest } from "../request/remembered-request.ts";
import type { CommonOptions } from "../request/request.ts";
import { inTypedForm } from "../request/typed-program.ts";
import { printJson } from "../show/print-json.ts";

type ProtocolOptions = Omit<CommonOptions, "only" | "executor">;

const reasonMax = 1000;

export async function protocolFreeze(
  repository: string,
  pipeline: string,
  options: ProtocolOptions & { replace?: string },
): Promise<number> {
  const looked = await rememberedRequest(repository, pipeline, { ...options, only: [] });
  if (!looked) return 2;
  const { plan, root } = looked;
  const path = join(root, protocolPath(plan));
  const old = existsSync(path) ? readFileSync(path, "utf8") : undefined;
  if (old !== undefined && options.replace === undefined)
    return refused(
      `frozen: ${path} exists`,
      'keep it: the report lists departures; --replace "reason" freezes another one, which is a departure too',
    );
  const facts = await factsNow(repository, { plan, root });
  if (facts.arms.length === 0)
    return refused(
      `no-attempts: ${plan.pipeline} plans no stage with the role attempt`,
      "name a pipeline with attempts",
    );
  const { pipeline: name, profile, selection } = plan;
  const protocol: Protocol = {
    ...{ formatVersion: 1, pipeline: name, profile, selection, frozenAt: new Date().toISOString() },
    ...facts,
    replaced: old === undefined ? [] : replacedBy(old, plainText(options.replace!, reasonMax)),
  };
  mkdirSync(dirname(path), { recursive: true });
  // the old one is kept first: a kill in between loses none
  if (old !== undefined) copyFileSync(path, keptPath(path, protocol.replaced.at(-1)!.digest));
  const frozen: FrozenProtocol = { ...protocol, digest: digestOf(protocol) };
  writeJson(path, frozen);
  rememberFreeze(statePaths(root), protocolPath(plan), frozen);
  if (options.json) printJson({ event: "protocol", path, ...frozen });
  else process.stdout.write(inTypedForm(frozenWords(path, frozen, reportCommand(plan))));
  return 0;
}

async function factsNow(
  repository: string,
  { plan, root }: { plan: Plan; root: string },
): Promise<Omit<Protocol, "formatVersion" | "pipeline" | "profile" | "selection" | "frozenAt" | "replaced">> {
  const { pipeline, profile } = plan;
  const workspace = openWorkspace({ repository, root, pipeline, profile });
  const facts = await plannedFacts(plan, workspace);
  const before = attemptHistories(plan, workspace).flatMap(({ task, agent, seed, used, others }) =>
    [...(used ? [used] : []), ...others].map(({ startedAt }) => ({ task, agent, seed, startedAt })),
  );
  workspace.digests.save();
  workspace.codes.save();
  return { ...facts, before };
}

/** An unreadable protocol is named by the digest of its bytes. */
function replacedBy(old: string, reason: string): Protocol["replaced"] {
  const reading = readProtocol(old);
  if (reading.kind === "ok") {
    const { replaced, digest, frozenAt } = reading.value;
    return [...replaced, { digest, frozenAt, reason }];
  }
  const digest = createHash("sha256").update(old).digest("hex");
  return [{ digest, frozenAt: "an unknown time", reason: `${reason} (${reading.cause})` }];
}

function keptPath(path: string, digest: string): string {
  return path.replace(/\.json$/, `.replaced-${digest.slice(0, 12)}.json`);
}

function frozenWords(path: string, frozen: FrozenProtocol, report: string): string {
  const attempts = frozen.arms.reduce((sum, { seeds }) => sum + seeds.length, 0);
  const { before } = frozen;
  return [
    `froze ${path}`,
    `  ${counted(attempts, "attempt")} of ${counted(frozen.tasks.length, "task")}; digest ${frozen.digest}`,
    before.length === 0
      ? "  no attempt had been started"
      : `  ${counted(before.length, "attempt")} had been started before; the report lists each`,
    "commit and push this file before the first attempt: a pushed commit dates it for others",
    `\`${report}\` lists every departure from it`,
    "",
  ].join("\n");
}

export async function protocolShow(
  repository: string,
  pipeline: string,
  options: ProtocolOptions,
): Promise<number> {
  const looked = await rememberedRequest(repository, pipeline, { ...options, only: [] });
  if (!looked) return 2;
  const path = join(looked.root, protocolPath(looked.plan));
  if (!existsSync(path)) return refused(`no-protocol: there is no ${path}`, freezeCommand(looked.plan));
  const reading = readProtocol(readFileSync(path, "utf8"));
  if (reading.kind === "unreadable")
    return refused(`unreadable: ${path}: ${reading.cause}`, "restore it from Git, or replace it");
  if (options.json) process.stdout.write(`${canonicalJson({ event: "protocol", path, ...reading.value })}\n`);
  else process.stdout.write(`${protocolLines(reading.value).join("\n")}\n`);
  return 0;
}

function protocolLines(frozen: FrozenProtocol): string[] {
  const { pipeline, profile, selection, frozenAt, digest, commit, before } = frozen;
  return [
    `${pipeline} (${profile})${selection === "" ? "" : ` ${selection}`}, frozen at ${frozenAt}`,
    `digest ${digest}`,
    `commit ${commit ?? "unknown"}; ${counted(before.length, "attempt")} had been started before`,
    ...frozen.replaced.map((one) => `replaces ${one.digest.slice(0, 10)} of ${one.frozenAt}: ${one.reason}`),
    ...["", "Metrics"],
    ...frozen.tasks.map(
      ({ task, primary, metrics }) =>
        `- ${task}: ${primary ?? "none"} is primary; all: ${metrics.join(", ")}`,
    ),
    ...["", "Attempts"],
    ...frozen.arms.map(
      ({ task, agent, seeds }) => `- ${task}, ${agent}: n ${seeds.length} (seeds ${seeds.join(", ")})`,
    ),
    ...["", "Analysis"],
    ...frozen.analysis.map(({ name, text }) => `- ${name}: ${text}`),
    "",
    `Stages: ${frozen.definitions.length} definitions, in the file`,
  ].map((line) => plainText(line, 2000));
}

function refused(problem: string, help: string): number {
  process.stderr.write(inTypedForm(`${problem}\n  help: ${help}\n`));
  return 2;
}
