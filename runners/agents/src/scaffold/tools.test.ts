import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import type { Sandbox } from "@mlrb/core/ports/sandbox";
import { agentPreset } from "@mlrb/formats/declared/agent-preset";
import type { Json } from "@mlrb/kit/stage";
import { bubblewrapMissing } from "../sandbox/bubblewrap-abilities.ts";
import { SandboxTrouble } from "../sandbox/sandbox-trouble.ts";
import { fakeSandbox } from "../testing/fake-sandbox.ts";
import { groupsMissing } from "../testing/groups-missing.ts";
import { base, toolWorld, workspaceIn } from "../testing/scripted-scaffold.ts";
import { chosenTools } from "./chosen-tools.ts";
import type { ToolResult, ToolWorld } from "./tool.ts";
import { submit } from "./tools/submit.ts";

const missing = await bubblewrapMissing();
const kinds = [
  { kind: "plain" as const, options: { timeout: 60_000 } },
  { kind: "walled" as const, options: { timeout: 60_000, ...(missing !== undefined && { skip: missing }) } },
];

function call(world: ToolWorld, name: string, input: Record<string, Json>): Promise<ToolResult> {
  const tool = [...chosenTools({ network: true }), submit].find(({ spec }) => spec.name === name)!;
  return tool.run(input, world);
}

async function fileText(sandbox: Sandbox, name: string): Promise<string | undefined> {
  const bytes = await sandbox.get(`workspace/${name}`, { from: 0, bytesMax: 1 << 20 });
  return bytes && Buffer.from(bytes).toString();
}

for (const { kind, options } of kinds) {
  const inSandbox = (title: string, body: (world: ToolWorld, sandbox: Sandbox) => Promise<void>) =>
    test(`${title} (${kind})`, options, async (t) => {
      const sandbox = await workspaceIn(t, kind);
      await body(toolWorld(sandbox).world, sandbox);
    });

  inSandbox(
    "a command's output comes in the order in which it was written, with its exit code",
    async (world) => {
      const command = "for one in 1 2 3; do echo out $one; echo err $one >&2; done; exit 3";
      const result = await call(world, "shell", { command });
      assert.equal(result.text, "exit code 3\nout 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n");
      assert.deepEqual(
        { outcome: result.outcome, exit: result.exit, executed: result.executed },
        { outcome: "failed", exit: { code: 3 }, executed: true },
      );
    },
  );

  inSandbox("a command runs in the workspace and has no input", async (world) => {
    const result = await call(world, "shell", { command: "ls; wc -c" });
    assert.equal(result.text, "exit code 0\nTASK.md\ndata\niterations.jsonl\nsubmission\n0\n");
  });

  inSandbox(
    "code runs from a file, sees the workspace's modules, and may be long",
    async (world, sandbox) => {
      await call(world, "write_file", { path: "helper.py", text: "value = 41\n" });
      const padding = `# ${"x".repeat(200_000)}\n`;
      const result = await call(world, "python", {
        code: `${padding}import helper, os\nprint(helper.value + 1, os.path.basename(os.getcwd()))`,
      });
      assert.equal(result.text, "exit code 0\n42 workspace\n");
      assert.match((await fileText(sandbox, "outputs/0001.py"))!, /import helper/);
    },
  );

  inSandbox("a long output is clipped, and all of it can be viewed", async (world) => {
    const result = await call(world, "shell", { command: "seq 1 100000" });
    assert.equal(result.rest, "outputs/0001.txt");
    assert.ok(result.text.length < 13_000);
    assert.match(result.text, /^exit code 0\n1\n2\n/);
    assert.match(
      result.text,
      /\n\[… the middle of 588895 bytes is left out; all of it lies in outputs\/0001\.txt …\]\n/,
    );
    assert.match(result.text, /\n100000\n$/);
    const viewed = await call(world, "view_file", { path: "outputs/0001.txt", fromLine: 50_000, lines: 2 });
    assert.equal(
      viewed.text,
      ' 50000\t50000\n 50001\t50001\n[… more follows; go on with "fromLine": 50002 …]',
    );
  });

  inSandbox(
    "a program over its limit is ended with its children, and its output so far is returned",
    async (world) => {
      const command = "echo begun; trap '' TERM; sleep 600";
      const quick = { ...world, patience: { killAfterMs: 200, guardMs: 5_000 } };
      const result = await call(quick, "shell", { command, timeoutSeconds: 1 });
      assert.equal(result.outcome, "timed-out");
      assert.match(result.text, /^ended at its limit of 1 s, .*\nbegun\n$/);
      const left = await call(world, "shell", { command: 'ps -eo args | grep -c "^sleep 60[0]$"' });
      if (kind === "walled") assert.match(left.text, /\n0\n$/);
    },
  );

  inSandbox(
    "a job in the background goes on after its call, though it holds the output open",
    async (world) => {
      const begun = await call(world, "shell", {
        command: "(until [ -e go ]; do sleep 0.05; done; echo done > result) & echo begun",
      });
      assert.equal(begun.text, "exit code 0\nbegun\n");
      const seen = await call(world, "shell", {
        command: "touch go; until [ -s result ]; do sleep 0.05; done; cat result",
      });
      assert.equal(seen.text, "exit code 0\ndone\n");
    },
  );

  inSandbox("a file is written, viewed and edited, and keeps that it can be run", async (world, sandbox) => {
    assert.equal(
      (await call(world, "write_file", { path: "a/b/-x.sh", text: "echo 1\necho 2\necho 1 2\n" })).text,
      "a/b/-x.sh written: 23 bytes",
    );
    await call(world, "shell", { command: "chmod +x a/b/-x.sh" });
    const twice = await call(world, "edit_file", { path: "a/b/-x.sh", old: "echo 1", new: "echo 3" });
    assert.deepEqual(
      [twice.outcome, twice.text],
      ["refused", '"old" stands 2 times in a/b/-x.sh; give more lines around the one that you mean'],
    );
    const none = await call(world, "edit_file", { path: "a/b/-x.sh", old: "echo 9", new: "" });
    assert.match(none.text, /^"old" does not stand in a\/b\/-x\.sh/);
    const once = await call(world, "edit_file", { path: "a/b/-x.sh", old: "echo 2\n", new: "echo $&\n" });
    assert.equal(once.text, "a/b/-x.sh changed at line 2");
    assert.equal(await fileText(sandbox, "a/b/-x.sh"), "echo 1\necho $&\necho 1 2\n");
    assert.match((await call(world, "shell", { command: "test -x a/b/-x.sh" })).text, /^exit code 0/);
    const viewed = await call(world, "view_file", { path: "./a/b/-x.sh", fromLine: 2 });
    assert.equal(viewed.text, "     2\techo $&\n     3\techo 1 2\n[end of a/b/-x.sh]");
  });

  inSandbox("no path out of the workspace, no link, device, folder or binary file is read", async (world) => {
    await call(world, "shell", {
      command:
        "ln -s /etc/passwd link; ln -s /etc etc; mkfifo pipe; head -c 100 /dev/zero > zeros; printf 'a\\377b' > latin; : > empty",
    });
    const viewed = async (path: string) => (await call(world, "view_file", { path })).text;
    const none = /^there is no file .* or lies behind a link/;
    for (const path of ["link", "etc/passwd", "pipe", "data", "nowhere"])
      assert.match(await viewed(path), none);
    for (const path of ["../../etc/passwd", "/etc/passwd", "a/../../home/x"])
      assert.match(await viewed(path), /lies outside of the workspace/);
    assert.match(await viewed("zeros"), /^zeros is no text/);
    assert.equal(await viewed("empty"), "empty is empty");
    assert.equal(await viewed("latin"), "     1\ta\ufffdb\n[end of latin]");
    assert.match(await viewed("."), /is the workspace itself/);
    assert.match(
      (await call(world, "edit_file", { path: "latin", old: "a", new: "b" })).text,
      /^latin is no UTF-8 text/,
    );
  });

  inSandbox(
    "nothing is written through a link, out of the workspace or over what was given",
    async (world) => {
      await call(world, "shell", {
        command:
          "mkdir ../elsewhere; ln -s ../elsewhere out; ln -s ../elsewhere/x link; touch file; mkfifo pipe",
      });
      const write = async (path: string) => (await call(world, "write_file", { path, text: "x" })).text;
      assert.match(await write("out/x"), /^out\/x was not written: its folder is a link that leads out/);
      assert.match(await write("link"), /^link was not written: a link, a folder or a device stands/);
      assert.match(await write("pipe"), /^pipe was not written: a link, a folder or a device stands/);
      assert.match(await write("data"), /^data was not written: a link, a folder or a device stands/);
      assert.match(await write("file/x"), /^file\/x was not written: its folder cannot be made/);
      assert.match(await write("data/train.txt"), /^data\/train.txt was given read-only/);
      assert.match(await write("../x"), /outside of the workspace/);
      const left = await call(world, "shell", { command: "ls -A ../elsewhere ../tmp; cat data/train.txt" });
      assert.equal(left.text, "exit code 0\n../elsewhere:\n\n../tmp:\ndata/train.txt, first line\n");
    },
  );

  inSandbox("a huge file is looked through no further than its first megabytes", async (world) => {
    await call(world, "shell", { command: "truncate -s 10G holes; yes line | head -c 70000000 > long" });
    assert.match((await call(world, "view_file", { path: "holes" })).text, /^holes is no text/);
    const far = await call(world, "view_file", { path: "long", fromLine: 13_999_000 });
    assert.match(far.text, /lies beyond its first 67108864 bytes; use shell/);
    const near = await call(world, "view_file", { path: "long", lines: 1 });
    assert.equal(near.text, '     1\tline\n[… more follows; go on with "fromLine": 2 …]');
  });

  inSandbox("lines are shown by their beginnings, as many as fit", async (world) => {
    const code = "open('wide', 'w').write('é' * 5000 + '\\n' + ('y' * 1500 + '\\n') * 50)";
    await call(world, "python", { code });
    const { text } = await call(world, "view_file", { path: "wide" });
    const [first, ...others] = text.split("\n");
    assert.equal(first, `     1\t${"é".repeat(2_000)} [… this line is longer …]`);
    assert.equal(others.length, 7);
    assert.equal(others.at(-1), '[… more follows; go on with "fromLine": 8 …]');
  });

  inSandbox(
    "an iteration becomes a line of its own, whatever the agent left there",
    async (world, sandbox) => {
      const input = {
        id: "1",
        parent: null,
        hypothesis: "h",
        change: "c",
        command: "x",
        metric: null,
        decision: "d",
      };
      await call(world, "shell", { command: "printf '{\"own\":1}' >> iterations.jsonl" });
      const result = await call(world, "iteration", { ...input, predicted: 0.5, note: "mine" });
      assert.equal(result.text, "iteration 1 recorded");
      const lines = (await fileText(sandbox, "iterations.jsonl"))!.trimEnd().split("\n");
      assert.equal(lines[0], '{"own":1}');
      const { time, ...line } = JSON.parse(lines[1]!) as Record<string, unknown>;
      assert.deepEqual(line, { ...input, predicted: 0.5, note: "mine" });
      assert.match(String(time), /^\d{4}-\d\d-\d\dT/);
      const bad = await call(world, "iteration", { ...input, metric: "0.3" });
      assert.equal(bad.outcome, "refused");
      assert.match(bad.text, /^iteration cannot be called like this:\n- metric is "0.3", not an object/);
      await call(world, "shell", { command: "rm iterations.jsonl; ln -s /etc/passwd iterations.jsonl" });
      assert.match((await call(world, "iteration", input)).text, /^iterations.jsonl was not written: a link/);
    },
  );

  inSandbox("an empty submission is refused once", async (world) => {
    const first = await call(world, "submit", {});
    assert.match(first.text, /^submission\/ holds no file\./);
    assert.equal(first.ends, undefined);
    assert.deepEqual((await call(world, "submit", {})).ends, { kind: "submitted" });
  });

  inSandbox("a submission with a file is handed in at once", async (world) => {
    await call(world, "write_file", { path: "submission/config.json", text: "{}" });
    assert.deepEqual((await call(world, "submit", {})).ends, { kind: "submitted" });
  });

  inSandbox("a removed workspace is reported, and the loop continues", async (world) => {
    await call(world, "shell", { command: "mv ../workspace ../away" });
    const result = await call(world, "shell", { command: "true" });
    assert.equal(result.outcome, "failed");
    assert.match(result.text, /^could not be started: the workspace's folder is gone/);
    assert.equal(result.ends, undefined);
  });

  inSandbox(
    "something in the way of outputs/ costs the rest of an output, not the attempt",
    async (world) => {
      await call(world, "shell", { command: "touch outputs" });
      const result = await call(world, "shell", { command: "seq 1 10000" });
      assert.equal(result.rest, undefined);
      assert.match(result.text, /the rest could not be kept: something in the workspace stands in the way/);
      const python = await call(world, "python", { code: "print(1)" });
      assert.match(python.text, /^the code could not be put into outputs\//);
    },
  );

  inSandbox("once the attempt is over no tool is waited for", async (_, sandbox) => {
    const ending = new AbortController();
    const { world } = toolWorld(sandbox, { signal: ending.signal });
    const running = call(world, "shell", { command: "sleep 600" });
    ending.abort(new Error("the time is over"));
    await assert.rejects(running, /the time is over/);
    await assert.rejects(call(world, "shell", { command: "true" }), /the time is over/);
  });
}

const [, walled] = kinds;
const noGroups = await groupsMissing(["memory", "pids"]);
const grouped = { timeout: 60_000, ...(noGroups !== undefined && { skip: noGroups }) };

const toolNames = (network: boolean) => chosenTools({ network }).map(({ spec }) => spec.name);

test("a program over its memory is reported as such, and the loop continues", grouped, async (t) => {
  const sandbox = await workspaceIn(t, "walled", { memoryBytes: 2 ** 27 });
  const { world } = toolWorld(sandbox);
  const result = await call(world, "python", {
    code: "b = bytearray(2 ** 29)\nfor i in range(0, len(b), 4096): b[i] = 1",
  });
  assert.match(
    result.text,
    /limit of the sandbox was met: its programs together took more than 134217728 bytes/,
  );
  assert.deepEqual([result.outcome, result.ends], ["failed", undefined]);
  assert.match((await call(world, "shell", { command: "echo on" })).text, /^exit code 0\non/);
});

test("a program that ends everything it can ends itself, not the loop", walled!.options, async (t) => {
  const { world } = toolWorld(await workspaceIn(t, "walled"));
  const result = await call(world, "shell", { command: "kill -9 -1" });
  assert.deepEqual([result.outcome, result.ends], ["failed", undefined]);
  assert.match((await call(world, "shell", { command: "echo on" })).text, /^exit code 0\non/);
});

test("a lost sandbox ends the loop, and is not the agent's failure", async () => {
  const lost = fakeSandbox(async () => ({ kind: "lost", detail: "the engine is gone" }));
  await assert.rejects(call(toolWorld(lost).world, "shell", { command: "true" }), (error) => {
    assert.ok(error instanceof SandboxTrouble);
    assert.match(
      error.message,
      /ended while its agent was running: the engine is gone; that is not the agent's doing/,
    );
    return true;
  });
});

test("a sandbox that starts nothing with free processes is not the agent's failure", async () => {
  const dead = fakeSandbox(async () => ({ kind: "not-started", detail: "ENOENT: no such file" }));
  await assert.rejects(call(toolWorld(dead).world, "shell", { command: "true" }), SandboxTrouble);
});

test("an agent that took all processes of its sandbox has ended itself", async () => {
  const full = fakeSandbox(async () => ({ kind: "not-started", detail: "EAGAIN: no process" }));
  const { ends } = await call(toolWorld(full).world, "shell", { command: "true" });
  assert.deepEqual(ends, {
    kind: "agent-error",
    detail: "its programs left the sandbox unusable: EAGAIN: no process",
  });
});

test("a program that met a limit ends the loop where nothing can be run after it", async () => {
  const over = { limit: "memory" as const, detail: "more than 5 bytes" };
  const full = fakeSandbox(async () => ({ kind: "exited", code: 1, over }));
  const { ends } = await call(toolWorld(full).world, "shell", { command: "true" });
  assert.deepEqual(ends, {
    kind: "agent-error",
    detail: "its programs left the sandbox unusable: it ends whatever is started",
    over,
  });
});

test("a sandbox that does not answer holds the loop for its guard time only", async () => {
  const patience = { killAfterMs: 1, guardMs: 1 };
  const mute = fakeSandbox(() => new Promise(() => {}));
  const result = await call(toolWorld(mute, { patience }).world, "shell", {
    command: "true",
    timeoutSeconds: 1,
  });
  assert.equal(result.outcome, "timed-out");
});

test("a program gets no more time than is left of the budget, also of one that a person extends meanwhile", async () => {
  const argvs: string[][] = [];
  const patience = { killAfterMs: 0, guardMs: 0 };
  const mute = fakeSandbox(({ argv }) => {
    argvs.push(argv);
    return new Promise(() => {});
  });
  const drive = { used: 0.9, leftMs: 30 };
  const { world } = toolWorld(mute, { drive, patience });
  const begun = performance.now();
  const running = call(world, "shell", { command: "true" });
  drive.leftMs = 80; // before its budget was over
  setTimeout(() => {
    drive.leftMs = 0;
  }, 100);
  assert.equal((await running).outcome, "timed-out");
  const tookMs = performance.now() - begun;
  assert.ok(tookMs >= 100, `ended after ${tookMs} ms, within the budget`);
  assert.deepEqual(argvs[0]!.slice(3, 6), ["sh", "0", "600"], "its own limit is the only one inside");
});

test("pages are fetched inside the sandbox, as text", { timeout: 60_000 }, async (t) => {
  const server = createServer((request, response) => {
    response.setHeader("content-type", request.url === "/page" ? "text/html" : "application/octet-stream");
    response.end(
      request.url === "/page" ? "<head><title>t</title></head><p>A<script>x</script> <b>b</b><p>C" : "\0",
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const { port } = server.address() as { port: number };
  const { world } = toolWorld(await workspaceIn(t, "plain"), { network: true });
  const fetched = async (url: string) => (await call(world, "fetch_url", { url })).text;
  assert.equal(await fetched(`http://127.0.0.1:${port}/page`), "exit code 0\nA b\nC\n");
  assert.match(
    await fetched(`http://127.0.0.1:${port}/other`),
    /^exit code 1\napplication\/octet-stream, 1 bytes: no text/,
  );
  assert.match(await fetched("file:///etc/passwd"), /is no http\(s\) address/);
});

test("tools that need a network exist only with one", () => {
  assert.deepEqual(
    toolNames(true).filter((one) => !toolNames(false).includes(one)),
    ["fetch_url"],
  );
  assert.deepEqual(
    chosenTools({ tools: ["shell", "fetch_url"], network: false }).map(({ spec }) => spec.name),
    ["shell"],
  );
});

test("an agent whose programs hold all processes is notified, and can end them", grouped, async (t) => {
  const { world } = toolWorld(await workspaceIn(t, "walled", { processes: 24 }));
  const code = [
    "import os, time",
    "while True:",
    "  try:",
    "    if os.fork() == 0: time.sleep(600); os._exit(0)",
    "  except OSError:",
    "    break",
  ].join("\n");
  const result = await call(world, "python", { code });
  assert.match(result.text, /limit of the sandbox was met: more than 24 processes/);
  assert.equal((await call(world, "python", { code: "import os; os.fork()" })).outcome, "failed");
  await call(world, "shell", { command: "kill -9 -1" });
  assert.equal((await call(world, "shell", { command: "ls | head -n 1" })).text, "exit code 0\nTASK.md\n");
});

test("an output that cannot be kept on the host ends the call, not the supervisor", async (t) => {
  const { world } = toolWorld(await workspaceIn(t, "plain"), { scratch: "/nonexistent" });
  await assert.rejects(call(world, "shell", { command: "seq 1 100000; sleep 0.1" }), /ENOENT/);
});

test("no temporary file is left on the host", async (t) => {
  const scratch = base(t);
  const { world } = toolWorld(await workspaceIn(t, "plain"), { scratch });
  await call(world, "shell", { command: "seq 1 100000" });
  await call(world, "write_file", { path: "a", text: "b" });
  await call(world, "python", { code: "print(1)" });
  assert.deepEqual(readdirSync(scratch), []);
});

test("an endless output keeps its first megabytes, and its end is shown", async (t) => {
  const { world } = toolWorld(await workspaceIn(t, "plain"));
  const result = await call(world, "shell", {
    command: "head -c 50000000 /dev/zero | tr '\\0' x; echo; echo last",
  });
  assert.match(
    result.text,
    /the middle of 50000006 bytes is left out; its first 33554432 bytes lie in outputs\/0001\.txt …\][\s\S]*last\n$/,
  );
});

test("the guide names every tool", () => {
  const guide = readFileSync(join(import.meta.dirname, "../../../../docs/agents.md"), "utf8");
  for (const name of [...toolNames(true), "delegate", "return_result", "submit"])
    assert.match(guide, new RegExp(`\`${name}\``));
});

test("an agent that filled its disk is notified, and can make room", walled!.options, async (t) => {
  const { world } = toolWorld(await workspaceIn(t, "walled", { diskBytes: 2 ** 24 }));
  const command = "for one in 1 2 3 4; do head -c 8000000 /dev/zero > $one.bin; done; sleep 60";
  const full = await call(world, "shell", { command });
  assert.match(full.text, /limit of the sandbox was met: .*All programs were ended; remove files before/);
  assert.equal(full.ends, undefined);
  await call(world, "shell", { command: "rm *.bin" });
  assert.equal((await call(world, "shell", { command: "sleep 2; ls" })).text.split("\n")[0], "exit code 0");
});

test("a full disk that ends every program leaves the agent the chance to make room", async () => {
  const over = { limit: "disk" as const, detail: "more than 5 bytes" };
  const full = fakeSandbox(async () => ({ kind: "signalled", signal: "SIGKILL", over }));
  const result = await call(toolWorld(full).world, "shell", { command: "true" });
  assert.deepEqual([result.outcome, result.ends], ["failed", undefined]);
});

test("a preset may name exactly the tools that there are", () => {
  assert.deepEqual(agentPreset.properties.tools.items.enum, toolNames(true));
});
