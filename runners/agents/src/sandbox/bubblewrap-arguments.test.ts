import assert from "node:assert/strict";
import { test } from "node:test";
import type { Gpu } from "@mlrb/core/ports/gpu";
import type { WallsRequest } from "@mlrb/core/ports/sandbox";
import { bubblewrapArguments, type WallsFacts } from "./bubblewrap-arguments.ts";

const request: WallsRequest = {
  ...{
    folder: "/host/sandbox-1",
    seenAs: "/attempt",
    readOnly: ["workspace/data"],
    reads: ["/opt/environment"],
  },
  ...{ network: "none", gpus: [], token: "t" },
  limits: { memoryBytes: 1000, processes: 10, diskBytes: 1000, cpus: 1 },
};

const facts: WallsFacts = {
  ...{ user: { uid: 60_600, gid: 60_600 }, asRoot: true, canSize: true, readOnly: ["workspace/data"] },
  python: { program: "/usr/bin/python3" },
};

const argumentsFor = (changes: Partial<WallsRequest> = {}, otherwise: Partial<WallsFacts> = {}) => {
  const texts = { init: "", seccomp: new Uint8Array() };
  return bubblewrapArguments({ ...request, ...changes }, { ...facts, ...otherwise }, texts).argv;
};

/** The shown paths of the host, as pairs of mode and path. */
const shown = (argv: string[]) =>
  argv.flatMap((one, index) => (/^--(ro-|dev-)?bind(-try)?$/.test(one) ? [`${one} ${argv[index + 1]}`] : []));

const gpu = (index: number, slice = false): Gpu => ({
  ...{ index, uuid: `GPU-fake-${index}`, model: "fake", memoryBytes: 1, driver: "0", slice },
});

test("only system folders, the sandbox's folder and the listed reads are shown, and only the sandbox's folder is writable", () => {
  const others = shown(argumentsFor()).filter(
    (one) =>
      !/^--ro-bind \/(usr|bin|lib\w*|sbin|etc\/(alternatives|ld\.so[\w.]*|localtime|ssl\/(certs|openssl\.cnf)|pki\/[\w/-]+))$/.test(
        one,
      ),
  );
  assert.deepEqual(
    others.filter((one) => one !== "--ro-bind /dev/null"),
    ["--bind /host/sandbox-1", "--ro-bind /host/sandbox-1/workspace/data", "--ro-bind /opt/environment"],
  );
});

test("a folder above many paths is made once, so that many paths stay below the 9000 arguments of bubblewrap", () => {
  const paths = (name: string) => Array.from({ length: 500 }, (_, at) => `/srv/a/b/c/d/e/${name}${at}/file`);
  const argv = argumentsFor({ reads: [...paths("read"), ...paths("more")] });
  assert.ok(argv.length < 8000, String(argv.length));
  const folders = argv.filter((_, at) => argv[at - 1] === "--dir");
  assert.equal(new Set(folders).size, folders.length);
  assert.ok(folders.indexOf("/srv/a") < folders.indexOf("/srv/a/b/c/d/e/read7"));
});

test("there is no network unless the request asks for it", () => {
  assert.ok(argumentsFor().includes("--unshare-net"));
  assert.ok(!argumentsFor({ network: "full" }).includes("--unshare-net"));
});

test("an ordinary user gets a user namespace without capabilities; root's first process gets three capabilities and no namespace", () => {
  const capabilities = (argv: string[]) => argv.filter((one) => one.startsWith("CAP_"));
  assert.deepEqual(capabilities(argumentsFor()), ["CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP"]);
  assert.ok(!argumentsFor().includes("--unshare-user"));
  const user = argumentsFor({}, { asRoot: false });
  assert.deepEqual([capabilities(user), user.includes("--unshare-user")], [[], true]);
});

test("only the devices of the request's GPUs and the shared devices are shown (fake GPUs)", () => {
  const devices = (gpus: Gpu[]) => shown(argumentsFor({ gpus })).filter((one) => one.includes("/dev/nvidia"));
  assert.deepEqual(devices([]), []);
  assert.deepEqual(devices([gpu(2)]), [
    "--dev-bind-try /dev/nvidiactl",
    "--dev-bind-try /dev/nvidia-uvm",
    "--dev-bind-try /dev/nvidia-uvm-tools",
    "--dev-bind-try /dev/nvidia2",
  ]);
});

test("an older bubblewrap gets no option that it lacks", () => {
  assert.ok(argumentsFor().includes("--size"));
  assert.ok(!argumentsFor({}, { canSize: false }).includes("--size"));
});
