// Runs attempts of teams whose models answer from scripts, and whose programs are shell scripts.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { Sandbox } from "@mlrb/core/ports/sandbox";
import type { Ledger } from "@mlrb/formats/attempt/ledger";
import type { TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import { removeDiskImages } from "@mlrb/kit/files/disk-image";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import {
  type Answer,
  type Reply,
  type SeenRequest,
  startLoopbackProvider,
} from "../../../../tests/support/providers/loopback-provider.ts";
import type { AttemptRequest } from "../attempt/attempt-request.ts";
import { runAttempt } from "../attempt/run-attempt.ts";
import { plainSandbox } from "../sandbox/plain-sandbox.ts";
import type { TeamMember, TeamRequest } from "../team/team-request.ts";
import { providersAt } from "./gateway-lab.ts";

/** The answer to the request of a member that has `step` answers before. */
type Answers = Reply[] | ((step: number, request: SeenRequest) => Reply | Promise<Reply>);

export type LabMember = Partial<Pick<TeamMember, "role" | "after">> &
  ({ answers: Answers } | { script: string; gateway?: boolean });

export const usage = { input: 100, output: 10 };

export function calls(...made: [name: string, input: object][]): Answer {
  return { toolCalls: made.map(([name, input]) => ({ name, input: { ...input } })), usage };
}
/** A submission that is empty must be handed in twice. */
export const submits = calls(["submit", {}], ["submit", {}]);

export type TeamLab = Awaited<ReturnType<typeof teamLab>>;

/** One provider answers all members: a model has the name of its member. */
export async function teamLab(
  t: TestContext,
  members: Record<string, LabMember>,
  given: Partial<Pick<TeamRequest, "workspace" | "resources">> & {
    open?: (under: string, earlier?: string) => Promise<Sandbox>;
    gatewayReplies?: (request: SeenRequest) => Reply;
    /** Whether calls cost what `prices` of a run says. */
    priced?: boolean;
  } = {},
) {
  const folder = mkdtempSync(join(tmpdir(), "team-"));
  t.after(async () => {
    await removeDiskImages(folder);
    removeFolder(folder);
  });
  const seen: SeenRequest[] = [];
  const provider = await startLoopbackProvider({
    async script(request) {
      seen.push(request);
      const member = members[request.model];
      if (!member || !("answers" in member)) return given.gatewayReplies?.(request) ?? { text: "ok", usage };
      const step = request.messages.filter(({ role }) => role === "assistant").length;
      const { answers } = member;
      return typeof answers === "function" ? answers(step, request) : answers[step]!;
    },
  });
  t.after(() => provider.close());
  const at = (...names: string[]) => join(folder, ...names);
  for (const name of ["data", "program", "starter"]) mkdirSync(at(name));
  writeFileSync(at("data/train.txt"), "public\n");
  for (const [name, member] of Object.entries(members))
    if ("script" in member) writeFileSync(at("program", `${name}.sh`), member.script);
  const team = {
    members: Object.entries(members).map(([name, { role, after = [], ...member }]): TeamMember => {
      const common = { name, agent: `test-${name}`, after, ...(role !== undefined && { role }) };
      if ("script" in member)
        return {
          ...{ ...common, kind: "command", command: ["sh", `./${name}.sh`] },
          ...(member.gateway && { gateway: providersAt(provider) }),
        };
      const model = {
        provider: "p",
        id: name,
        baseUrl: provider.baseUrl,
        contextTokens: 50_000,
        maxOutputTokens: 1000,
        free: !given.priced,
      };
      const llm = { model, scaffold: { kind: "react" as const }, key: provider.key };
      return { ...common, kind: "llm", command: [], llm };
    }),
    workspace: given.workspace ?? "shared",
    resources: given.resources ?? "shared",
  } satisfies TeamRequest;
  const open = given.open ?? plainSandbox;
  let runs = 0;
  return {
    ...{ provider, seen, at, team },
    /** `files`: an earlier attempt's folder, whose trajectory continues. */
    async run(changes: Partial<AttemptRequest> = {}, earlier?: { files: string; sandbox?: string }) {
      const files = earlier?.files ?? at(`run-${++runs}`);
      const inRun = (name: string) => join(files, name);
      for (const name of ["submission", "snapshots", "attachments"])
        mkdirSync(inRun(name), { recursive: true });
      const outputs = {
        submission: inRun("submission"),
        trajectory: inRun("trajectory.jsonl"),
        ledger: inRun("ledger.json"),
        snapshots: inRun("snapshots"),
        attachments: inRun("attachments"),
      };
      const sandbox = await open(inRun("work"), earlier?.sandbox);
      const read = () => eventsOf(outputs.trajectory);
      try {
        const ledger: Ledger = await runAttempt(sandbox, {
          ...{ task: "some-task", agent: "test", seed: 7, kind: "team", command: [], team },
          ...{ program: at("program"), prompt: "Do the task.\n", publicData: at("data") },
          ...{ budget: { timeMs: 60_000 }, outputs, scratch: mkdtempSync(at("scratch-")) },
          ...{ limits: { bytesMax: 1 << 20, filesMax: 100 }, pollMs: 20, spending: inRun("spending.jsonl") },
          ...changes,
        });
        return { ledger, files, events: read(), submitted: readdirSync(outputs.submission).sort() };
      } finally {
        await sandbox.close({ keepFiles: true });
      }
    },
  };
}

export function eventsOf(trajectory: string): (TrajectoryEvent & { index: number })[] {
  const lines = readFileSync(trajectory, "utf8").trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line));
}

type Board = Extract<TrajectoryEvent, { event: "board" }>;

export const boardOf = (events: TrajectoryEvent[]) =>
  events
    .filter((event): event is Board => event.event === "board")
    .map(({ member, to, purpose, text }) => `${member} to ${to}, ${purpose}: ${text}`);

/** How each member ended, in their order. */
export const endsOf = (events: TrajectoryEvent[]) =>
  Object.fromEntries(
    events.flatMap((event) => (event.event === "member-end" ? [[event.member, event.result.kind]] : [])),
  );
