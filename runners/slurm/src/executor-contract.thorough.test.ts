// The Slurm executor as the engine relies on it, with a real Slurm of two nodes on loopback.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { ExecutionRequest } from "@mlrb/core/ports/executor";
import {
  ContractLab,
  executorContract,
  type MakeExecutor,
  running,
} from "../../../tests/support/executor-contract.ts";
import { testEngine } from "../../../tests/support/machines/docker-engine.ts";
import { type SlurmCluster, slurmCluster } from "../../../tests/support/machines/slurm-cluster.ts";
import { until } from "../../../tests/support/processes.ts";
import { SlurmExecutor } from "./slurm-executor.ts";

const program = join(import.meta.dirname, "../../cli/src/cluster/slurm-job.ts");
const inDocker = fileURLToPath(
  new URL("../../../tests/support/machines/slurm-job-in-docker.ts", import.meta.url),
);
const times = { intervalMs: 300, lateMs: 3_000 };
let cluster: SlurmCluster;
let why: string | false = false;
before(async () => {
  const started = await slurmCluster();
  if ("skip" in started) why = started.skip;
  else cluster = started;
});
after(() => cluster?.stop());

const slurm: MakeExecutor = ({ work, run, isLive, take }) =>
  new SlurmExecutor({ work, run, isLive, take, program, times, env: { ...process.env, ...cluster.env } });

executorContract("slurm", slurm, { skip: () => why, adopts: true });

const image = `lab/score@sha256:${"0".repeat(64)}`;
test("slurm: a stage with an image never runs without it", { timeout: 120_000 }, async (t) => {
  if (why !== false) return t.skip(why);
  const lab = new ContractLab(t, slurm);
  const at = lab.executor("first");
  const requests = [lab.request("echo ran", { image }), lab.walled("echo ran", { image })];
  const results = await Promise.all(requests.map((request) => at.start(request).ended));
  for (const [one, request] of requests.entries()) {
    assert.equal(results[one]!.kind, "failed");
    assert.doesNotMatch(lab.log(request), /^ran$/m);
  }
});

test("slurm: a trusted stage with an image runs in a container, with the same ends, and ends with its job", {
  timeout: 120_000,
}, async (t) => {
  if (why !== false) return t.skip(why);
  const engine = await testEngine();
  if ("skip" in engine) return t.skip(engine.skip);
  t.after(() => engine.stop());
  const env = { ...process.env, ...cluster.env };
  const lab = new ContractLab(t, (at) => new SlurmExecutor({ ...at, program: inDocker, times, env }));
  const at = lab.executor("first");
  const inHost = (command: string, more: Partial<ExecutionRequest> = {}) => {
    const one = lab.request(command, { image: "host", network: "none", ...more });
    return { ...one, env: { ...one.env, DOCKER_HOST: engine.env.DOCKER_HOST! } };
  };
  const good = inHost('echo "$GREETING"; ls /root; echo kept > "$HOME/../out/a"');
  const sleeps = [lab.sleep(), lab.sleep()];
  const late = inHost(`setsid ${sleeps[0]} & ${sleeps[0]}`, { limits: { timeMs: 1_500 } });
  const killed = inHost(`echo begun; setsid ${sleeps[1]} & ${sleeps[1]}`);
  const ends = [good, late, killed].map((one) => at.start(one).ended);
  const succeeded = await ends[0]!;
  assert.ok(succeeded.kind === "succeeded", lab.log(good));
  assert.match(lab.log(good), /^hello, world\nls: .*\/root.*No such file/m);
  assert.equal(readFileSync(join(good.work, "out/a"), "utf8"), "kept\n");
  const { executor, engine: by = "", image: seen = "", node } = succeeded.where ?? {};
  assert.deepEqual([executor, /^docker \d/.test(by), /^sha256:/.test(seen)], ["slurm", true, true]);
  assert.ok(node, JSON.stringify(succeeded.where));
  const detail = "did not end within 1.5 s";
  assert.deepEqual(await ends[1], { kind: "failed", cause: "time-limit", detail });
  await lab.says(killed, "begun");
  cluster.slurm("scancel", "--full", "--signal=KILL", "--name=first");
  assert.equal((await ends[2]!).kind, "failed");
  await until("the end of the stage", () => sleeps.every((one) => running(one).length === 0));
});

test("slurm: where a stage can have no namespaces it has the walls of bubblewrap, and the same ends", {
  timeout: 120_000,
}, async (t) => {
  if (why !== false) return t.skip(why);
  if (!existsSync("/usr/bin/bwrap")) return t.skip("bubblewrap is not installed");
  const lab = new ContractLab(t, slurm);
  const at = lab.executor("first");
  // without python3 on the stage's PATH no namespaces are built
  const env = (request: ExecutionRequest) => ({
    ...request,
    env: { ...request.env, PATH: withoutPython(t) },
  });
  const seen = env(
    lab.walled('/usr/bin/cat "$HOME/../in/weights" "$ROOT/secret"; echo kept > "$HOME/../out/a"'),
  );
  const late = env(
    lab.walled("/usr/bin/setsid /usr/bin/sleep 60 & /usr/bin/sleep 60", { limits: { timeMs: 1_500 } }),
  );
  const [shown, overdue] = await Promise.all([at.start(seen).ended, at.start(late).ended]);
  assert.deepEqual(shown.kind, "succeeded", lab.log(seen));
  assert.match(lab.log(seen), /^mlrb: walls: bubblewrap \(not namespaces: .*python3 is not installed/m);
  assert.match(lab.log(seen), /^weights$/m);
  assert.match(lab.log(seen), /secret: No such file/);
  assert.equal(readFileSync(join(seen.work, "out/a"), "utf8"), "kept\n");
  assert.deepEqual(overdue, {
    ...{ kind: "failed", cause: "time-limit", detail: "did not end within 1.5 s" },
  });
});

/** A folder with what bubblewrap is tried with; it is not seen inside. */
function withoutPython(t: TestContext): string {
  const bin = mkdtempSync(join(tmpdir(), "bin-"));
  t.after(() => rmSync(bin, { recursive: true }));
  for (const name of ["sh", "true", "bwrap"]) symlinkSync(`/usr/bin/${name}`, join(bin, name));
  return bin;
}
