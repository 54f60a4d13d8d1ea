import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import {
  atRelayedAddress,
  atServiceAddress,
  relayedAddress,
  writeServiceAddresses,
} from "./service-addresses.ts";

test("an address is the one that was written last, other addresses stay, and a missing one is named", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "mlrb-addresses-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const url = "{services.model.url}/v1";
  assert.equal(atServiceAddress("https://api.openai.com/v1", folder), "https://api.openai.com/v1");
  const missing = /the service "model" has no address here/;
  assert.throws(() => atServiceAddress(url, folder), missing);
  for (const port of [1001, 1002]) {
    writeServiceAddresses(folder, { model: `http://127.0.0.1:${port}` });
    assert.equal(atServiceAddress(url, folder), `http://127.0.0.1:${port}/v1`);
  }
  assert.throws(() => atServiceAddress("{services.other.url}/v1", folder), /"other" has no address/);
});

test("what a node sends through the relay reaches the present address, which the node need not know", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "mlrb-services-"));
  t.after(() => rmSync(folder, { recursive: true }));
  writeServiceAddresses(folder, { "Model-1": "http://127.0.0.1:4" });
  const url = (path: string) => new URL(relayedAddress(`{services.Model-1.url}${path}`));
  assert.equal(url("/v1").href, "http://services.invalid/Model-1/v1");
  const at = (there: URL, isOwn = () => true) => atRelayedAddress(there, folder, isOwn);
  assert.equal(at(url("/v1/chat?x=1")).href, "http://127.0.0.1:4/v1/chat?x=1");
  assert.equal(at(url("")).href, "http://127.0.0.1:4/");
  const other = new URL("https://api.openai.com/v1");
  assert.equal(
    at(other, () => false),
    other,
  );
  assert.throws(() => at(new URL("http://services.invalid/other/v1")), /no address/);
  assert.throws(() => at(url("/v1"), () => false), /"Model-1" is away: no program of this user listens at/);
});
