// A folder with declared sources for tests of `pipeline sources`, and a hub that has them.
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { LoopbackHub } from "../../../../tests/support/servers/loopback-hub.ts";

type Output = { code: number; stdout: string; stderr: string };

export type SourceLab = {
  hub: LoopbackHub;
  repository: string;
  /** Writes sources/NAME.yaml. */
  declare(name: string, repository: string, more?: string): void;
  lock(): string;
  /** Calls a command with the hub in the environment. */
  say(command: () => number | Promise<number>, env?: Record<string, string>): Promise<Output>;
};

const none = { HF_TOKEN: "", HF_HUB_OFFLINE: "" };

export async function sourceLab(test: TestContext): Promise<SourceLab> {
  const hub = await new LoopbackHub().start();
  const repository = mkdtempSync(join(tmpdir(), "mlrb-sources-"));
  mkdirSync(join(repository, "sources"));
  test.after(() => {
    hub.close();
    removeFolder(repository);
  });
  return {
    hub,
    repository,
    declare(name, from, more = "type: dataset\nuse: data\n") {
      const text = `formatVersion: 1\nname: ${name}\ntitle: ${name}\nrepository: ${from}\n${more}`;
      writeFileSync(join(repository, `sources/${name}.yaml`), text);
    },
    lock: () => readFileSync(join(repository, "sources.lock.yaml"), "utf8"),
    async say(command, env = {}) {
      const before = { ...process.env };
      Object.assign(process.env, none, { HF_ENDPOINT: hub.endpoint }, env);
      const written = { stdout: "", stderr: "" };
      const streams = (["stdout", "stderr"] as const).map((name) => {
        const write = process[name].write.bind(process[name]);
        return test.mock.method(process[name], "write", (text: string | Uint8Array) => {
          if (typeof text !== "string") return write(text); // the test runner's own
          written[name] += text;
          return true;
        });
      });
      try {
        const code = await command();
        return { code, ...written };
      } finally {
        for (const stream of streams) stream.mock.restore();
        process.env = before;
      }
    },
  };
}
