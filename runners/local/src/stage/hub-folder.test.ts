import assert from "node:assert/strict";
import { test } from "node:test";
import type { Instance } from "@mlrb/core/plan/plan";
import { gatewayVariables, hubFolder, hubVariables } from "./hub-folder.ts";

const instance = (hub: boolean) => ({ stage: { spec: hub ? { hub } : {} } }) as unknown as Instance;
const workspace = { state: { state: "/data/.mlrb" } } as Parameters<typeof hubFolder>[1];

function withSettings<T>(settings: Record<string, string>, look: () => T): T {
  const before = process.env;
  process.env = { PATH: "/bin", HF_TOKEN: "hf_secret", ...settings };
  try {
    return look();
  } finally {
    process.env = before;
  }
}

test("a stage of a hub gets the user's hub, proxies and certificates, and no other stage gets any of them", () => {
  const settings = {
    HF_ENDPOINT: "https://hub.example",
    HF_HUB_OFFLINE: "1",
    HF_HOME: "/scratch/hf",
    HTTPS_PROXY: "http://proxy",
    no_proxy: "localhost",
    SSL_CERT_FILE: "/etc/ca.pem",
    HF_DATASETS_CACHE: "/elsewhere",
  };
  const { HF_DATASETS_CACHE: _, ...passed } = settings;
  withSettings(settings, () => {
    assert.deepEqual(hubVariables(instance(true), workspace), {
      ...passed,
      HF_HUB_DISABLE_TELEMETRY: "1",
      HF_HUB_DISABLE_PROGRESS_BARS: "1",
      HF_HUB_DISABLE_XET: "1",
    });
    assert.deepEqual(hubVariables(instance(false), workspace), {});
    assert.equal(hubFolder(instance(false), workspace), undefined);
  });
});

test("an attempt that downloads through a gateway gets its servers, and neither a key nor the servers' folder of another", () => {
  const attempt = (network: string, untrusted = true) =>
    ({ stage: { untrusted, spec: {} }, execution: { network } }) as unknown as Instance;
  const settings = {
    HF_ENDPOINT: "https://hub.example",
    HTTPS_PROXY: "http://proxy",
    PIP_INDEX_URL: "https://index.example",
  };
  withSettings({ ...settings, HF_HOME: "/scratch/hf" }, () => {
    assert.deepEqual(gatewayVariables(attempt("hub"), workspace), {
      ...settings,
      NODE_USE_ENV_PROXY: "1",
      MLRB_DOWNLOADS: "/data/.mlrb/downloads",
    });
    assert.deepEqual(gatewayVariables(attempt("none"), workspace), {});
    assert.deepEqual(gatewayVariables(attempt("full"), workspace), {});
    assert.deepEqual(gatewayVariables(attempt("hub", false), workspace), {});
  });
});

test("without HF_HOME the folder is the state's own, and the stage may empty it", () => {
  withSettings({}, () => {
    const { HF_HOME, MLRB_HUB_OWN } = hubVariables(instance(true), workspace);
    assert.deepEqual([HF_HOME, MLRB_HUB_OWN], ["/data/.mlrb/hub", "1"]);
  });
});
