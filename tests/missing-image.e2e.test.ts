// An image by digest that is not on this host. The command `docker` is a double without an engine, which writes
// down what it is asked.
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { recordsIn } from "./support/end-state.ts";
import { counted, lab, leftovers } from "./support/lab.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
after(() => repository.remove());

const dockerfile = "images/scoring/Dockerfile";
const image = `registry.example/lab/agent@sha256:${"ab".repeat(32)}`;

type DockerLab = { durable: boolean; isHere: boolean; scored?: "unbuildable" | "buildable" };

/**
 * A stage without a container, and one in the image; `durable`: an attempt. `scored`: and one after it in the
 * image of a Dockerfile, which the double builds or not.
 */
function dockerLab(t: TestContext, { durable, isHere, scored }: DockerLab) {
  const at = lab(t, repository);
  at.define({
    stages: {
      data: { command: counted(at, "data", "echo data > {outputs.text}"), gives: { text: "file" } },
      work: {
        needs: ["data.text"],
        ...{ executor: "docker", image, durable },
        command: "cp {inputs.data.text} {outputs.made}",
        gives: { made: "file" },
      },
      ...(scored && {
        score: {
          needs: ["work.made"],
          ...{ executor: "docker", image: dockerfile },
          command: "cp {inputs.work.made} {outputs.score}",
          gives: { score: "file" },
        },
      }),
    },
  });
  if (scored) repository.write(dockerfile, "FROM scratch\nCOPY nothing /\n");
  const asked = join(at.outside, "asked");
  const inspected = isHere
    ? `echo 'sha256:${"cd".repeat(32)} {}'`
    : "echo 'Error: No such image' >&2; exit 1";
  const double = `#!/bin/sh
echo "$1 $2" >> '${asked}'
case $1 in
build)
  [ ${scored} = buildable ] || { echo 'COPY failed: no source files' >&2; exit 1; }
  touch '${at.outside}/built'; echo sha256:${"ef".repeat(32)}; exit ;;
tag) exit ;;
esac
case "$*" in "image inspect"*mlrb/dockerfile*)
  [ -e '${at.outside}/built' ] && echo 'sha256:${"ef".repeat(32)} {}' || { echo 'Error: No such image' >&2; exit 1; }
  exit ;;
esac
case $1 in
info) echo '27.0.1 memory=true processes=true cpus=true []' ;;
image) ${inspected} ;;
ps) ;;
*) echo "the double cannot do this" >&2; exit 1 ;;
esac
`;
  writeFileSync(join(at.outside, "docker"), double, { mode: 0o755 });
  const env = { PATH: `${at.outside}${delimiter}${process.env.PATH}`, MLRB_CONTAINER_ENGINE: "docker" };
  return {
    at,
    run: () => at.pipeline(["run", at.name, "--root", at.root], { env }),
    asked: () => (existsSync(asked) ? readFileSync(asked, "utf8").split("\n") : []),
  };
}

test("a run that would start attempts is refused before its first stage, with the command that gets the missing image", async (t) => {
  const { at, run, asked } = dockerLab(t, { durable: true, isHere: false });
  const said = await run();
  assert.equal(said.code, 2, said.stdout + said.stderr);
  assert.equal(
    said.stderr.trim(),
    `missing-image: "work" would run in ${image}, which is not on this host
  help: attempts start only when every image by digest is here: \`docker pull ${image}\`

1 problem; nothing was run`,
  );
  assert.ok(!asked().some((words) => /^(pull|create|run)/.test(words)), asked().join("\n"));
  assert.deepEqual(at.executions(), {}, "no stage began");
  assert.deepEqual(recordsIn(at.root), []);
  assert.deepEqual(leftovers(at), []);
});

test("with the image on this host the same run starts, and asks for a container of it", async (t) => {
  const { at, run, asked } = dockerLab(t, { durable: true, isHere: true });
  const said = await run();
  assert.equal(said.code, 1, "the double makes no container");
  assert.deepEqual(at.executions(), { data: 1 });
  assert.doesNotMatch(said.stderr, /missing-image/);
  assert.ok(
    asked().some((words) => words.startsWith("create")),
    asked().join("\n"),
  );
});

test("a run without attempts pulls the image when it is needed", async (t) => {
  const { run, asked } = dockerLab(t, { durable: false, isHere: false });
  const said = await run();
  assert.equal(said.code, 1, "the double cannot pull");
  assert.match(said.stdout + said.stderr, /could not be pulled/);
  assert.ok(asked().includes("pull --quiet"));
});

test("a Dockerfile of a later stage is built before the first attempt, and a failed build refuses the run", async (t) => {
  const failing = dockerLab(t, { durable: true, isHere: true, scored: "unbuildable" });
  const refused = await failing.run();
  assert.equal(refused.code, 2, refused.stdout + refused.stderr);
  assert.match(
    refused.stderr,
    /^building the image of images\/scoring\/Dockerfile; attempts start when it is here\nmissing-image: "score" would run in images\/scoring\/Dockerfile: the image could not be built: .*COPY failed: no source files.*\n {2}help: attempts start only when every image is here: `docker build --file images\/scoring\/Dockerfile images\/scoring` shows the whole build\n/,
  );
  assert.deepEqual(failing.at.executions(), {}, "no stage began");
  const building = dockerLab(t, { durable: true, isHere: true, scored: "buildable" });
  const said = await building.run();
  assert.equal(said.code, 1, "the double makes no container");
  assert.deepEqual(building.at.executions(), { data: 1 });
  const words = building.asked().map((line) => line.split(" ")[0]);
  assert.ok(words.includes("build") && words.indexOf("build") < words.indexOf("create"), words.join());
});
