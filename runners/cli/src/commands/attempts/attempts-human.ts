// `pipeline attempts human`: a person attempts a task at a shell, in the place of an agent. `attempts forget` removes
// the person's alias.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { Instance } from "@mlrb/core/plan/plan";
import { type PersonHello, personSocket } from "@mlrb/formats/attempt/person";
import { attemptFields } from "@mlrb/formats/declared/agent-preset";
import { readLedger } from "@mlrb/kit/rules/ledger";
import { attemptFolders } from "@mlrb/local/attempts/attempt-folders";
import { connectAttempt } from "@mlrb/local/resume/resume-attempt";
import { attachTerminal, declare } from "../../attempts/attach-terminal.ts";
import { personName, personWithAlias, readPeople, removeAlias } from "../../attempts/people.ts";
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
  agent: string;
  alias?: string;
  pipeline: string;
  profile?: string;
};

const aliasForm = /^(?!removed-)[a-z0-9][a-z0-9-]{0,31}$/;

/** Returns 0 also if the person pauses or leaves. */
export async function attemptsHuman(repository: string, options: HumanOptions): Promise<number> {
  const { task, seed, agent, pipeline, profile, root } = options;
  if (task === undefined || seed === undefined)
    return refused("no-place: a person attempts one task with one seed", "add --task NAME and --seed NUMBER");
  if (!process.stdin.isTTY || !process.stdout.isTTY)
    return refused("no-terminal: a person works at a terminal", "start it without pipes");
  const set = [`task=${task}`, `agent=${agent}`, `seed=${seed}`];
  const place = { ...(root !== undefined && { root }), ...(profile !== undefined && { profile }) };
  const request = await readRequest(repository, pipeline, { ...place, only: [], set, json: false });
  if (!request) return 2;
  const instance = request.plan.instances.find(
    ({ stage, action }) => stage.durable && presetOf(action).kind === "person",
  );
  if (!instance)
    return refused(
      `no-person: agent ${agent} of ${pipeline} is no person`,
      "its preset needs kind: person; see docs/people.md",
    );
  if (instance.execution.executor === "slurm")
    return refused(
      "no-terminal: a node of a cluster has no terminal for a person",
      "add --profile or a stage with executor local or docker",
    );
  const at = attemptPlace(repository, request.root);
  const { plan } = request;
  const slot = { pipeline: plan.pipeline, profile: plan.profile, stage: instance.id };
  const isHere = (stage: string) => stage === slot.stage;
  const begun = () =>
    attemptFolders(at.state.running).find(
      ({ card, state }) =>
        isHere(card.slot.stage) &&
        card.slot.pipeline === slot.pipeline &&
        card.slot.profile === slot.profile &&
        state.kind !== "lost",
    );
  const isRecorded = () => attemptPlace(repository, request.root).records.currentIn(slot) !== undefined;
  if (isRecorded())
    return refused(
      `recorded: ${slot.stage} is done`,
      "each person has a seed of their own: choose another --seed",
    );
  const alias = options.alias ?? (await ask("Your alias in this study (not your name): "));
  if (!aliasForm.test(alias))
    return refused(
      `alias: "${alias}" is no alias`,
      "use at most 32 small letters, digits and dashes; not removed-…",
    );
  const earlier = begun();
  const known = readPeople(at.state).find((one) => one.alias === alias)?.id;
  if (!earlier && known !== undefined && hasDone(known, instance, at))
    return refused(
      `not-new: ${alias} has attempted ${task}`,
      "a second attempt would measure what the first one taught",
    );
  const agreed = earlier ? {} : await consent(repository, presetOf(instance.action).consent);
  if (!agreed) return refused("not-agreed: nothing was started or recorded", "start again to agree");
  const hello = { person: personWithAlias(at.state, alias), ...agreed };
  const words = ["--profile", plan.profile, ...set.flatMap((one) => ["--set", one]), "--only", instance.id];
  const log = join(at.state.logs, `human-${hello.person}.log`);
  const run =
    earlier?.state.kind === "running"
      ? undefined
      : startRun([pipeline, ...words, "--yes", ...(root === undefined ? [] : ["--root", root])], {
          log,
          id: hello.person,
        });
  process.stdout.write(
    `${personName(agent, hello.person, readPeople(at.state))} at ${slot.stage}; the data are prepared, which may take minutes\n`,
  );
  const socket = await connected(begun, run);
  if (!socket)
    return failed(
      `not-started: ${lastLines(log, 12).join("\n")}`,
      `\`${typedProgram()} attempts list\` shows what was begun`,
    );
  process.stdout.write(welcome);
  const end = await attachTerminal(socket, hello);
  switch (end.kind) {
    case "refused":
      if (run) await Promise.race([once(run, "exit"), sleep(3000)]);
      return failed(
        `cut-off: ${[end.why, ...lastLines(log, run?.exitCode ? 12 : 0)].join("\n")}`,
        "the same command continues the attempt, if it has not ended",
      );
    case "left":
    case "paused":
      run?.unref();
      process.stdout.write(
        `${end.kind === "paused" ? "Paused" : "The shell goes on, and so does the clock"}; the same command comes back.\n`,
      );
      return 0;
    case "ended":
      process.stdout.write(`The attempt is over: ${end.how}.\n`);
  }
  const hours = await askUntil(
    "Hours that you worked on it, also away from the shell: ",
    (text) => text !== "" && Number(text) >= 0,
  );
  const models = await askUntil(
    "AI models and assistants that you used, and for what (none: none): ",
    (text) => text !== "",
  );
  await declare(socket, { hours: Number(hours), models });
  for (let tries = 0; tries < 150 && !isRecorded() && !run?.exitCode; tries++) await sleep(200);
  const command = `${typedProgram()} run ${pipeline} ${set.map((one) => `--set ${one}`).join(" ")}`;
  process.stdout.write(
    `${isRecorded() ? "Recorded. Thank you." : `Thank you. It is not recorded yet.\n${lastLines(log, 5).join("\n")}\n`} To score it: ${command}\n`,
  );
  return 0;
}

/** Records and results stay: they hold the ID of the person only. */
export function attemptsForget(repository: string, alias: string, { root }: PlaceOptions): number {
  const { state } = attemptPlace(repository, root);
  if (!removeAlias(state, alias))
    return failed(
      `no-alias: nobody here has the alias "${alias}"`,
      "`attempts list` shows those of recorded attempts",
    );
  process.stdout.write(
    `${alias} is removed; attempts and scores stay. What the person typed stays in the attempts' records too\n`,
  );
  return 0;
}

const welcome = `
Read TASK.md; hand in through submission/; ./check-submission checks it; the file deadline says when it ends.
Ctrl-] shows how to pause or leave. \`exit\` ends the attempt. All you type and see is recorded.

`;

function presetOf({ params }: Instance["action"]) {
  return attemptFields(params) as { kind?: string; consent?: string | null };
}

function startRun(words: string[], { log, id }: { log: string; id: string }): ChildProcess {
  const out = openSync(log, "a", 0o600);
  return spawn(process.execPath, [...process.execArgv, process.argv[1]!, "run", ...words], {
    detached: true, // a closed terminal ends neither the run nor the attempt
    stdio: ["ignore", out, out],
    env: { ...process.env, [personVariable]: id },
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

/** Undefined if the person does not agree. */
async function consent(
  repository: string,
  file: string | null | undefined,
): Promise<Omit<PersonHello, "person"> | undefined> {
  const text = file ? readFileSync(join(repository, file), "utf8") : "";
  process.stdout.write(`\n${text}\n`);
  if ((await ask("Type `I agree` to take part: ")).toLowerCase() !== "i agree") return undefined;
  const agreedAt = new Date().toISOString();
  const knowledge = await askUntil(
    "What did you know of this task and its data before? ",
    (said) => said !== "",
  );
  return { consent: text, agreedAt, knowledge };
}

async function askUntil(question: string, isAnswer: (text: string) => boolean): Promise<string> {
  for (;;) {
    const answer = await ask(question);
    if (isAnswer(answer)) return answer;
  }
}

async function ask(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question(question);
  terminal.close();
  return answer.trim();
}
