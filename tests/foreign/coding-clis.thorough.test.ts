// Claude Code and Codex, as they are shipped, behind a sandbox without key or network, with aimock as their
// model's provider behind the gateway.
import assert from "node:assert/strict";
import { chmodSync, copyFileSync, globSync, linkSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { bubblewrapMissing } from "@mlrb/agents/sandbox/bubblewrap-abilities";
import { attemptStage, emptyData } from "../support/attempts/attempt-stages.ts";
import { keyEnv, keyName, recorded } from "../support/attempts/llm-attempts.ts";
import { filesBelow, type Lab, lab } from "../support/lab.ts";
import { foreignNpm } from "../support/machines/foreign-software.ts";
import { type AimockAnswer, aimockSoftware, startAimock } from "../support/providers/aimock.ts";
import { LOOPBACK_KEY } from "../support/providers/loopback-provider.ts";
import { throwAwayRepository } from "../support/throw-away-repository.ts";

const missing = await bubblewrapMissing();
const aimock = await aimockSoftware();
const repository = throwAwayRepository();
after(() => repository.remove());

const command = 'echo trained > "$MLRB_SUBMISSION/model"';

type Cli = {
  title: string;
  packages: string[];
  /** Of the program itself, below the folder of packages. */
  binary: string;
  protocol: "anthropic" | "openai";
  model: string;
  /** In a shell; the program is `$CLI`. */
  line: string;
  tool: AimockAnswer;
};

const clis: Cli[] = [
  {
    title: "Claude Code",
    packages: ["@anthropic-ai/claude-code@2.1.197"],
    binary: "node_modules/@anthropic-ai/claude-code-linux-*/claude",
    protocol: "anthropic",
    model: "claude-sonnet-4-5-20250929",
    line:
      "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 ANTHROPIC_SMALL_FAST_MODEL=claude-sonnet-4-5-20250929 exec $CLI -p " +
      "--dangerously-skip-permissions --output-format stream-json --verbose --model claude-sonnet-4-5-20250929 < TASK.md",
    // with thinking on, its provider wants a thought before each call of a tool
    tool: {
      reasoning: "Write it.",
      toolCalls: [{ name: "Bash", arguments: { command, description: "writes" } }],
    },
  },
  {
    title: "Codex",
    packages: ["@openai/codex@0.169.0"],
    binary: "node_modules/@openai/codex-linux-*/vendor/*/bin/codex",
    protocol: "openai",
    model: "gpt-5.1-codex",
    line:
      "exec $CLI exec --dangerously-bypass-approvals-and-sandbox --skip-git-repo-check --json -m gpt-5.1-codex " +
      '-c model_provider=mlrb -c model_providers.mlrb.name=mlrb -c model_providers.mlrb.base_url="$OPENAI_BASE_URL" ' +
      "-c model_providers.mlrb.env_key=OPENAI_API_KEY -c model_providers.mlrb.wire_api=responses -c web_search=disabled - < TASK.md",
    tool: { toolCalls: [{ name: "exec_command", arguments: { cmd: command } }] },
  },
];

for (const cli of clis) {
  const software = await foreignNpm(cli.packages);
  const skip = software.skip || aimock.skip || (missing ?? false);
  test(`${cli.title} works through the gateway, is counted and recorded, and finds no key`, {
    skip,
  }, async (t) => {
    const at = lab(t, repository);
    const mock = await startAimock(aimock.path!, [cli.tool, { content: "I am done." }]);
    t.after(() => mock.stop());
    define(at, cli, software.path!, mock.url);
    const said = await at.pipeline(["run", at.name, "--json", "--yes", "--root", at.root], { env: keyEnv });
    assert.equal(said.code, 0, said.stdout + said.stderr);
    const { ledger, events, read } = recorded(at);
    assert.equal(read("submission/model"), "trained\n", JSON.stringify(events.slice(-12)));
    const calls = events.filter(({ event }) => event === "model-call");
    assert.equal(ledger.usage?.calls, calls.length);
    assert.deepEqual([ledger.usage?.inputTokens, ledger.usage?.uncounted], [100 * calls.length, 0]);
    const parts = events
      .filter(({ event }) => event === "request-part")
      .flatMap(({ part, role }) => (role === "developer" ? [part, "system"] : [part]));
    for (const part of ["system", "tools", "message"]) assert.ok(parts.includes(part), parts.join(" "));
    for (const [file, text] of Object.entries(filesBelow(join(at.root, ".mlrb/attempts"))))
      assert.ok(!text.includes(LOOPBACK_KEY), `${file} holds the key`);
  });
}

function define(at: Lab, cli: Cli, folder: string, url: string): void {
  const program = `${at.name}/program`;
  at.script("prompt.md", "Write something into submission/. Until {{deadline}}.\n");
  mkdirSync(join(repository.path, program), { recursive: true });
  const [binary] = globSync(join(folder, cli.binary));
  assert.ok(binary, `${cli.title} has no ${cli.binary}`);
  const copy = join(repository.path, program, "cli");
  try {
    linkSync(binary, copy);
  } catch {
    copyFileSync(binary, copy); // on another disk
  }
  chmodSync(copy, 0o755);
  const prompt = `${at.name}/prompt.md`;
  const baseUrl = `${url}/v1`;
  at.define({
    axes: { task: ["empty"], agent: ["model"], seed: [1] },
    stages: {
      data: emptyData,
      attempt: attemptStage({
        params: {
          kind: "command",
          command: ["sh", "-c", `CLI=../program/cli; ${cli.line}`],
          gateway: [{ provider: cli.protocol, baseUrl, key: keyName, ids: [cli.model], free: true }],
          secrets: [keyName],
          program,
          prompt,
        },
        files: [`${program}/**`, prompt],
        secrets: [keyName],
        budget: { time: "180s" },
      }),
    },
  });
}
