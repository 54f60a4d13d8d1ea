// Guards a sandbox's container while it runs: a shell in a session of its own around the engine's attached client.
// Its standard input is the supervisor's pipe. When the pipe closes, because the supervisor closes it or dies, the
// first process in the container ends, and everything in it. The shell then reports how the container ended and
// removes it, with or without a reader.
import { spawn } from "node:child_process";
import { tmpdir } from "node:os";
import type { Duplex } from "node:stream";
import { readFormat } from "@mlrb/formats/read-format";
import { type ContainerState, containerState } from "@mlrb/formats/stage/container-state";
import type { ContainerEngine } from "./container-engine.ts";

/**
 * `kill` first: the client may have ended and left a running container. A container that is paused when the
 * supervisor dies cannot read the end of its input; descriptor 3 closes with the supervisor too, and unpauses it.
 */
const script = `{ read -r _ <&3; "$1" unpause "$2"; } >/dev/null 2>&1 &
exec 3<&-
"$1" start --attach --interactive "$2" 2>&1
"$1" kill "$2" >/dev/null 2>&1
kill $! 2>/dev/null
echo
echo "state $("$1" inspect --type container --format '{{json .State}}' "$2" 2>&1 | tr '\\n' ' ')"
exec "$1" rm --force --volumes "$2" >/dev/null 2>&1`;

export type ContainerGuard = ReturnType<typeof guardContainer>;

export function guardContainer({ program, env }: ContainerEngine, id: string) {
  // without MLRB_TOKEN: the guard must survive the end of the stage's marked processes, to clean up
  const { MLRB_TOKEN: _, ...visible } = env;
  const child = spawn("/bin/sh", ["-c", script, "mlrb-guard", program, id], {
    env: visible,
    stdio: ["pipe", "pipe", "ignore", "pipe"],
    detached: true,
    cwd: tmpdir(),
  });
  const { promise: ready, resolve: isReady } = Promise.withResolvers<{ failed: string } | undefined>();
  const { promise: ended, resolve: hasEnded } = Promise.withResolvers<ContainerState | undefined>();
  const { promise: removed, resolve: isRemoved } = Promise.withResolvers<void>();
  let said = "";
  for (const stream of [child.stdin!, child.stdio[3] as Duplex]) stream.on("error", () => {}); // its end is enough
  child.stdout!.setEncoding("utf8").on("data", (text: string) => {
    said = (said + text).slice(-10_000);
    if (/^ready$/m.test(said)) isReady(undefined);
    const state = /^state (.*)\n/m.exec(said)?.[1];
    if (state === undefined) return;
    isReady({ failed: said.slice(0, said.lastIndexOf("\nstate ")).trim() });
    const reading = readFormat(containerState, state);
    hasEnded(reading.kind === "ok" ? reading.value : undefined); // otherwise an error of the engine
  });
  const over = (error?: Error) => {
    isReady({ failed: error?.message ?? said.trim() });
    hasEnded(undefined);
    isRemoved();
  };
  child.on("error", over).on("close", () => over());
  return {
    /** Resolves once programs can run in the container, or with the reason why they cannot. */
    ready,
    /** Resolves once the container has ended; with undefined if the engine cannot tell how. */
    ended,
    /** Resolves once the container is removed. */
    removed,
    /** Ends the container as the supervisor's death would. */
    release: () => child.stdin!.end(),
  };
}
