// `pipeline attempts human`: a person attempts a task at a shell, in the place of an agent. `attempts forget` removes
// the person's alias.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { openSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { createInterface } from "node:readline/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { sendLine } from "@mlrb/agents/person/json-lines";
import type { Instance } from "@mlrb/core/plan/plan";
import { type PersonHello, personSocket } from "@mlrb/formats/attempt/person";
import { attemptFields } from "@mlrb/formats/declared/agent-preset";
import { readLedger } from "@mlrb/kit/rules/ledger";
import { type AttemptFolder, attemptFolders } from "@mlrb/local/attempts/attempt-folders";
import { connectAttempt } from "@mlrb/local/resume/resume-attempt";
import { attachTerminal } from "../../attempts/attach-terminal.ts";
import { personWithAlias, readPeople, removeAlias } from "../../attempts/people.ts";
import { personVariable } from "../../gates/person-gate.ts";
import { type AttemptPlace, attemptPlace } from "../../request/find-attempt.ts";
import { failed, refused } from "../../request/refuse.ts";
import { readRequest } from "../../request/request.ts";
import type { PlaceOptions } from "../../request/root-folder.ts";
import { typedProgram } from "../../request/typed-program.ts";
import { lastLines } from "../../show/last-lines.ts";

export type HumanOptions = PlaceOptions & {
  task?: string;
  seed?: string;
  agent?: string;
  alias?: string;
  pipeline: string;
  profile?: string;
};

const aliasForm = /^(?!removed-)[a-z0-9][a-z0-9-]{0,31}$/;

/** Returns 0 also if the person pauses or leaves. */
export async function attemptsHuman(repository: string, options: HumanOptions): Promise<number> {
  const { task, seed, pipeline, profile, root } = options;
  const agent = options.agent ?? firstPerson(join(repository, "runners/agents/presets"));
  if (!task || !seed) return refused("no-place: a person attempts a task", "add --task NAME --seed NUMBER");
  if (!process.stdin.isTTY || !process.stdout.isTTY)
    return refused("no-terminal: a person works at a terminal", "start it without pipes");
  const set = [`task=${task}`, `agent=${agent}`, `seed=${seed}`];
  const place = { ...(root !== undefined && { root }), ...(profile !== undefined && { profile }) };
  const request = await readRequest(repository, pipeline, { ...place, only: [], set, json: false });
  if (!request) return 2;
  const { plan } = request;
  const instance = plan.instances.find(
    ({ stage, action }) => stage.durable && presetOf(action).kind === "person",
  );
  if (!instance) return refused(`no-person: ${agent} is no person`, "its preset needs kind: person");
  if (instance.execution.executor === "slurm")
    return refused(
      "no-terminal: a node of a cluster has none",
      "choose a profile with executor local or docker",
    );
  const slot = { pipeline: plan.pipeline, profile: plan.profile, stage: instance.id };
  const at = attemptPlace(repository, request.root);
  const isOfSlot = ({ card, state }: AttemptFolder) =>
    Object.entries(slot).every(([key, value]) => card.slot[key as keyof typeof slot] === value) &&
    state.kind !== "lost";
  const begun = () => attemptFolders(at.state.running).find(isOfSlot);
  const isRecorded = () => attemptPlace(repository, request.root).records.currentIn(slot) !== undefined;
  if (isRecorded()) return refused(`recorded: ${slot.stage} is done`, "each person has another --seed");
  const alias = options.alias ?? (await ask("Your alias in this study (not your name): "));
  if (!aliasForm.test(alias))
    return refused(
      `alias: "${alias}" is none`,
      "use at most 32 small letters, digits and dashes; not removed-…",
    );
  const earlier = begun();
  const known = readPeople(at.state).find((one) => one.alias === alias)?.id;
  if (!earlier && known !== undefined && hasDone(known, instance, at))
    return refused(`not-new: ${alias} has attempted ${task}`, "a second attempt would measure learning");
  const agreed = earlier ? {} : await consent(repository, presetOf(instance.action).consent);
  if (!agreed) return refused("not-agreed: nothing was started or recorded", "start again to agree");
  const hello = { person: personWithAlias(at.state, alias), ...agreed };
  const log = join(at.state.logs, `human-${hello.person}.log`);
  const words = [pipeline, "--profile", plan.profile, ...set.flatMap((one) => ["--set", one])];
  if (root !== undefined) words.push("--root", root);
  const isRunning = earlier?.state.kind === "running";
  const run = isRunning ? undefined : startRun([...words, "--only", instance.id, "--yes"], log);
  process.stdout.write(`${agent}:${alias} at ${slot.stage}; the data are prepared, which may take minutes\n`);
  const socket = await connected(begun, run);
  if (!socket) return failed(`not-started: ${lastLines(log, 12).join("\n")}`, "repair it, and start again");
  process.stdout.write(welcome);
  const end = await attachTerminal(socket, hello);
  if (end.kind === "refused") {
    if (run) await Promise.race([once(run, "exit"), sleep(3000)]);
    const why = [end.why, ...lastLines(log, run?.exitCode ? 12 : 0)].join("\n");
    return failed(`cut-off: ${why}`, "the same command continues the attempt, if it has not ended");
  }
  if (end.kind !== "ended") {
    run?.unref();
    const how = end.kind === "paused" ? "Paused" : "The shell goes on, and so does the clock";
    process.stdout.write(`${how}; the same command comes back.\n`);
    return 0;
  }
  process.stdout.write(`The attempt is over: ${end.how}.\n`);
  const hours = await ask("Hours that you worked on it, also away from the shell: ", (said) => +said >= 0);
  const models = await ask("AI models and assistants that you used, and for what (none: none): ");
  sendLine(socket, { declared: { hours: Number(hours), models } });
  for (let tries = 0; tries < 150 && !isRecorded() && !run?.exitCode; tries++) await sleep(200);
  const said = isRecorded() ? ["Recorded."] : ["It is not recorded yet.", ...lastLines(log, 5)];
  process.stdout.write(
    `Thank you. ${said.join("\n")}\nTo score it: ${typedProgram()} run ${words.join(" ")}\n`,
  );
  return 0;
}

/** Records and results stay: they hold the ID of the person only. */
export function attemptsForget(repository: string, alias: string, { root }: PlaceOptions): number {
  const { state } = attemptPlace(repository, root);
  if (!removeAlias(state, alias)) return failed(`no-alias: nobody here is ${alias}`, "see `attempts list`");
  process.stdout.write(`${alias} is removed. Attempts, what was typed in them, and scores stay.\n`);
  return 0;
}

const welcome = `
Read TASK.md; hand in through submission/; ./check-submission checks it; the file deadline says when it ends.
Ctrl-] shows how to pause or leave. \`exit\` ends the attempt. All you type and see is recorded.

`;

function firstPerson(presets: string): string {
  const isPerson = (name: string) => /^kind: person$/m.test(readFileSync(join(presets, name), "utf8"));
  return basename(readdirSync(presets).find(isPerson) ?? "", ".yaml");
}

function presetOf({ params }: Instance["action"]) {
  return attemptFields(params) as { kind?: string; consent?: string | null };
}

/** Its output goes to `log`. A closed terminal ends neither the run nor the attempt. */
function startRun(words: string[], log: string): ChildProcess {
  const out = openSync(log, "a", 0o600);
  return spawn(process.execPath, [...process.execArgv, process.argv[1]!, "run", ...words], {
    detached: true,
    stdio: ["ignore", out, out],
    env: { ...process.env, [personVariable]: "1" },
  });
}

/** Undefined if the run ended before the attempt listened. */
async function connected(begun: () => { path: string } | undefined, run: ChildProcess | undefined) {
  for (;;) {
    const over = run !== undefined && run.exitCode !== null;
    const folder = begun();
    const socket = folder && (await connectAttempt(folder.path, personSocket).catch(() => undefined));
    if (socket || over) return socket;
    await sleep(200);
  }
}

/** Whether a record of another seed is this person's: learning would make it another measurement. */
function hasDone(id: string, { axes }: Instance, { records, state }: AttemptPlace): boolean {
  return records.readable().some(({ digest, record: { axes: own, outputs } }) => {
    if (own.task !== axes.task || !outputs.ledger) return false;
    const ledger = readLedger(join(state.attempts, "records", digest, outputs.ledger.file));
    return typeof ledger === "object" && ledger.person?.id === id;
  });
}

/** Undefined if the person does not agree. Throws without the text. */
async function consent(
  repository: string,
  file: string | null | undefined,
): Promise<Omit<PersonHello, "person"> | undefined> {
  if (!file) throw new Error("a preset of kind person needs `consent: FILE`: the text to which people agree");
  const text = readFileSync(join(repository, file), "utf8");
  process.stdout.write(`\n${text}\n`);
  if ((await ask("Type `I agree` to take part: ")).toLowerCase() !== "i agree") return undefined;
  const agreedAt = new Date().toISOString();
  return {
    consent: text,
    agreedAt,
    knowledge: await ask("What did you know of this task and its data before? "),
  };
}

/** Asks until there is an answer. */
async function ask(question: string, isAnswer = (_: string) => true): Promise<string> {
  for (;;) {
    const terminal = createInterface({ input: process.stdin, output: process.stdout });
    const answer = (await terminal.question(question)).trim();
    terminal.close();
    if (answer !== "" && isAnswer(answer)) return answer;
  }
}
