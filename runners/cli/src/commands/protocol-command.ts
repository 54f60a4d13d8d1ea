// `pipeline protocol`: freezes what a paper will report before the first attempt, and shows it.
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { counted } from "@mlrb/core/text/counted";
import type { FrozenProtocol } from "@mlrb/formats/report/protocol";
import { canonicalJson, writeWhole } from "@mlrb/kit/json-file";
import { protocolDigest, protocolPath } from "@mlrb/local/attempts/protocol-in-force";
import { openWorkspace } from "@mlrb/local/store/workspace";
import { plainText } from "@mlrb/report/read/plain-text";
import { attemptHistories } from "../protocol/observe-attempts.ts";
import { plannedFacts } from "../protocol/protocol-facts.ts";
import { readProtocol } from "../protocol/protocol-file.ts";
import { freezeCommand, reportCommand } from "../protocol/protocol-path.ts";
import { refused } from "../request/refuse.ts";
import { rememberedRequest } from "../request/remembered-request.ts";
import type { CommonOptions } from "../request/request.ts";
import { inTypedForm } from "../request/typed-program.ts";
import { powerLines } from "../show/power-lines.ts";
import { printJson } from "../show/print.ts";

type ProtocolOptions = Omit<CommonOptions, "only" | "executor">;

export async function protocolFreeze(
  repository: string,
  pipeline: string,
  options: ProtocolOptions,
): Promise<number> {
  const looked = await rememberedRequest(repository, pipeline, { ...options, only: [] });
  if (!looked) return 2;
  const { plan, root } = looked;
  const path = join(root, protocolPath(plan));
  if (existsSync(path))
    return refused(
      `frozen: ${path} exists`,
      "keep it: the report lists departures; to freeze another one, move it away first, and the report counts the attempts that started under it",
    );
  const { pipeline: name, profile, selection } = plan;
  const workspace = openWorkspace({ repository, root, pipeline: name, profile });
  const facts = await plannedFacts(plan, workspace);
  workspace.digests.save();
  workspace.codes.save();
  if (facts.arms.length === 0)
    return refused(
      `no-attempts: ${plan.pipeline} plans no stage with the role attempt`,
      "name a pipeline with attempts",
    );
  const before = attemptHistories(plan, workspace).flatMap(({ used, others }) =>
    [used ?? [], ...others].flat(),
  );
  const protocol: FrozenProtocol = { formatVersion: 1, pipeline: name, profile, selection, ...facts };
  const text = `${canonicalJson(protocol, 2)}\n`;
  mkdirSync(dirname(path), { recursive: true });
  writeWhole(path, text);
  const digest = protocolDigest(text);
  if (options.json) printJson({ event: "protocol", path, digest, ...protocol });
  else
    process.stdout.write(
      inTypedForm(
        [
          `froze ${path}`,
          `  ${counted(countOf(protocol), "attempt")} of ${counted(protocol.tasks.length, "task")}; digest ${digest}`,
          ...powerLines(plan, workspace).map((line) => `  ${line}`),
          before.length === 0
            ? "  no attempt had been started"
            : `  ${counted(before.length, "attempt")} had been started before; the report counts those that it uses`,
          "commit this file, and leave it as it is: each attempt keeps the digest that it has when the attempt starts",
          `\`${reportCommand(plan)}\` lists every departure from it`,
          "",
        ].join("\n"),
      ),
    );
  return 0;
}

function countOf({ arms }: FrozenProtocol): number {
  return arms.reduce((sum, { seeds }) => sum + seeds.length, 0);
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
  const text = readFileSync(path, "utf8");
  const reading = readProtocol(text);
  if (reading.kind === "unreadable")
    return refused(`unreadable: ${path}: ${reading.cause}`, "restore it from Git, or freeze another one");
  const digest = protocolDigest(text);
  if (options.json) printJson({ event: "protocol", path, digest, ...reading.value });
  else process.stdout.write(`${protocolLines(reading.value, digest).join("\n")}\n`);
  return 0;
}

function protocolLines(frozen: FrozenProtocol, digest: string): string[] {
  const { pipeline, profile, selection } = frozen;
  return [
    `${pipeline} (${profile})${selection === "" ? "" : ` ${selection}`}`,
    `digest ${digest}`,
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
