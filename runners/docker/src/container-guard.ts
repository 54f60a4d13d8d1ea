// Whoever holds a sandbox's container while it runs: a shell of its own session around the engine's attached client.
// Its standard input is the supervisor's pipe. When that closes, with the supervisor or by it, the first process in
// the container ends and everything in it; the shell then says how it ended and removes it, also when nobody is left
// to hear it.
import { spawn } from "node:child_process";
import { tmpdir } from "node:os";
import type { Duplex } from "node:stream";
import { readFormat } from "@mlrb/formats/read-format";
import { type ContainerState, containerState } from "@mlrb/formats/stage/container-state";
import type { ContainerEngine } from "./container-engine.ts";

/**
 * `kill` first: the client may have gone away and left a container that runs. A container that is paused when the
 * supervisor dies cannot read the end of its input: descriptor 3 closes with the supervisor too, and lets it go on.
 */
const script = `{ read -r _ <&3; "$1" unpause "$2"; } >/dev/null 2>&1 &
exec 3<&-
"$1" start --attach --interactive "$2" 2>&1
"$1" kill "$2" >/dev/null 2>&1
kill $! 2>/dev/null
echo
echo "state $("$1" inspect --type container --format '{{json .State}}' "$2" 2>&1 | tr '\\n' ' ')"
exec "$1" rm --force --volumes "$2" >/dev/null 2>&1`;

export type ContainerGuard = {
  /** Settles once programs can be run in it, or with why they never will. */
  ready: Promise<{ failed: string } | undefined>;
  /** Settles once nothing of it runs; with undefined where the engine cannot tell how it ended. */
  ended: Promise<ContainerState | undefined>;
  /** Settles once it is removed. */
  removed: Promise<void>;
  /** Has it ended as if the supervisor had. */
  release(): void;
};

export function guardContainer({ program, env }: ContainerEngine, id: string): ContainerGuard {
  // it must live when everything that bears the mark of this stage is ended: it clears up
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
  for (const stream of [child.stdin!, child.stdio[3] as Duplex]) stream.on("error", () => {}); // told by its end
  child.stdout!.setEncoding("utf8").on("data", (text: string) => {
    said = (said + text).slice(-10_000);
    if (/^ready$/m.test(said)) isReady(undefined);
    const state = /^state (.*)\n/m.exec(said)?.[1];
    if (state === undefined) return;
    isReady({ failed: said.slice(0, said.lastIndexOf("\nstate ")).trim() });
    hasEnded(parsed(state));
  });
  const over = (error?: Error) => {
    isReady({ failed: error?.message ?? said.trim() });
    hasEnded(undefined);
    isRemoved();
  };
  child.on("error", over).on("close", () => over());
  return { ready, ended, removed, release: () => child.stdin!.end() };
}

function parsed(text: string): ContainerState | undefined {
  const reading = readFormat(containerState, text);
  return reading.kind === "ok" ? reading.value : undefined; // else the engine's complaint
}
