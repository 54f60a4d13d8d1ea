// A program like a coding CLI in bubblewrap, with the gateway and a scripted provider outside.
import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { ExecResult } from "@mlrb/core/ports/sandbox";
import type { TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import { type Script, startLoopbackProvider } from "../../../../tests/support/providers/loopback-provider.ts";
import { providerSilence } from "../model/provider-silence.ts";
import { ProviderTrouble } from "../model/provider-trouble.ts";
import { bubblewrapMissing } from "../sandbox/bubblewrap-abilities.ts";
import { bubblewrapWalls } from "../sandbox/bubblewrap-walls.ts";
import { walledSandbox } from "../sandbox/walled-sandbox.ts";
import { providersAt, purse, realKey } from "../testing/gateway-lab.ts";
import { programGateway } from "./program-gateway.ts";

const missing = await bubblewrapMissing();
const needsBubblewrap = { timeout: 60_000, ...(missing !== undefined && { skip: missing }) };
const system = "/usr/local/bin:/usr/bin:/bin";

async function opened(t: TestContext, script: Script, { tokens }: { tokens?: number } = {}) {
  const base = mkdtempSync(join(tmpdir(), "gateway-"));
  const provider = await startLoopbackProvider({ script });
  const sandbox = await walledSandbox({
    ...{ under: join(base, "a-state-folder-with-a-long-name-".repeat(4)), agent: "test", kind: "bubblewrap" },
    open: bubblewrapWalls,
    reads: [],
    network: "none" as const,
    gpus: [],
    token: `gateway${process.pid}`,
    limits: { memoryBytes: 2 ** 29, processes: 64, diskBytes: 2 ** 26, cpus: 1 },
  });
  const { spent, meter } = purse(tokens === undefined ? {} : { tokens });
  const events: TrajectoryEvent[] = [];
  const made = (name: string) => {
    mkdirSync(join(base, name), { recursive: true });
    return join(base, name);
  };
  await sandbox.put(made("submission"), "workspace/submission");
  writeFileSync(join(made("given"), "TASK.md"), "Train something.");
  copyFileSync(
    join(import.meta.dirname, "../../../../tests/support/attempts/stand-in-cli.py"),
    join(base, "given/cli.py"),
  );
  await sandbox.put(join(base, "given/TASK.md"), "workspace/TASK.md");
  await sandbox.put(join(base, "given/cli.py"), "program/cli.py");
  process.env.MLRB_TEST_KEY = realKey; // as the supervisor has it
  const gateway = await programGateway(sandbox, {
    providers: providersAt(provider),
    agent: "test",
    folder: "gateway",
    network: false,
    scratch: made("scratch"),
    path: system,
    meter,
    silence: providerSilence({ budgetMs: 1 }),
    prices: { dollarsOf: () => 0.5, mostDollarsOf: () => 0.5, hasOwnPrice: () => true },
    write(event) {
      if (event.event !== "model-request" && event.event !== "request-part") events.push(event);
    },
  });
  t.after(async () => {
    delete process.env.MLRB_TEST_KEY;
    await gateway.close();
    await sandbox.close();
    await provider.close();
    rmSync(base, { recursive: true, force: true });
  });
  let said = "";
  const runs = (argv: string[], env: Record<string, string> = {}): Promise<ExecResult> =>
    sandbox.exec({
      argv,
      cwd: sandbox.seenAs("workspace"),
      env: {
        PATH: system,
        MLRB_DEADLINE: String(Math.floor(Date.now() / 1000) + 60),
        MLRB_SUBMISSION: sandbox.seenAs("workspace/submission"),
        STAND_IN_MODEL: "claude-test",
        ...gateway.env,
        ...env,
      },
      onOutput(_, bytes) {
        said = (said + Buffer.from(bytes)).slice(-(1 << 20));
      },
    });
  return {
    ...{ provider, sandbox, gateway, spent, events, runs },
    said: () => said,
    cli: (env?: Record<string, string>) => gateway.ending(runs(["python3", "/attempt/program/cli.py"], env)),
    async file(inside: string) {
      return Buffer.from((await sandbox.get(inside, { from: 0, bytesMax: 1 << 24 })) ?? "").toString();
    },
  };
}

const shell = (command: string) => ({
  toolCalls: [{ name: "shell", input: { command } }],
  usage: { input: 50, output: 5 },
});
const bye = { text: "I am done.", usage: { input: 60, output: 5 } };

test(
  "a coding CLI without key or network works with its model, and nothing inside holds the key",
  needsBubblewrap,
  async (t) => {
    const at = await opened(t, [shell('echo better > "$MLRB_SUBMISSION/model"'), shell("ls"), bye]);
    assert.deepEqual(await at.cli(), { kind: "exited", code: 0 });
    assert.equal(await at.file("workspace/submission/model"), "better\n");
    assert.deepEqual([at.spent.input, at.spent.output, at.spent.dollars], [160, 15, 1.5]);
    const inSight = await at.file("workspace/seen.txt");
    assert.match(inSight, /ANTHROPIC_BASE_URL/);
    for (const text of [inSight, at.said(), JSON.stringify(at.events)]) assert.ok(!text.includes(realKey));
    assert.ok(at.provider.seen.every(({ headers }) => !JSON.stringify(headers).includes("stand-in")));
    assert.deepEqual(
      at.events.map(({ event }) => event),
      ["model-call", "model-call", "model-call"],
    );
    const before = await at.file("workspace/submission/step");
    await at.gateway.close();
    await at.sandbox.kill();
    await sleep(300);
    const after = await at.file("workspace/submission/step");
    assert.ok(Number(after) >= Math.max(1, Number(before)), `${before} then ${after}`);
    await sleep(300);
    assert.equal(await at.file("workspace/submission/step"), after, "what it left in the background is dead");
  },
);

test(
  "the run ends when a call is refused for its tokens, though the program would stay",
  needsBubblewrap,
  async (t) => {
    const at = await opened(t, () => shell("true"), { tokens: 120 });
    const stays = { STAND_IN_STAYS: "1", STAND_IN_CHATTER: "1" };
    assert.deepEqual(await at.cli(stays), { kind: "over-budget", limit: "tokens" });
    assert.equal(at.provider.seen.length, 3);
  },
);

test("the forwarder restarts after the program has killed it", needsBubblewrap, async (t) => {
  const at = await opened(t, [bye]);
  // as an agent that ends its training does, by the name of what it was started with
  const kills =
    'for p in /proc/[0-9]*; do grep -q "forwarder[.]py" $p/cmdline 2>/dev/null && kill -9 ${p#/proc/}; done; true';
  assert.deepEqual(await at.runs(["sh", "-c", kills]), { kind: "exited", code: 0 });
  assert.deepEqual(await at.cli(), { kind: "exited", code: 0 });
  assert.match(at.said(), /I am done\./);
});

test("the gateway's files cannot be replaced from inside", needsBubblewrap, async (t) => {
  const at = await opened(t, []);
  const tries =
    "cd /attempt; rm -f gateway/supervisor.sock; mv gateway elsewhere; touch gateway/x; ls gateway";
  await at.runs(["sh", "-c", tries]);
  assert.match(at.said(), /forwarder\.mjs\nforwarder\.py\nsupervisor\.sock\n/);
});

test("a program that gave up because its provider failed is not measured", needsBubblewrap, async (t) => {
  const at = await opened(t, () => ({ status: 500 }));
  await assert.rejects(at.cli(), (error) => {
    assert.ok(error instanceof ProviderTrouble && error.whose === "provider");
    assert.match(error.message, /^anthropic claude-test: server-error: 500/);
    return true;
  });
});

test("a refused key ends the attempt at once, without a result", needsBubblewrap, async (t) => {
  const at = await opened(t, [{ status: 401 }]);
  const ending = at.cli({ STAND_IN_STAYS: "1" });
  await assert.rejects(ending, /wrong-key: 401.*export a valid key/);
});
