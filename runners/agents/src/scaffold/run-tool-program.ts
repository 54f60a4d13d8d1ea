// Runs one program for a tool inside the sandbox, with a time limit and bounded output. `timeout` enforces the
// limit inside; a timer outside catches a sandbox that does not answer. The end of the budget, which a person may
// extend meanwhile, ends the whole sandbox. A child in the background may go on, whatever descriptors it holds
// open.
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

/** The first line that a model gets, and the result without its text. */
type ProgramEnd = { line: string } & Omit<ToolResult, "text">;

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
    const overTime = elapsedMs() >= limitMs - 50;
    return { end: await endOf(world, result, { limitSeconds, overTime }), output };
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
  { limitSeconds, overTime }: { limitSeconds: number; overTime: boolean },
): Promise<ProgramEnd> {
  const timedOut: ProgramEnd = {
    line: `ended at its limit of ${limitSeconds} s, or what was left of the budget; start longer work in the background and look at its log`,
    outcome: "timed-out",
    executed: true,
  };
  if (result === undefined) return timedOut;
  if (result.kind === "lost") throw lost(result.detail);
  if (result.kind === "not-started") {
    const dead = await answers(world);
    if (dead === undefined)
      return {
        line: "could not be started: the workspace's folder is gone, or there are too many processes; look with shell",
        outcome: "failed",
      };
    // with nothing running and its root present, a sandbox that starts nothing has no process left
    if (/^(EAGAIN|ENOMEM)\b/.test(dead.detail)) return unusable(dead.detail);
    throw new SandboxTrouble(`no program can be started in the sandbox: ${dead.detail}`);
  }
  const { over } = result;
  const dead = over && (await answers(world));
  if (dead) return unusable(dead.detail, over);
  const { code, signal } = { code: undefined, signal: undefined, ...result };
  if (overTime && !over && (code === undefined || code === 124 || code === 137)) return timedOut;
  const how = code === undefined ? `ended by ${signal}` : `exit code ${code}`;
  const exit = code === undefined ? { signal: signal! } : { code };
  return { line: how + met(over), outcome: code === 0 ? "done" : "failed", exit, executed: true };
}

/** Nothing runs in this sandbox any more, by the agent's doing. */
function unusable(why: string, over?: OverLimit): ProgramEnd {
  const detail = `its programs left the sandbox unusable: ${why}`;
  return {
    line: `the sandbox starts no programs any more: ${why}${met(over)}`,
    outcome: "failed",
    ends: { kind: "agent-error", detail, ...(over && { over }) },
  };
}

function met(over: OverLimit | undefined): string {
  if (!over) return "";
  const wayOut = over.limit === "disk" ? ". All programs were ended; remove files before anything else" : "";
  return `; the limit of the sandbox was met: ${over.detail}${wayOut}`;
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
