// The images of images/, without their base: no image can be pulled here, and no GPU is there. The first step of a
// Dockerfile (CUDA and system packages) is replaced by this machine's Python; everything after it is built as
// shipped, in a real engine, from a small lock of the same form.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, type TestContext, test } from "node:test";
import type { ExecutionRequest, HostEnvironment, StageWalls } from "@mlrb/core/ports/executor";
import { DockerExecutor } from "@mlrb/docker/docker-executor";
import { dockerWalls } from "@mlrb/docker/docker-walls";
import { lockLabel } from "@mlrb/docker/image-environment";
import { findPython } from "@mlrb/local/process/find-python";
import { readLock } from "../pipelines/steps/environment/lock-file.ts";
import { requirementFiles } from "../scripts/update-images.ts";
import { lacking } from "./support/machines/debian-tool.ts";
import { type TestEngine, testEngine } from "./support/machines/docker-engine.ts";
import { pythonBase } from "./support/python-base.ts";
import { wheel } from "./support/servers/wheel.ts";

const repository = join(import.meta.dirname, "..");
const place = realpathSync(mkdtempSync(join(tmpdir(), "mlrb-images-")));
const wheels = ["torch", "nvidia_small", "plain", "built", "kept"].map((name) =>
  wheel(name, `value = "${name} of the image"\n`),
);
const pin = (name: string) => {
  const file = wheels.find((one) => one.file.startsWith(`${name}-`))!;
  return `${name}==1.0 --hash=sha256:${createHash("sha256").update(file.content).digest("hex")}\n`;
};
const lockText = `# warm: import torch; import plain
# section: unhashed
torch==1.0
# section: wheels
${pin("plain")}# section: sources
${pin("built")}# section: alone
${pin("kept")}`;
const lock = createHash("sha256").update(lockText).digest("hex");
let engine: TestEngine;
let why: string | false = false;

before(async () => {
  why = lacking("/bin/busybox", "busybox-static");
  const started = why === false ? await testEngine() : { skip: why };
  if ("skip" in started) why = started.skip;
  else engine = started;
});
after(async () => {
  await engine?.stop();
  rmSync(place, { recursive: true, force: true });
});

function it(title: string, body: (t: TestContext) => Promise<void>): void {
  test(title, { timeout: 600_000 }, async (t) => {
    if (why !== false) return t.skip(why);
    await body(t);
  });
}

/** The shipped image with another first step and with these requirements. */
function writeImage(name: string, requirements: Record<string, string>) {
  const shipped = readFileSync(join(repository, "images/agent/Dockerfile"), "utf8");
  const rest = shipped.slice(shipped.indexOf("\nFROM system\n"));
  assert.notEqual(rest, "");
  const folder = join(place, name);
  mkdirSync(join(folder, "requirements"), { recursive: true });
  const label = new RegExp(`^LABEL ${lockLabel}=.*$`, "m");
  const text = `FROM scratch AS system\nCOPY base/ /\n${rest.replace(label, `LABEL ${lockLabel}=${lock}`)}`;
  writeFileSync(join(folder, "Dockerfile"), text);
  for (const [file, content] of Object.entries(requirements))
    writeFileSync(join(folder, "requirements", file), content);
  const python = findPython(place);
  assert.ok(python);
  pythonBase(
    join(folder, "base"),
    python.path,
    Object.fromEntries(wheels.map((one) => [one.file, one.content])),
  );
}

function lockOf(text: string) {
  const read = readLock(text, "lock");
  assert.ok("pins" in read, JSON.stringify(read));
  return read;
}

/** An environment on the host whose Python cannot run anywhere. */
function hostEnvironment(digest: string): HostEnvironment {
  const path = join(place, "environments", digest.slice(0, 24));
  mkdirSync(join(path, "bin"), { recursive: true });
  writeFileSync(join(path, "bin/python"), "#!/bin/sh\necho the environment of the host\n", { mode: 0o755 });
  return { path, lock: digest };
}

let count = 0;

async function runStage(
  environment: HostEnvironment,
  { image, opens }: { image: string; opens?: "untrusted" },
) {
  const work = join(place, `work-${++count}`);
  for (const part of ["in", "out", "tmp"]) mkdirSync(join(work, part), { recursive: true });
  const python = join(environment.path, "bin/python");
  const request: ExecutionRequest = {
    ...{ id: `stage-${count}`, key: `key-${count}`, token: `mlrb:test:${count}`, root: place, work },
    run: { kind: "command", command: [python, "-c", program] },
    env: { PATH: `${dirname(python)}:/usr/bin:/bin` },
    ...{ inputs: {}, outputs: {}, log: join(work, "log"), limits: {}, network: "none" },
    ...{ reads: [environment.path], writes: [], environment, image, cpus: 1, gpus: [] },
    ...(opens && { walls: wallsOf(work, environment) }),
  };
  const executor = new DockerExecutor({
    root: place,
    state: join(place, ".mlrb"),
    run: `run-${count}`,
    isLive: () => false,
    take: () => true,
    env: engine.env,
  });
  const result = await executor.start(request).ended;
  await executor.close();
  return { result, said: existsSync(request.log) ? readFileSync(request.log, "utf8") : "" };
}

function wallsOf(work: string, environment: HostEnvironment): StageWalls {
  const limits = { memoryBytes: 2 ** 28, processes: 64, fileBytes: 2 ** 20 };
  const writes = [join(work, "out"), join(work, "tmp")];
  return { user: { uid: 60_700, gid: 60_700 }, required: true, reads: [environment.path], writes, limits };
}

const program =
  "import built, kept, nvidia_small, plain, sys, torch; print(sys.prefix, torch.value, plain.value, sep='\\n')";

const cuda = (hashes = pin) => lockOf(`# section: wheels\n${hashes("torch")}${hashes("nvidia_small")}`);

it("the lock and copy parts of a shipped image build, and stages and agents run with its environment", async (t) => {
  writeImage("image", requirementFiles(lockOf(lockText), cuda()));
  const image = "image/Dockerfile";
  const environment = hostEnvironment(lock);
  const seen = `${environment.path}\ntorch of the image\nplain of the image\n`;
  const stage = await runStage(environment, { image });
  assert.equal(stage.result.kind, "succeeded", JSON.stringify(stage));
  assert.equal(stage.said, seen);
  assert.equal((await runStage(environment, { image, opens: "untrusted" })).said, seen);
  const other = await runStage(hostEnvironment("f".repeat(64)), { image });
  assert.equal(other.said, "the environment of the host\n", "of another lock");

  const folder = join(place, "sandbox");
  mkdirSync(folder);
  chownSync(folder, 60_700, 60_700);
  const walls = await dockerWalls(
    {
      ...{ folder, seenAs: "/attempt", readOnly: [], reads: [environment.path], environment, image },
      limits: { memoryBytes: 2 ** 28, processes: 64, diskBytes: 2 ** 26, cpus: 1 },
      ...{ network: "none", gpus: [], token: "images" },
    },
    { env: engine.env, root: place },
  );
  t.after(() => walls.close());
  let said = "";
  const ended = await walls.exec({
    argv: ["python", "-c", program],
    cwd: "/attempt",
    env: { PATH: `${environment.path}/bin:/usr/bin:/bin` },
    onOutput: (_, bytes) => {
      said += Buffer.from(bytes).toString();
    },
  });
  assert.deepEqual(ended, { kind: "exited", code: 0 }, said);
  assert.equal(said, seen);
  assert.equal(walls.where.image, (stage.result as { where: Record<string, string> }).where.image);
});

it("an image is not built from a file that its lock does not pin", async () => {
  const wrong = (name: string) => pin(name).replace(/[0-9a-f]{64}/, "0".repeat(64));
  writeImage("changed", requirementFiles(lockOf(lockText), cuda(wrong)));
  const { result } = await runStage(hostEnvironment(lock), { image: "changed/Dockerfile" });
  assert.equal(result.kind, "failed");
  assert.match(
    (result as { detail: string }).detail,
    /the image could not be built: .*returned a non-zero code/,
  );
});
