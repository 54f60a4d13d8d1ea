// Runs an attempt of a person: a shell inside the walls, whose commands and output are recorded.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { runProgram } from "../attempt/run-program.ts";
import type { SupervisedRun } from "../attempt/supervise.ts";
import type { Supervision } from "../attempt/supervision.ts";
import type { ShellHandlers } from "./person-desk.ts";

/** How long the end waits for what the person declares. */
const declarationMs = 15 * 60_000;
/** Of a command's output, at its end; the output events hold all of it. */
const tailMax = 4 << 10;

/** Throws if the shell cannot be started or the record cannot be kept. */
export async function runPerson(supervision: Supervision): Promise<SupervisedRun> {
  const { request, sandbox, trajectory } = supervision;
  const { desk } = request.person!;
  const { person, consent, agreedAt, knowledge } = desk.hello()!;
  if (request.earlier?.person === undefined && consent && agreedAt && knowledge !== undefined)
    trajectory.add({ event: "person", person, consent, agreedAt, knowledge });
  const ran = await runProgram(supervision, {
    async open() {
      if (!sandbox.listen)
        throw new Error(
          `agent "${request.agent}": its sandbox (${sandbox.kind}) has no place for a terminal`,
        );
      await mkdir(join(request.scratch, "terminal"));
      await sandbox.put(join(request.scratch, "terminal"), "terminal", { readOnly: true });
      await sandbox.listen(desk.inside, "terminal/sock");
    },
    serve: (failed) => desk.serve(recorded(supervision, failed)),
  });
  const how = ran.ending.kind === "time-limit" ? "the time is over" : "the shell has ended";
  const declared = await desk.declaration(how, declarationMs, request.interrupted);
  request.interrupted?.throwIfAborted();
  trajectory.add({ event: "person-end", person, ...(declared && { declared }) });
  return ran;
}

/** `failed` gets what could not be recorded, and ends the attempt. */
function recorded(supervision: Supervision, failed: (error: unknown) => void): ShellHandlers {
  const { request, trajectory, output, clock } = supervision;
  const by = { by: "person", name: "shell" };
  const restarts = request.earlier === undefined ? 0 : request.earlier.times + 1;
  let count = 0;
  let open: { id: string; since: number; tail: Buffer } | undefined;
  const isOrFailed = (act: () => void) => {
    try {
      act();
    } catch (error) {
      failed(error);
    }
  };
  return {
    output: (bytes) =>
      isOrFailed(() => {
        output.take("stdout", bytes);
        if (open) open.tail = Buffer.concat([open.tail, bytes]).subarray(-tailMax);
      }),
    command: (text) =>
      isOrFailed(() => {
        open = { id: `${restarts}-${++count}`, since: clock.workingMs(), tail: Buffer.alloc(0) };
        trajectory.add({ event: "tool-call", ...by, id: open.id, input: text });
      }),
    done: (code) =>
      isOrFailed(() => {
        if (!open) return; // an empty line
        const { id, since, tail } = open;
        open = undefined;
        output.flush();
        trajectory.add({
          ...{ event: "tool-result", ...by, id, outcome: code === 0 ? "done" : "failed", exit: { code } },
          ...{ text: tail.toString(), rest: null, executed: true },
          durationMs: Math.max(0, Math.round(clock.workingMs() - since)),
        });
      }),
    pause: () => void pause(supervision).catch(failed),
  };
}

/** Everything stops until the person comes back, as long as the preset's pauses last. */
async function pause({ request, meter }: Supervision): Promise<void> {
  const { desk, pauseMs } = request.person!;
  const leftMs = pauseMs - (meter.spending().waitedMs.pause ?? 0);
  if (leftMs <= 0) return desk.say("no time for pauses is left");
  const since = new Date();
  const giveUpAt = new Date(since.getTime() + leftMs).toISOString();
  const wait = {
    why: "pause",
    cause: "paused",
    whose: "operator",
    detail: "until the person comes back",
  } as const;
  request.waits?.board.show("pause", {
    ...wait,
    since: since.toISOString(),
    nextTry: giveUpAt,
    giveUpAt: null,
  });
  try {
    await meter.waiting("pause", () => desk.away(leftMs, request.interrupted));
  } finally {
    request.waits?.board.clear("pause");
  }
}
