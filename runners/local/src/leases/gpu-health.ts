// Checks devices just before a stage gets them. Does the driver still list them, does another process compute on
// them, have they reported errors? Unlike the inventory, each check queries the driver again.
import type { Gpu } from "@mlrb/core/ports/gpu";
import { partlyAnswered } from "./gpu-inventory.ts";
import { plain, readListing, readTable } from "./gpu-listing.ts";

/** Why a device cannot be used now: `busy` passes without action, `unfit` does not. */
export type Ailment = { uuid: string; kind: "busy" | "unfit"; why: string };

const format = "--format=csv,noheader,nounits";

/** Returns the ailments of `gpus`. A value that the driver does not report is no ailment. */
export async function ailmentsOf(gpus: readonly Gpu[], env: NodeJS.ProcessEnv): Promise<Ailment[]> {
  const [listed, apps, errors, mig] = await Promise.all([
    smi(["-L"], env),
    smi(["--query-compute-apps=gpu_uuid,pid,process_name", format], env),
    smi(["--query-gpu=uuid,ecc.errors.uncorrected.volatile.total", format], env),
    smi(["--query-gpu=uuid,mig.mode.current", format], env),
  ]);
  const there = readListing(listed.text);
  const uuids = new Set(there.gpus.flatMap(({ uuid, slices }) => [uuid, ...slices.map((one) => one.uuid)]));
  const divided = new Set(there.gpus.filter(({ slices }) => slices.length > 0).map(({ uuid }) => uuid));
  const users = strangers(apps.text);
  const erred = new Map(readTable(errors.text, ["uuid", "count"]).map((row) => [row.uuid, row.count]));
  const modes = new Map(readTable(mig.text, ["uuid", "mode"]).map((row) => [row.uuid, row.mode]));
  return gpus.flatMap(({ uuid, index }): Ailment[] => {
    const unfit = (why: string): Ailment[] => [{ uuid, kind: "unfit", why }];
    if (!uuids.has(uuid)) {
      const said = there.trouble[0] ?? listed.why;
      return unfit(`the driver no longer lists it${said === undefined ? "" : ` (nvidia-smi -L: ${said})`}`);
    }
    if (divided.has(uuid)) return unfit("it was divided (MIG) since this run began");
    const count = erred.get(uuid) ?? "";
    if (/lost|unknown error|^err!/i.test(count)) return unfit(`its driver says ${plain(count)}`);
    if (Number(count) > 0)
      return unfit(
        `${count} uncorrected memory errors since its driver was loaded; nvidia-smi --gpu-reset -i ${index}, or a reboot, sets it right if it is sound`,
      );
    if (modes.get(uuid) === "Enabled")
      return unfit("it is to be divided (MIG is on) and has no slices; nvidia-smi mig -cgi PROFILE -C");
    const user = users.get(uuid);
    return user === undefined ? [] : [{ uuid, kind: "busy", why: user }];
  });
}

/** Maps each device to the process that computes on it. The MPS server works for other processes and does not count. */
function strangers(text: string): Map<string, string> {
  return new Map(
    readTable(text, ["uuid", "pid", "name"], "name")
      .filter(({ uuid, name }) => /^(GPU|MIG)-/.test(uuid) && !/nvidia-cuda-mps-server/.test(name))
      .map(({ uuid, pid, name }) => [uuid, `process ${plain(pid)} (${plain(name)}), which no run started,`]),
  );
}

type Answer = { text: string; why?: string };

async function smi(args: string[], env: NodeJS.ProcessEnv): Promise<Answer> {
  const { execa } = await import("execa");
  const limits = { timeout: 60_000, maxBuffer: 1 << 20 };
  const options = { ...limits, env, extendEnv: false, stdin: "ignore", reject: false } as const;
  const answer = await execa("nvidia-smi", args, options);
  const { stdout = "" } = answer;
  if (!answer.failed) return { text: stdout };
  const partly = partlyAnswered.includes(answer.exitCode ?? -1);
  return {
    text: partly ? stdout : "",
    why: plain((stdout.trim() || (answer.shortMessage ?? "")).split("\n")[0]!),
  };
}
