// Words the reason why a supervisor died without writing an end, from observable facts only.

import { readFileSync, statfsSync } from "node:fs";
import { join } from "node:path";
import type { EndCause } from "@mlrb/formats/attempt/attempt-end";
import { look } from "../leases/heartbeat.ts";
import { machineHelp } from "../run/machine-help.ts";
import { ifReadable } from "../store/if-readable.ts";
import { brokenFile, supervisorFile, toldToEnd } from "./attempt-folders.ts";

/** A disk with less free space counts as full. */
const fullBytes = 64 << 10;

/**
 * The cause for an attempt whose supervisor died without writing an end. `folder`: the attempt's folder. `seen`:
 * how its process ended, as seen by the parent.
 */
export function lostCause(folder: string, seen?: string): EndCause {
  const told = toldToEnd(folder);
  if (told) return { ...told, detail: `${told.detail}, and killed before it could write its end` };
  const owner = look(supervisorFile(folder))?.owner;
  if (owner?.gone) return { kind: "host-gone", detail: owner.host };
  const broken = ifReadable(() => readFileSync(join(folder, brokenFile), "utf8"));
  if (broken !== undefined)
    return { kind: "supervisor-lost", detail: (JSON.parse(broken) as { detail: string }).detail };
  const detail = `its supervisor ended without a word: ${seen ?? lostWords(folder)}`;
  return { kind: "supervisor-lost", detail };
}

function lostWords(folder: string): string {
  const disk = ifReadable(() => statfsSync(folder));
  if (disk && disk.bavail * disk.bsize < fullBytes) return machineHelp("ENOSPC")!;
  const lines = ifReadable(() => readFileSync(join(folder, "supervisor.log"), "utf8").split("\n"));
  const said = lines?.find((line) => /Error|error|ENOSPC/.test(line));
  if (said === undefined) return "it was killed and left nothing in its log";
  return `it said: ${said.trim().slice(0, 300)}`;
}
