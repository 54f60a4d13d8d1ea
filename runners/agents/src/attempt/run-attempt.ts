// Supervises one attempt from outside the sandbox: gives the agent its workspace, lets it work until it ends or
// its time is over, and keeps its submission and a record. An agent that fails or submits nothing has been
// measured. Only trouble of the harness throws, and then there is no attempt.

import { hash } from "node:crypto";
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Sandbox } from "@mlrb/core/ports/sandbox";
import type { Ledger } from "@mlrb/formats/attempt/ledger";
import type { UsedPrice } from "@mlrb/formats/attempt/used-price";
import { releaseReserved, reserveFile } from "@mlrb/kit/files/full-disk";
import { sealTimes } from "@mlrb/kit/processes/seal-times";
import { folderDigest } from "../folders/folder-digest.ts";
import { gatewayFacts } from "../gateway/gateway-provider.ts";
import { type AgentModel, priceHelp, unpriced } from "../model/agent-models.ts";
import { runPerson } from "../person/run-person.ts";
import { type EarlierAttempt, withoutLostSnapshots } from "../resume/earlier-attempt.ts";
import { pathInside } from "../sandbox/device-variables.ts";
import { restartNotice } from "../scaffold/notices.ts";
import { type PriceBook, priceBook, usedPrice } from "../spending/prices.ts";
import { type MemberParts, runTeam } from "../team/run-team.ts";
import { memberFolder, teamText } from "../team/team-text.ts";
import type { AttemptRequest } from "./attempt-request.ts";
import { overdue } from "./interruption.ts";
import { renderPrompt, spokenDuration, withDownloadsText, withForeword } from "./render-prompt.ts";
import { runProgram } from "./run-program.ts";
import { runScaffold, type ScaffoldParts, scaffoldParts } from "./run-scaffold.ts";
import {
  ledgerBytes,
  reservedBytes,
  type Seal,
  sealEnded,
  sealFiles,
  sealInterrupted,
} from "./seal-attempt.ts";
import type { SupervisedRun } from "./supervise.ts";
import { closeSupervision, openSupervision, type Supervision, startClock } from "./supervision.ts";
import { inside, materializeWorkspace, putPrompt, writeDeadline } from "./workspace.ts";

type PricedRequest = AttemptRequest & { prices: PriceBook };

/** Decided before anything is spent. */
type Prepared = {
  prompt: string;
  shownDeadline: string;
  /** Undefined after a restart. */
  digests: Awaited<ReturnType<typeof inputDigests>> | undefined;
  scaffold: ScaffoldParts | undefined;
  /** Of the llm members of a team. */
  members: MemberParts;
};

/** Runs the attempt in `sandbox`, which the caller closes. Writes all its outputs or throws. */
export async function runAttempt(sandbox: Sandbox, asked: AttemptRequest): Promise<Ledger> {
  const before = asked.earlier && withoutLostSnapshots(asked.earlier, asked.outputs.snapshots);
  const request: PricedRequest = {
    ...asked,
    ...(before && { earlier: before }),
    prices: asked.prices ?? priceBook([]),
  };
  const { outputs, budget } = request;
  checkPrices(request);
  const { earlier } = request;
  const scaffold = await scaffoldParts(request); // an error in it costs no time of the attempt
  const members = new Map<string, ScaffoldParts | undefined>();
  for (const one of request.team?.members ?? [])
    members.set(one.name, await scaffoldParts({ ...request, ...one }));
  const digests = earlier ? undefined : await inputDigests(request);
  if (earlier) await clearUnfinished(outputs, earlier);
  if (!earlier || earlier.restore) await materializeWorkspace(sandbox, request, request.scratch);
  if (earlier?.restore) await sandbox.restore!(earlier.restore.contents, earlier.restore.restorePoint);
  await mkdir(outputs.snapshots, { recursive: true });
  if (outputs.attachments !== undefined) await mkdir(outputs.attachments, { recursive: true });

  const replay = scaffold?.replay;
  const clock = startClock(sandbox, earlier?.clock, replay?.clock);
  // by another clock than this host's the scaffold looks at the files, after each tool
  if (replay?.clock) request.pollMs = 2 ** 31 - 1;
  const deadline = earlier ? Date.parse(earlier.start.deadline) : clock.startedWall + budget.timeMs;
  const shownDeadline = isoSeconds(deadline);
  const own = renderPrompt(request.downloads ? withDownloadsText(request.prompt) : request.prompt, {
    deadline: shownDeadline,
    budget: spokenDuration(budget.timeMs),
    seed: String(request.seed),
  });
  const prompt = withForeword(request.foreword, own);
  if (earlier) checkPrompt(prompt, earlier);
  const prepared = { prompt, shownDeadline, digests, scaffold, members };
  const supervision = openSupervision(request, sandbox, { clock, replay: replay?.clock });
  const seal: Seal = { ...supervision, replay: replay?.facts, progress: {} };
  const toItsEnd = async () => sealEnded(seal, await runAgent(request, supervision, prepared));
  try {
    // work that takes longer than a person or a machine grants is abandoned
    return await Promise.race([toItsEnd(), overdue(request.interrupted, sealTimes.begin)]);
  } catch (error) {
    const ledger = await sealInterrupted(seal, error);
    if (ledger) return ledger;
    throw error;
  } finally {
    for (const path of [outputs.trajectory, ...sealFiles(outputs)]) releaseReserved(path);
    closeSupervision(supervision);
  }
}

/** Undefined for an agent that runs nothing. */
async function runAgent(
  request: PricedRequest,
  supervision: Supervision,
  prepared: Prepared,
): Promise<SupervisedRun | undefined> {
  const { trajectory } = supervision;
  const { outputs, prices } = request;
  const { scaffold, prompt } = prepared;
  reserveFile(outputs.trajectory, reservedBytes);
  for (const path of sealFiles(outputs)) reserveFile(path, ledgerBytes);
  request.interrupted?.throwIfAborted();
  await putTask(request, supervision, prompt);
  if (request.earlier) {
    recordRestart(supervision, request.earlier);
    request.restored?.();
  } else recordStart(request, supervision, prepared);
  supervision.interventions.open();
  request.purse?.onCarried((by) =>
    trajectory.add({ event: "purse", ...by, prices: pricesOf(calledModels(request), prices) }),
  );
  const { team } = request;
  if (!scaffold && !team && request.kind !== "command" && request.kind !== "person") return undefined;
  const equipped = await withDownloads(request, supervision);
  try {
    if (request.person) return await runPerson(equipped);
    if (team) return await runTeam(equipped, prepared, prepared.members);
    return await (scaffold ? runScaffold(scaffold, equipped, prepared) : runProgram(equipped));
  } finally {
    await equipped.downloads?.close(); // the record of downloads is complete
  }
}

async function withDownloads(request: AttemptRequest, supervision: Supervision): Promise<Supervision> {
  if (!request.downloads) return supervision;
  const { sandbox, trajectory } = supervision;
  const { agent, scratch } = request;
  const place = { agent, scratch, path: pathInside(request), write: trajectory.add };
  const { agentDownloads } = await import("../hub/agent-downloads.ts"); // most attempts need none of it
  return { ...supervision, downloads: await agentDownloads(sandbox, request.downloads, place) };
}

function recordRestart({ trajectory }: Supervision, earlier: EarlierAttempt): void {
  const { times, after, step, clock, droppedBytes, restore, snapshots } = earlier;
  for (const name of snapshots.gone) trajectory.add({ event: "snapshot-dropped", name });
  trajectory.add({
    ...{ event: "resumed", times: times + 1, after, step, workspace: restore ? "restore-point" : "kept" },
    ...{ workingMs: clock.workingMs, creditedMs: clock.creditedMs },
    ...(droppedBytes > 0 && { droppedBytes }),
  });
}

/** Removes what a killed supervisor was copying. */
async function clearUnfinished(
  { submission, snapshots }: AttemptRequest["outputs"],
  { snapshots: { kept } }: EarlierAttempt,
): Promise<void> {
  await rm(submission, { recursive: true, force: true });
  await mkdir(submission, { recursive: true });
  await mkdir(snapshots, { recursive: true });
  for (const name of await readdir(snapshots))
    if (!kept.some((one) => one.name === name))
      await rm(join(snapshots, name), { recursive: true, force: true });
}

/** The agent continues with the prompt that it was given. */
function checkPrompt(prompt: string, { start }: EarlierAttempt): void {
  if (start.promptDigest !== hash("sha256", prompt))
    throw new Error(
      "the attempt cannot continue: its prompt would differ from the one with which it began; restore the files of its task",
    );
}

/** After a restart a program reads of it below its task; a scaffold puts it into its conversation. */
async function putTask(
  { earlier, kind, scratch, team }: PricedRequest,
  { sandbox, meter }: Supervision,
  prompt: string,
): Promise<void> {
  const put = async (text: string) => {
    await putPrompt(sandbox, team ? text + teamText(team, undefined) : text, { scratch });
    if (team?.workspace === "own")
      for (const { name } of team.members)
        await putPrompt(sandbox, text + teamText(team, name), { scratch, folder: memberFolder(team, name) });
  };
  if (!earlier) {
    await put(prompt);
    return writeDeadline(sandbox, meter.deadline(), scratch);
  }
  // the agent may have left no place or no room for them
  const text = `${prompt.trimEnd()}\n\n${restartNotice(earlier, meter)}\n`;
  if (kind === "command" || kind === "person" || team) await put(text).catch(() => {});
  await writeDeadline(sandbox, meter.deadline(), scratch).catch(() => {});
}

function recordStart(
  request: AttemptRequest,
  { sandbox, meter, trajectory }: Supervision,
  { prompt, digests, scaffold }: Prepared,
): void {
  const { task, agent, seed, kind, limits, gateway, network, downloads, team } = request;
  const { timeMs, ...budget } = request.budget;
  trajectory.add({
    ...{ event: "start", task, agent, seed, kind, sandbox: sandbox.kind },
    budget: { wallMs: timeMs, ...budget },
    deadline: new Date(meter.deadline()).toISOString(),
    promptDigest: hash("sha256", prompt),
    promptTemplateDigest: hash("sha256", withForeword(request.foreword, request.prompt)),
    ...digests!,
    limits,
    deadlineFile: inside.deadline,
    ...(downloads && { network: "hub" }),
    ...(network && { network: "full" }),
    ...(scaffold && { model: scaffold.model, scaffold: scaffold.scaffold }),
    ...(scaffold?.replay && { replay: scaffold.replay.facts }),
    ...(gateway && { gateway: gatewayFacts(gateway) }),
    ...(team && { membersCall: calledModels(request).length > 0 }),
  });
}

/**
 * A limit in dollars cannot be enforced on calls without a known price. The run's plan was already checked for
 * this.
 */
function checkPrices(request: PricedRequest): void {
  const { agent, budget, purse, prices } = request;
  if (budget?.dollars === undefined && purse?.cap.maxDollars() === undefined) return;
  const unknown = unpriced(calledModels(request), prices);
  if (unknown.length === 0) return;
  const names = unknown.map(({ provider, id }) => `${provider} ${id}`).join(", ");
  throw new Error(
    `agent "${agent}" has a limit in dollars, and the price of ${names} is unknown: ${priceHelp(unknown)}`,
  );
}

type Calling = Pick<AttemptRequest, "kind" | "llm" | "gateway" | "team">;

function calledModels({ kind, llm, gateway, team }: Calling): AgentModel[] {
  if (team) return team.members.flatMap(calledModels);
  if (gateway)
    return gateway.flatMap(({ name, ids, free }) => ids.map((id) => ({ provider: name, id, free })));
  if (kind !== "llm" || !llm) return [];
  return [llm.model, llm.scaffold.planner].flatMap((model) =>
    model ? { provider: model.provider, id: model.id, free: model.free === true } : [],
  );
}

function pricesOf(models: AgentModel[], prices: PriceBook): UsedPrice[] {
  return models.flatMap(({ provider, id: model, free }) => {
    const price = free ? undefined : prices.priceOf(provider, model);
    return price === undefined ? [] : [usedPrice({ provider, model, price })];
  });
}

async function inputDigests({ publicData, models, program, library }: AttemptRequest) {
  const digest = (folder: string | undefined) => (folder === undefined ? null : folderDigest(folder));
  return {
    dataDigest: await digest(publicData),
    modelsDigest: await digest(models),
    programDigest: await digest(program),
    libraryDigest: await digest(library),
  };
}

function isoSeconds(wall: number): string {
  return new Date(wall).toISOString().replace(/\.\d+Z$/, "Z");
}
