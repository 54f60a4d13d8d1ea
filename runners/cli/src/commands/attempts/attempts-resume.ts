// `pipeline attempts resume`: lets attempts continue, whatever stopped them. An attempt that waits for a person
// gets the secrets set in this shell, and retries at once: the values go from this process's memory to the
// supervisor's over a socket that only this user may open. An attempt whose supervisor or host died gets a run
// that continues it.

import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { attemptId, pauseFile } from "@mlrb/core/ports/attempt-wait";
import { shellWord } from "@mlrb/core/ports/command-line";
import type { ResumeReply } from "@mlrb/formats/attempt/resume-request";
import { isFullDisk } from "@mlrb/kit/files/full-disk";
import { type AttemptFolder, attemptFolder, attemptFolders } from "@mlrb/local/attempts/attempt-folders";
import { type WaitingAttempt, waitingAttempts } from "@mlrb/local/attempts/attempt-waits";
import { markSecrets } from "@mlrb/local/attempts/secret-marks";
import { sourceFiles } from "@mlrb/local/digests/file-digest-memory";
import { reopenAttempts } from "@mlrb/local/resume/reopen-attempt";
import { resumeAttempt } from "@mlrb/local/resume/resume-attempt";
import { stateFolder } from "@mlrb/local/store/state-folder";
import type { CostOptions } from "../../gates/cost-gate.ts";
import { axesSet } from "../../request/axes-set.ts";
import { type AttemptPlace, attemptPlace } from "../../request/find-attempt.ts";
import { isNamed, namedBy } from "../../request/find-running.ts";
import { refuseWords } from "../../request/refuse.ts";
import { pipelineNames, readRequest } from "../../request/request.ts";
import { type PlaceOptions, rootFolder } from "../../request/root-folder.ts";
import { typedProgram } from "../../request/typed-program.ts";
import { oneLine, printJson } from "../../show/print.ts";
import { runCommand } from "../run-command.ts";

type Resumable = WaitingAttempt | BrokenOff | Pausing;
/** A person asked it to pause, and it has not come to its next call or try yet. */
type Pausing = Pick<AttemptFolder, "name" | "card"> & { pauses: string };
type BrokenOff = Pick<AttemptFolder, "name" | "path" | "card">;

/** `pipeline`: its file, where it is not in pipelines/. */
export type ResumeOptions = PlaceOptions & CostOptions & { pipeline?: string };

/**
 * `asked`: beginnings of names, stage instances, or patterns, which may mean several; empty: every attempt that
 * waits for a person or was broken off.
 */
export async function attemptsResume(
  repository: string,
  asked: string[],
  options: ResumeOptions,
): Promise<number> {
  const place = attemptPlace(repository, options.root);
  const { running } = place.state;
  if (!reopenNamed(asked, place)) return 1;
  const broken = attemptFolders(running).filter((one) => one.state.kind === "resumable");
  const everyWait = waitingAttempts(running);
  const pausing = pausingIn(running, everyWait);
  const waiting = everyWait.filter(({ name }) => pausing.every((one) => one.name !== name));
  const all: Resumable[] = [...waiting, ...broken, ...pausing];
  const waitsForAPerson = (one: Resumable) =>
    !("waits" in one) || one.waits.some(({ why }) => why === "operator");
  const chosen = asked.length === 0 ? all.filter(waitsForAPerson) : [];
  for (const what of asked) {
    const found = namedBy(what, all);
    const isOne = found.some((one) => isNamed(one, what) || one.card.slot.stage === what);
    if (found.length === 0 || (isOne && found.length > 1)) {
      const problem = found.length === 0 ? "no attempt that waits" : `${found.length} attempts that wait`;
      return refuseWords(`no-such-attempt: ${problem} here is called "${what}"${helpWords(all)}`);
    }
    chosen.push(...found);
  }
  if (chosen.length === 0)
    return refuseWords("no-such-attempt: no attempt waits for a person or was broken off here");
  let refused = 0;
  for (const one of new Set(chosen)) {
    if ("waits" in one && !(await resume(one, options.json))) refused++;
    if ("pauses" in one) cancelPause(one, options.json);
  }
  const going = chosen.filter((one) => !("waits" in one || "pauses" in one)) as BrokenOff[];
  for (const { path } of going) rmSync(join(path, pauseFile), { force: true }); // it would pause again at once
  const code = await continueBroken(repository, going, options);
  return Math.max(code, refused > 0 ? 1 : 0);
}

function pausingIn(running: string, waiting: WaitingAttempt[]): Pausing[] {
  return attemptFolders(running).flatMap(({ name, path, card, state: { kind } }) => {
    const pauses = join(path, pauseFile);
    const waits = waiting.find((one) => one.name === name)?.waits ?? [];
    const isPausing =
      kind === "running" && existsSync(pauses) && waits.every(({ why }) => why !== "operator");
    return isPausing ? [{ name, card, pauses }] : [];
  });
}

function cancelPause({ name, card: { slot }, pauses }: Pausing, json: boolean): void {
  rmSync(pauses, { force: true });
  const { stage } = slot;
  const reply = { kind: "resumed", calls: 0 };
  if (json)
    printJson({ event: "attempt-resumed", id: attemptId(name), stage, secrets: [], unset: [], reply });
  else process.stdout.write(`${stage}: goes on; it had not paused yet\n`);
}

/** Brings back the quarantined attempts that are named by their folders. False if one must stay: then all do. */
function reopenNamed(asked: string[], place: AttemptPlace): boolean {
  const lost = attemptFolders(join(place.state.attempts, "lost"));
  const running = attemptFolders(place.state.running);
  const named = asked.flatMap((what) => {
    // an ID begins all attempts of a key: the one that runs or waits is meant
    if (running.some(({ name }) => name.startsWith(what))) return [];
    const found = lost.filter(({ name }) => what.length >= nameMin && name.startsWith(what));
    return found.length === 1 ? found : [];
  });
  const refused = reopenAttempts([...new Set(named)], place);
  if (!refused) return true;
  const stay = named.length > 1 ? "; none of the named attempts was resumed" : "";
  process.stderr.write(
    `not-resumed: ${refused.attempt.card.slot.stage}: it stays in .mlrb/attempts/lost: ${refused.why}${stay}\n`,
  );
  return false;
}

/** Of a name: a stage instance is never one. */
const nameMin = 8;

/** One run for each pipeline and profile. It starts no other attempt without the confirmation that any run needs. */
async function continueBroken(
  repository: string,
  broken: BrokenOff[],
  options: ResumeOptions,
): Promise<number> {
  let code = 0;
  const runs = Map.groupBy(broken, ({ card: { slot } }) => JSON.stringify([slot.pipeline, slot.profile]));
  for (const [{ card }, ...others] of runs.values() as Iterable<[BrokenOff, ...BrokenOff[]]>) {
    const { profile } = card.slot;
    const pipeline = await pipelineOf(repository, card, options);
    if (pipeline === undefined) {
      code = 2;
      continue;
    }
    const cards = [card, ...others.map((one) => one.card)];
    const only = cards.map(({ slot }) => slot.stage);
    const asked = { ...options, profile, only, set: axesSet(cards), continues: true };
    code = Math.max(code, await runCommand(repository, pipeline, asked));
  }
  const { running } = stateFolder(rootFolder(repository, options.root));
  for (const { name, card } of broken) {
    if (attemptFolder(running, name)?.state.kind !== "resumable") continue;
    code = Math.max(code, 1);
    process.stderr.write(`not-resumed: ${card.slot.stage}: ${stillBroken(name, { ...card.slot, pipeline: options.pipeline ?? card.slot.pipeline })}
`);
  }
  return code;
}

/** What a run of the attempt's pipeline is asked for; undefined after saying why there is none. */
async function pipelineOf(
  repository: string,
  { slot }: BrokenOff["card"],
  options: ResumeOptions,
): Promise<string | undefined> {
  const { pipeline: file } = options;
  if (file === undefined) {
    if (pipelineNames(sourceFiles(repository)).includes(slot.pipeline)) return slot.pipeline;
    process.stderr.write(
      `unknown-pipeline: ${slot.stage}: its pipeline ${oneLine(slot.pipeline)} is not in pipelines/\n  help: name its file: --pipeline PATH\n`,
    );
    return undefined;
  }
  const asked = { profile: slot.profile, only: [], set: [], json: options.json };
  const request = await readRequest(repository, file, asked);
  if (!request) return undefined;
  const { pipeline } = request.plan;
  if (pipeline === slot.pipeline) return file;
  process.stderr.write(
    `other-pipeline: ${slot.stage}: it began in the pipeline ${oneLine(slot.pipeline)}, and ${oneLine(file)} is ${pipeline}\n`,
  );
  return undefined;
}

function stillBroken(name: string, { pipeline, profile, stage }: BrokenOff["card"]["slot"]): string {
  const id = attemptId(name);
  return `the run of ${pipeline} ${profile} did not continue it: it failed above, or the attempt's key has changed because a file or a parameter differs\n  help: restore what differs and repeat this command, or type ${typedProgram()} run ${shellWord(pipeline)} --only ${shellWord(stage)} with the options with which it began, or give it up: ${typedProgram()} attempts stop ${id}`;
}

async function resume({ name, path, card }: WaitingAttempt, json: boolean): Promise<boolean> {
  const set = card.secrets.filter((secret) => process.env[secret]);
  const unset = card.secrets.filter((secret) => !process.env[secret]);
  const values = Object.fromEntries(set.map((secret) => [secret, process.env[secret]!]));
  const reply = await resumed(path, values);
  const { stage } = card.slot;
  if (json) {
    printJson({ event: "attempt-resumed", id: attemptId(name), stage, secrets: set, unset, reply });
    return reply.kind === "resumed";
  }
  if (reply.kind === "refused") {
    process.stderr.write(`not-resumed: ${stage}: ${oneLine(reply.detail)}\n`);
    return false;
  }
  const keys = [
    ...(set.length > 0 ? [`with this shell's ${set.join(", ")}`] : []),
    ...(unset.length > 0 ? [`${unset.join(", ")} is not set here and keeps its value`] : []),
  ].join("; ");
  process.stdout.write(`${stage}: tries again now${keys === "" ? "" : `, ${keys}`}\n`);
  return true;
}

/** Marks the values first: a run that does not know them must not copy a file that may hold them. */
async function resumed(path: string, values: Record<string, string>): Promise<ResumeReply> {
  try {
    markSecrets(path, values);
  } catch (error) {
    const words = isFullDisk(error) ? "no space left on the disk; free some space" : (error as Error).message;
    return { kind: "refused", detail: `its folder cannot be written: ${words}, then repeat this command` };
  }
  return resumeAttempt(path, values);
}

function helpWords(all: Resumable[]): string {
  if (all.length === 0) return "";
  const known = all.slice(0, 5).map(({ name, card }) => `${attemptId(name)} (${card.slot.stage})`);
  return `\n  help: waiting now: ${known.join(", ")}${all.length > 5 ? ", …" : ""}`;
}
