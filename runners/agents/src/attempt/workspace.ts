// Materializes what every agent finds, the same for all of them. The agent's own program, its home and its
// temporary folder are next to the workspace, not in it.

import { chmod, mkdir, readdir, symlink, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Sandbox } from "@mlrb/core/ports/sandbox";
import { programVariables } from "../sandbox/device-variables.ts";
import type { AttemptRequest } from "./attempt-request.ts";

export const inside = {
  workspace: "workspace",
  data: "workspace/data",
  models: "workspace/models",
  submission: "workspace/submission",
  iterations: "workspace/iterations.jsonl",
  deadline: "workspace/deadline",
  check: "workspace/check-submission",
  program: "program",
  library: "program/library",
  /** Of a team: the messages of its members, as files. */
  board: "board",
};

/**
 * Fills `sandbox`, by moving inputs if the request allows it. `scratch` is an empty host folder for temporary
 * files. Throws on failure.
 */
export async function materializeWorkspace(
  sandbox: Sandbox,
  request: AttemptRequest,
  scratch: string,
): Promise<void> {
  const fresh = request.earlier === undefined; // otherwise a restore point holds what agents may change
  const given = { readOnly: true, ...(request.ownCopies && { move: true }) };
  await sandbox.put(request.publicData, inside.data, given);
  const { models } = request;
  if (models !== undefined && (await readdir(models)).length > 0)
    await sandbox.put(models, inside.models, given);
  if (fresh) {
    const [emptyFolder, emptyFile] = [join(scratch, "empty"), join(scratch, "iterations.jsonl")];
    await mkdir(emptyFolder, { recursive: true });
    await writeFile(emptyFile, "");
    const taken: string[] = [...Object.values(inside), `${inside.workspace}/TASK.md`];
    const members = request.team ? await putMembers(sandbox, request, scratch) : [];
    taken.push(...members);
    for (const starter of request.starters ?? []) {
      await putStarter(sandbox, starter, taken);
      for (const member of members) await putStarter(sandbox, starter, [], member);
    }
    await sandbox.put(emptyFolder, inside.submission);
    await sandbox.put(emptyFile, inside.iterations);
    if (request.check) await putCheck(sandbox, request, scratch);
  }
  if (request.program !== undefined) await sandbox.put(request.program, inside.program);
  if (request.library !== undefined) await sandbox.put(request.library, inside.library);
}

/** The entries lie next to those of `taken`, which gains them. Throws if one has the name of another. */
async function putStarter(
  sandbox: Sandbox,
  starter: string,
  taken: string[],
  folder = inside.workspace,
): Promise<void> {
  for (const name of (await readdir(starter)).sort()) {
    const place = `${folder}/${name}`;
    if (taken.includes(place))
      throw new Error(`the starter files hold "${name}", which the workspace has too`);
    await sandbox.put(join(starter, name), place);
    taken.push(place);
  }
}

/**
 * Makes the folders of members with workspaces of their own, and the shared one. Each has links to what is common.
 * Returns them, from the sandbox's root.
 */
async function putMembers(
  sandbox: Sandbox,
  { team, models, check }: AttemptRequest,
  scratch: string,
): Promise<string[]> {
  if (team!.workspace === "shared") return [];
  const tree = join(scratch, "members");
  const hasModels = models !== undefined && (await readdir(models)).length > 0;
  const folders = [inside.data, inside.submission, ...(hasModels ? [inside.models] : [])];
  const files = [inside.iterations, inside.deadline, ...(check ? [inside.check] : [])];
  const own = team!.members.map(({ name }) => name);
  for (const name of [...folders, ...own, "shared"].map((path) => basename(path)))
    await mkdir(join(tree, name), { recursive: true });
  // a link may lead only to what is put in place with it; the files themselves come later
  for (const file of files) await writeFile(join(tree, basename(file)), "");
  for (const name of own)
    for (const common of [...folders, ...files].map((path) => basename(path)))
      await symlink(`../${common}`, join(tree, name, common));
  await sandbox.put(tree, inside.workspace);
  return [...own, "shared"].map((name) => `${inside.workspace}/${name}`);
}

async function putCheck(sandbox: Sandbox, { check, python }: AttemptRequest, scratch: string): Promise<void> {
  const file = join(scratch, "check-submission");
  await writeFile(file, check!.script(sandbox, python));
  await chmod(file, 0o755); // whatever the umask
  await sandbox.put(file, inside.check);
}

/** Appended to the prompt of every task. */
const deadlineSentence = `
---

While you wait for a provider's rate limit or for a service that is down, everything here is stopped, and the
deadline moves by that time. The file \`deadline\` beside this one holds the deadline of now: seconds since 1970 on
the first line, the same as an ISO time (UTC) on the second.
`;

/** Called last, so that the deadline in the prompt is a whole budget ahead. */
export async function putPrompt(
  sandbox: Sandbox,
  text: string,
  { scratch, folder = inside.workspace }: { scratch: string; folder?: string },
): Promise<void> {
  const file = join(scratch, "TASK.md");
  await writeFile(file, `${text.trimEnd()}\n${deadlineSentence}`);
  await sandbox.put(file, `${folder}/TASK.md`);
}

/** Writes deadlines one after the other: of two waits that end together, the later deadline stays. Never rejects. */
export function deadlineWriter(sandbox: Sandbox, scratch: string): (deadline: number) => Promise<void> {
  let telling = Promise.resolve();
  return (deadline) => {
    // the agent may have replaced the file
    telling = telling.then(() => writeDeadline(sandbox, deadline, scratch)).catch(() => {});
    return telling;
  };
}

/** Writes the file that TASK.md names. `deadline` in ms since the epoch. Throws if the agent left no room for it. */
export async function writeDeadline(sandbox: Sandbox, deadline: number, scratch: string): Promise<void> {
  const file = join(scratch, "deadline");
  const seconds = Math.floor(deadline / 1000);
  const iso = new Date(1000 * seconds).toISOString().replace(".000Z", "Z");
  await writeFile(file, `${seconds}\n${iso}\n`);
  await sandbox.put(file, inside.deadline);
}

/** The only variables that an agent's program sees, besides those that the sandbox sets (HOME, TMPDIR). */
export function agentEnvironment(
  sandbox: Sandbox,
  request: AttemptRequest,
  deadline: number,
): Record<string, string> {
  return {
    ...programVariables(sandbox, request),
    MLRB_DEADLINE: String(Math.floor(deadline / 1000)),
    MLRB_SUBMISSION: sandbox.seenAs(inside.submission),
  };
}

/**
 * The argv that is run: `./x` and `{program}` mean the copied program folder, `{python}` the environment's Python,
 * `{gateway}` the address of the model gateway.
 */
export function agentCommand(sandbox: Sandbox, request: AttemptRequest, gateway = ""): string[] {
  const program = sandbox.seenAs(inside.program);
  return request.command.map((argument) => {
    if (argument.startsWith("./")) return join(program, argument);
    return argument
      .replaceAll("{program}", program)
      .replaceAll("{python}", request.python ?? "python3")
      .replaceAll("{gateway}", gateway);
  });
}
