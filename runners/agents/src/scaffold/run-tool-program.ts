// Runs one program for a tool inside the sandbox, with a time limit and bounded output. `timeout` enforces the limit
// inside; a timer outside catches a sandbox that does not answer. The end of the budget, which a person may extend
// meanwhile, ends the whole sandbox. A child in the background may go on, whatever descriptors it holds open.
import { setTimeout as sleep } from "node:timers/promises";
import type { ExecResult, OverLimit } from "@mlrb/core/ports/sandbox";
import { SandboxTrouble } from "../sandbox/sandbox-trouble.ts";
import { type ProgramOutput, programOutput } from "./program-output.ts";
import type { ToolResult, ToolWorld } from "./tool.ts";

export type ToolProgram = {
  argv: string[];
  /** Seconds. */
  limitSeconds: number;
};

export type ProgramEnd =
  | { kind: "exited"; code: number; over?: OverLimit }
  | { kind: "signalled"; signal: string; over?: OverLimit }
  | { kind: "timed-out"; over?: OverLimit }
  /** The agent's doing: no workspace to run in, or no process left. */
  | { kind: "not-started"; detail: string }
  /** Nothing runs in this sandbox any more. */
  | { kind: "dead"; detail: string; over?: OverLimit };

/** One pipe for both streams: their order is then the same in every replay. */
const bounded =
  'exec 2>&1; kill_after="$1"; limit="$2"; shift 2; exec timeout -k "$kill_after" "$limit" "$@"';

/** Throws SandboxTrouble if the sandbox is lost, and the signal's reason once that is aborted. The caller removes `output`. */
export async function runToolProgram(
  world: ToolWorld,
  { argv, limitSeconds }: ToolProgram,
): Promise<{ end: ProgramEnd; output: ProgramOutput }> {
  const { sandbox, cwd, env, meter, signal, patience } = world;
  signal.throwIfAborted();
  const output = programOutput(world.scratch);
  const killAfter = patience.killAfterMs / 1000;
  const started = performance.now();
  let failure: unknown;
  try {
    const running = sandbox.exec({
      argv: ["sh", "-c", bounded, "sh", String(killAfter), String(limitSeconds), ...argv],
      cwd,
      env,
      onOutput(_, bytes) {
        try {
          output.take(bytes);
        } catch (error) {
          failure ??= error; // rethrown below: thrown here it would end the supervisor
        }
      },
    });
    const elapsedMs = () => performance.now() - started;
    const limitMs = limitSeconds * 1000;
    const patientMs = patience.killAfterMs + patience.guardMs;
    const leftMs = () => Math.min(limitMs - elapsedMs(), meter.leftMs()) + patientMs;
    const result = await guarded(running, leftMs, signal);
    output.end();
    if (failure) throw failure;
    return { end: await endOf(world, result, elapsedMs() >= limitMs - 50), output };
  } catch (error) {
    output.end();
    output.remove();
    throw error;
  }
}

/** Undefined if it has not returned before `leftMs` is over. */
async function guarded(
  running: Promise<ExecResult>,
  leftMs: () => number,
  signal: AbortSignal,
): Promise<ExecResult | undefined> {
  running.catch(() => {}); // the race reports it, or its result is not wanted any more
  signal.throwIfAborted();
  const over = new AbortController();
  const any = AbortSignal.any([signal, over.signal]);
  const timer = (async () => {
    for (let ms = leftMs(); ms > 0; ms = leftMs())
      await sleep(Math.min(Math.ceil(ms), 2 ** 31 - 1), undefined, { signal: any });
    return undefined;
  })();
  try {
    return await Promise.race([running, timer]);
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    over.abort();
  }
}

async function endOf(
  world: ToolWorld,
  result: ExecResult | undefined,
  overTime: boolean,
): Promise<ProgramEnd> {
  if (result === undefined) return { kind: "timed-out" };
  switch (result.kind) {
    case "lost":
      throw lost(result.detail);
    case "not-started": {
      const dead = await answers(world);
      if (dead === undefined) return result;
      // with nothing running and its root present, a sandbox that starts nothing has no process left
      if (/^(EAGAIN|ENOMEM)\b/.test(dead.detail)) return { kind: "dead", ...dead };
      throw new SandboxTrouble(`no program can be started in the sandbox: ${dead.detail}`);
    }
    case "exited":
    case "signalled": {
      const over = result.over && { over: result.over };
      const dead = over && (await answers(world));
      if (dead) return { kind: "dead", detail: dead.detail, ...over };
      const code = result.kind === "exited" ? result.code : undefined;
      const byTimeout = code === 124 || code === 137 || result.kind === "signalled";
      return overTime && byTimeout && !over ? { kind: "timed-out" } : result;
    }
  }
}

/** Why the sandbox starts nothing any more; undefined if it does. A tool needs two processes at least. */
async function answers(world: ToolWorld): Promise<{ detail: string } | undefined> {
  const { sandbox, env, patience, signal } = world;
  const probe = sandbox.exec({
    argv: ["timeout", "30", "true"],
    cwd: sandbox.seenAs(""),
    env,
    onOutput: () => {},
  });
  const begun = performance.now();
  const result = await guarded(probe, () => patience.guardMs - (performance.now() - begun), signal);
  if (result === undefined) return { detail: "it does not answer" };
  if (result.kind === "lost") throw lost(result.detail);
  if (result.kind === "not-started") return { detail: result.detail };
  // a full disk ends programs until they have removed something
  if (result.over?.limit === "disk") return undefined;
  return result.kind === "exited" && result.code === 0
    ? undefined
    : { detail: "it ends whatever is started" };
}

function lost(detail: string): SandboxTrouble {
  return new SandboxTrouble(
    `the sandbox ended while its agent was running: ${detail}; that is not the agent's doing, so nothing was measured`,
  );
}

/** The first line that a model gets, and the result without its text. */
export function resultOfEnd(
  end: ProgramEnd,
  limitSeconds: number,
): { line: string } & Omit<ToolResult, "text"> {
  const over = "over" in end ? end.over : undefined;
  const wayOut = over?.limit === "disk" ? ". All programs were ended; remove files before anything else" : "";
  const met = over ? `; the limit of the sandbox was met: ${over.detail}${wayOut}` : "";
  switch (end.kind) {
    case "exited":
      return {
        line: `exit code ${end.code}${met}`,
        outcome: end.code === 0 ? "done" : "failed",
        exit: { code: end.code },
        executed: true,
      };
    case "signalled":
      return {
        line: `ended by ${end.signal}${met}`,
        outcome: "failed",
        exit: { signal: end.signal },
        executed: true,
      };
    case "timed-out":
      return {
        line: `ended at its limit of ${limitSeconds} s, or what was left of the budget; start longer work in the background and look at its log`,
        outcome: "timed-out",
        executed: true,
      };
    case "not-started":
      return {
        line: "could not be started: the workspace's folder is gone, or there are too many processes; look with shell",
        outcome: "failed",
      };
    case "dead":
      return {
        line: `the sandbox starts no programs any more: ${end.detail}${met}`,
        outcome: "failed",
        ends: {
          kind: "agent-error",
          detail: `its programs left the sandbox unusable: ${end.detail}`,
          ...(over && { over }),
        },
      };
  }
}
