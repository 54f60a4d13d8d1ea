import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { atServiceAddress, writeServiceAddresses } from "./service-addresses.ts";

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
