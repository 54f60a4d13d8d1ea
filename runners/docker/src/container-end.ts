// How a container ended, read only from the engine's record of it (`.State`). The exit code of the engine's program is
// not enough: 125 to 127 may be the stage's own, and a killed engine loses the true one.

import { existsSync, mkdtempDisposableSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { readFormat } from "@mlrb/formats/read-format";
import { type ContainerState, containerState } from "@mlrb/formats/stage/container-state";
import type { ContainerEngine } from "./container-engine.ts";
import type { CallResult, CallTrouble } from "./engine-call.ts";

export type ContainerEnd =
  | { kind: "exited"; state: ContainerState }
  /** The engine or the machine failed, never the program. */
  | { kind: "trouble"; detail: string; line?: string };

export type FollowOptions = {
  /** Start the container first; otherwise it was started before. */
  begin: boolean;
  /** How long to wait for an engine that went away, ms. */
  patienceMs: number;
};

const retryMs = 250;

/** Waits until the container has ended. Rejects only if podman can have no folder for temporary files. */
export async function followContainer(
  engine: ContainerEngine,
  id: string,
  options: FollowOptions,
): Promise<ContainerEnd> {
  if (engine.flavour === "docker" || !options.begin) return await follow(engine, id, options);
  // podman's helper notes in its folder that a process was killed for lack of memory; podman 4.3 looks elsewhere
  using folder = mkdtempDisposableSync(join(tmpdir(), "mlrb-podman-"));
  const end = await follow(engine, id, { ...options, cwd: folder.path });
  if (end.kind !== "exited" || !existsSync(join(folder.path, "oom"))) return end;
  return { ...end, state: { ...end.state, OOMKilled: true } };
}

async function follow(
  engine: ContainerEngine,
  id: string,
  { begin, patienceMs, cwd }: FollowOptions & { cwd?: string },
): Promise<ContainerEnd> {
  const more = { timeMs: Number.POSITIVE_INFINITY, ...(cwd !== undefined && { cwd }) };
  // one call starts it, waits and returns its exit code: a `wait` after a `start` would take another 25 ms
  let call = begin ? ["start", "--attach", id] : undefined;
  let away: { trouble: CallTrouble; since: number } | undefined;
  for (;;) {
    const waited = call && (await engine.call(call, more));
    const failed = waited?.ok === false ? waited.trouble : undefined;
    if (failed && isAway(failed)) away ??= { trouble: failed, since: performance.now() };
    const state = await stateOf(engine, id);
    if ("trouble" in state) {
      const { kind, detail, line } = state.trouble;
      if (kind === "container-missing") return trouble("its container was removed from outside while it ran");
      if (!isAway(state.trouble)) return trouble(detail, line);
      away ??= { trouble: state.trouble, since: performance.now() };
      if (performance.now() - away.since > patienceMs) {
        const how = `went away while it ran and did not come back within ${Math.round(patienceMs / 1000)} s`;
        return trouble(`the container engine ${how}: ${away.trouble.detail}`);
      }
      call = undefined;
      await sleep(retryMs);
      continue;
    }
    const unstarted = ["created", "configured", "initialized"].includes(state.Status);
    if (unstarted || ["exited", "stopped", "dead"].includes(state.Status)) {
      // Without live-restore an engine that comes back ends what ran and invents an exit code. A container that
      // seems unstarted may have run, and the engine had no time to record that.
      if (away) return trouble(`the container engine was ended while it ran: ${away.trouble.detail}`);
      if (!unstarted) return exited(state, call?.[0] === "wait" ? undefined : waited);
      const why = state.Error || failed?.detail || "the engine gives no reason";
      return trouble(`its container could not be started: ${why}`, failed?.line);
    }
    // the container still runs: the engine came back to it (live-restore), or only the engine's program was killed
    away = undefined;
    if (call?.[0] === "wait") await sleep(retryMs);
    call = ["wait", id];
  }
}

/** `attached`: the call that started it and waited for its exit code. */
function exited(state: ContainerState, attached: CallResult | undefined): ContainerEnd {
  const code = attached?.ok ? 0 : attached?.code;
  if (code === undefined || code === state.ExitCode) return { kind: "exited", state };
  return trouble(
    `the container engine reports two exit codes, ${code} and ${state.ExitCode}; was it restarted?`,
  );
}

function trouble(detail: string, line?: string): ContainerEnd {
  return { kind: "trouble", detail, ...(line !== undefined && { line }) };
}

export async function stateOf(
  engine: ContainerEngine,
  id: string,
): Promise<ContainerState | { trouble: CallTrouble }> {
  const inspected = await engine.call(["inspect", "--type", "container", "--format", "{{json .State}}", id]);
  if (!inspected.ok) return { trouble: inspected.trouble };
  const reading = readFormat(containerState, inspected.stdout);
  if (reading.kind === "ok") return reading.value;
  const detail = `the answer is no state of a container: ${reading.cause}`;
  return { trouble: { kind: "other", detail, line: `${engine.program} inspect ${id}` } };
}

function isAway({ kind }: CallTrouble): boolean {
  return kind === "no-daemon" || kind === "engine-gone" || kind === "timed-out";
}
