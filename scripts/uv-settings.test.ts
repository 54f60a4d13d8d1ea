import assert from "node:assert/strict";
import { test } from "node:test";
import { uvSettings } from "./uv-settings.ts";

test("uv uses pip's index and ignores settings that only add files on this machine", () => {
  const config = `:env:.index-url='http://user:p%40ss@mirror.test/simple'
global.cert='/etc/ssl/own \\'ca\\'.crt'
global.extra-index-url='file:///opt/some'
global.find-links='/opt/wheels'
global.index-url='http://old.test/simple'
global.proxy='http://proxy.test:3128'
install.index-url='http://install.test/simple'
install.trusted-host='\\nmirror.test\\nother.test'`;
  assert.deepEqual(uvSettings(config), {
    UV_DEFAULT_INDEX: "http://user:p%40ss@mirror.test/simple",
    UV_INSECURE_HOST: "mirror.test other.test",
    SSL_CERT_FILE: "/etc/ssl/own 'ca'.crt",
    ALL_PROXY: "http://proxy.test:3128",
  });
});

test("without an index for pip, uv has none either and uses the same folders", () => {
  const config = "global.index-url='http://old.test/simple'\nglobal.find-links='/a /b'\n:env:.no-index='1'";
  assert.deepEqual(uvSettings(config), { UV_NO_INDEX: "1", UV_FIND_LINKS: "/a,/b" });
});

test("without settings of pip, uv has no settings", () => {
  assert.deepEqual(uvSettings(""), {});
});
