// How a container ended, told by what the engine recorded of it (`.State`) and by nothing else: exit codes of the
// engine's program (125 to 127) may be the stage's own as well, and an engine that was killed takes the true one along.

import { setTimeout as sleep } from "node:timers/promises";
import { readFormat } from "@mlrb/formats/read-format";
import { type ContainerState, containerState } from "@mlrb/formats/stage/container-state";
import type { ContainerEngine } from "./container-engine.ts";
import type { CallTrouble } from "./engine-call.ts";

export type ContainerEnd =
  | { kind: "exited"; state: ContainerState }
  /** The engine's or the machine's doing, never the program's. */
  | { kind: "trouble"; detail: string; line?: string };

export type FollowOptions = {
  /** Starts it first; else it was started by someone before. */
  begin: boolean;
  /** How long an engine that went away is waited for, ms. */
  patienceMs: number;
};

const retryMs = 250;

/** Waits until it has ended; never rejects. */
export async function followContainer(
  engine: ContainerEngine,
  id: string,
  { begin, patienceMs }: FollowOptions,
): Promise<ContainerEnd> {
  // one call that starts it, waits and gives its exit code: a wait after a start would take another 25 ms
  let call = begin ? ["start", "--attach", id] : undefined;
  let away: CallTrouble | undefined;
  let awaySince = 0;
  for (;;) {
    const waited = call && (await engine.call(call, { timeMs: Number.POSITIVE_INFINITY }));
    const said = waited?.ok === false ? waited.trouble : undefined;
    if (said && isAway(said)) {
      away ??= said;
      awaySince ||= performance.now();
    }
    const state = await stateOf(engine, id);
    if ("trouble" in state) {
      if (!isAway(state.trouble)) {
        const { kind, detail, line } = state.trouble;
        if (kind !== "container-missing") return { kind: "trouble", detail, line };
        return { kind: "trouble", detail: "its container was removed by somebody else while it ran" };
      }
      away ??= state.trouble;
      awaySince ||= performance.now();
      if (performance.now() - awaySince > patienceMs)
        return { kind: "trouble", detail: goneFor(patienceMs, away) };
      call = undefined;
      await sleep(retryMs);
      continue;
    }
    switch (state.Status) {
      case "created":
      case "configured":
      case "initialized": {
        // it may have run, and its engine have had no time to write that down
        if (away)
          return { kind: "trouble", detail: `the container engine was ended while it ran: ${away.detail}` };
        const why = state.Error || said?.detail || "the engine does not say why";
        return {
          kind: "trouble",
          detail: `its container could not be started: ${why}`,
          ...(said && { line: said.line }),
        };
      }
      case "exited":
      case "stopped":
      case "dead": {
        // an engine that comes back ends what ran (without live-restore) and makes an exit code up
        if (away)
          return { kind: "trouble", detail: `the container engine was ended while it ran: ${away.detail}` };
        const told = waited === undefined || call![0] === "wait" ? undefined : waited.ok ? 0 : waited.code;
        if (told !== undefined && told !== state.ExitCode)
          return {
            kind: "trouble",
            detail: `the container engine tells of two exit codes, ${told} and ${state.ExitCode}; was it restarted?`,
          };
        return { kind: "exited", state };
      }
      default:
        // it runs on: the engine came back to it (live-restore), or only its program was killed
        away = undefined;
        awaySince = 0;
        if (call?.[0] === "wait") await sleep(retryMs);
        call = ["wait", id];
    }
  }
}

export async function stateOf(
  engine: ContainerEngine,
  id: string,
): Promise<ContainerState | { trouble: CallTrouble }> {
  const asked = await engine.call(["inspect", "--type", "container", "--format", "{{json .State}}", id]);
  if (!asked.ok) return { trouble: asked.trouble };
  const reading = readFormat(containerState, asked.stdout);
  if (reading.kind === "ok") return reading.value;
  const detail = `the answer is no state of a container: ${reading.cause}`;
  return { trouble: { kind: "other", detail, line: `${engine.program} inspect ${id}` } };
}

function isAway({ kind }: CallTrouble): boolean {
  return kind === "no-daemon" || kind === "engine-gone" || kind === "timed-out";
}

function goneFor(ms: number, { detail }: CallTrouble): string {
  return `the container engine went away while it ran and did not come back within ${Math.round(ms / 1000)} s: ${detail}`;
}
