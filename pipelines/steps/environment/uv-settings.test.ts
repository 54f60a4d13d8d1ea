import assert from "node:assert/strict";
import { test } from "node:test";
import { uvSettings } from "./uv-settings.ts";

/** Set whatever pip's settings are. */
const always = { UV_SYSTEM_CERTS: "1", UV_PYTHON_DOWNLOADS: "never", UV_NO_CONFIG: "1" };

const config = `:env:.index-url='http://user:p%40ss@mirror.test/simple'
:env:.no-cache-dir='1'
global.cert='/etc/ssl/own \\'ca\\'.crt'
global.extra-index-url='file:///opt/some http://more.test/simple'
global.find-links='/opt/wheels /opt/gone https://files.test/wheels'
global.index-url='http://old.test/simple'
global.proxy='http://proxy.test:3128'
global.timeout='60'
install.index-url='http://install.test/simple'
install.trusted-host='\\nmirror.test\\nother.test'`;

const both = {
  ...always,
  UV_DEFAULT_INDEX: "http://user:p%40ss@mirror.test/simple",
  UV_INSECURE_HOST: "mirror.test other.test",
  UV_HTTP_TIMEOUT: "60",
  SSL_CERT_FILE: "/etc/ssl/own 'ca'.crt",
  ALL_PROXY: "http://proxy.test:3128",
};

test("uv resolves with pip's index, without what only adds files on this machine", () => {
  assert.deepEqual(
    uvSettings(config, "resolving", () => true),
    both,
  );
});

test("uv installs from all of pip's sources, without folders that are gone, as pip does", () => {
  assert.deepEqual(
    uvSettings(config, "installing", (path) => path !== "/opt/gone"),
    {
      ...both,
      UV_INDEX: "file:///opt/some http://more.test/simple",
      UV_INDEX_STRATEGY: "unsafe-best-match",
      UV_FIND_LINKS: "/opt/wheels,https://files.test/wheels",
      UV_NO_CACHE: "1",
    },
  );
});

test("without an index for pip, uv has none either and uses the same folders", () => {
  const config = "global.index-url='http://old.test/simple'\nglobal.find-links='/a /b'\n:env:.no-index='1'";
  assert.deepEqual(
    uvSettings(config, "resolving", () => true),
    { ...always, UV_NO_INDEX: "1", UV_FIND_LINKS: "/a,/b" },
  );
});

test("without settings of pip, uv keeps its own index", () => {
  assert.deepEqual(uvSettings("", "resolving"), always);
});
