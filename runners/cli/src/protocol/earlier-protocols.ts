// Protocols that were frozen under a path, as this state folder and Git remember them: a file that was edited, or removed
// and frozen again, otherwise leaves no trace.
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { type FrozenProtocol, type ProtocolObservation, protocolFreeze } from "@mlrb/formats/report/protocol";
import { appendLines, linesOf } from "@mlrb/local/records/decision-log";
import type { StateFolder } from "@mlrb/local/store/state-folder";
import { plainText } from "@mlrb/report/read/plain-text";
import { readProtocol } from "./protocol-file.ts";

type Earlier = ProtocolObservation["earlier"];
type Remembered = Pick<ProtocolObservation, "earlier" | "committed">;

/** Next to the records, so that no cleanup of the cache removes it. */
const logOf = ({ attempts }: Pick<StateFolder, "attempts">) => join(attempts, "protocols.jsonl");

/** `path`: of the protocol, from the root. */
export function rememberFreeze(
  state: Pick<StateFolder, "attempts">,
  path: string,
  { digest, frozenAt }: Pick<FrozenProtocol, "digest" | "frozenAt">,
): void {
  appendLines(logOf(state), [{ formatVersion: 1, path, digest, frozenAt }]);
}

export function rememberedFreezes(state: Pick<StateFolder, "attempts">, path: string): Earlier {
  return linesOf(protocolFreeze, logOf(state))
    .filter((one) => one.path === path)
    .map(({ digest, frozenAt }) => ({
      digest,
      frozenAt: plainText(frozenAt, 40),
      seen: "this state folder",
    }));
}

/** Each protocol of this path besides the one with `digest`, once, and the first commit that holds that one. */
export function rememberedProtocols(
  state: Pick<StateFolder, "attempts" | "root">,
  path: string,
  digest: string | undefined,
): Remembered {
  const versions = committedProtocols(state.root, path);
  const first = versions.find((one) => one.digest === digest);
  const all = [
    ...rememberedFreezes(state, path),
    ...versions.map(({ commit, committedAt, ...one }) => ({
      ...one,
      seen: `commit ${commit.slice(0, 10)} of ${committedAt}`,
    })),
  ];
  return {
    committed: first ? { commit: first.commit, committedAt: first.committedAt } : null,
    earlier: all.filter(
      (one, index) => one.digest !== digest && all.findIndex((each) => each.digest === one.digest) === index,
    ),
  };
}

const commitsMax = 50;

/** Oldest first; empty without Git. */
function committedProtocols(root: string, path: string) {
  const log = git(root, ["log", `-${commitsMax}`, "--format=%H %ct", "--", path]) ?? "";
  return log
    .split("\n")
    .filter((line) => /^[0-9a-f]{40,64} \d+$/.test(line))
    .reverse()
    .flatMap((line) => {
      const [commit, seconds] = line.split(" ") as [string, string];
      const reading = readProtocol(git(root, ["show", `${commit}:./${path}`]) ?? "");
      if (reading.kind === "unreadable") return [];
      const committedAt = new Date(Number(seconds) * 1000).toISOString();
      return [
        {
          digest: reading.value.digest,
          frozenAt: plainText(reading.value.frozenAt, 40),
          commit,
          committedAt,
        },
      ];
    });
}

function git(cwd: string, args: string[]): string | undefined {
  try {
    const stdio = ["ignore", "pipe", "ignore"] as ["ignore", "pipe", "ignore"];
    return execFileSync("git", args, { cwd, encoding: "utf8", maxBuffer: 64 << 20, stdio });
  } catch {
    return undefined; // no Git, no repository, or no such file in that commit
  }
}
