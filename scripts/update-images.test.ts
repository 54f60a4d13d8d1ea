import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { readLock } from "../pipelines/steps/environment/lock-file.ts";
import { imageFiles, requirementFiles } from "./update-images.ts";

const repository = join(import.meta.dirname, "..");
const hash = `--hash=sha256:${"0".repeat(64)}`;

function lock(text: string) {
  const read = readLock(text, "x.lock");
  assert.ok("pins" in read, JSON.stringify(read));
  return read;
}

test("the files of every image agree with the locks", () => {
  const files = imageFiles();
  const images = Object.keys(files).filter((path) => path.endsWith("/Dockerfile"));
  assert.deepEqual(images, ["images/agent/Dockerfile", "images/score/Dockerfile"]);
  for (const [path, text] of Object.entries(files)) {
    const now = existsSync(join(repository, path)) ? readFileSync(join(repository, path), "utf8") : "missing";
    assert.ok(now === text, `${path} differs from the locks; run node scripts/update-images.ts`);
  }
  for (const image of images) {
    const folder = join(dirname(image), "requirements");
    for (const name of readdirSync(join(repository, folder)))
      assert.ok(join(folder, name) in files, `${folder}/${name} is no file of the image; remove it`);
  }
});

test("every package of an image has hashes, also torch and its CUDA packages", () => {
  const files = Object.entries(imageFiles()).filter(([path]) => path.endsWith(".txt"));
  const lines = files.flatMap(([path, text]) => {
    const pins = text.replaceAll(" \\\n", " ").trim().split("\n");
    return pins.map((line) => ({ path, line }));
  });
  const loose = lines.filter(({ line }) => !/^[\w.-]+==\S+.* --hash=sha256:[0-9a-f]{64}/.test(line));
  assert.deepEqual(loose, []);
  const names = lines
    .filter(({ path }) => path.endsWith("/cuda.txt"))
    .map(({ line }) => line.split("==")[0]!);
  assert.ok(names.includes("torch") && names.includes("nvidia-cudnn-cu13"));
  assert.deepEqual(
    names.filter((name) => !/^(torch|triton|(cuda|nvidia)-.*)$/.test(name)),
    [],
  );
});

test("both images install the environment with the same lines", () => {
  const [agent, score] = ["agent", "score"].map((name) => {
    const text = readFileSync(join(repository, "images", name, "Dockerfile"), "utf8");
    return text.slice(text.indexOf("\nFROM system\n"));
  });
  assert.match(agent!, /^\nFROM system\n/);
  assert.equal(agent, score);
});

test("requirements are refused if the CUDA lock has another torch than the lock", () => {
  const made = (version: string) =>
    requirementFiles(
      lock(`# section: unhashed\ntorch==1.0\n# section: wheels\nsix==1.0 ${hash}\n`),
      lock(`# section: wheels\ntorch==${version} ${hash}\nsix==2.0 ${hash}\nnvidia-x==3.0 ${hash}\n`),
    );
  assert.throws(() => made("2.0"), /has no hashes of torch==1\.0, which ml\.lock names/);
  const { "wheels.txt": wheels, "cuda.txt": cuda } = made("1.0");
  assert.deepEqual(
    [wheels, cuda].map((text) => text!.match(/^\S+==\S+/gm)),
    [["six==1.0"], ["torch==1.0", "nvidia-x==3.0"]],
  );
});
