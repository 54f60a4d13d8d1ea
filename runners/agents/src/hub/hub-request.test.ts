import assert from "node:assert/strict";
import { test } from "node:test";
import { hubRequest } from "./hub-request.ts";

test("requests of a hub, an index and a code host are told apart by their paths", () => {
  const kinds = {
    "/lab/m/resolve/main/a/b.json?download=true": "hub-file",
    "/gpt2/resolve/main/config.json": "hub-file",
    "/datasets/lab/d/resolve/refs%2Fconvert%2Fparquet/default/train/0.parquet": "hub-file",
    "/api/models/lab/m": "hub-facts",
    "/api/datasets/lab/d/revision/main": "hub-facts",
    "/api/models/lab/m/tree/main/sub?recursive=true": "hub-facts",
    "/api/models?search=small": "hub-search",
    "/-/simple/Tiny_Thing/": "package",
    "/-/packages/tiny-thing/tiny_thing-1.0-py3-none-any.whl": "package-file",
    "/-/github/owner/name/tar.gz/main": "code",
  };
  for (const [url, kind] of Object.entries(kinds)) assert.equal(hubRequest("GET", url)?.kind, kind, url);
  assert.equal(hubRequest("POST", "/api/datasets/lab/d/paths-info/main")?.kind, "hub-paths");
});

test("a path that steps up, is encoded twice, holds an odd character or names something else is refused", () => {
  for (const url of [
    "/lab/m/resolve/main/../x",
    "/lab/m/resolve/main/%2e%2e/x",
    "/lab/m/resolve/main/a%2f..%2fb",
    "/lab/m/resolve/main/%252e%252e/x",
    "/lab/m/resolve/main/a%5cb",
    "/lab/m/resolve/main/a%00",
    "/lab/m/resolve/main//x",
    "/lab/m/resolve/..%2fmain/x",
    "//host/lab/m/resolve/main/x",
    "http://host/lab/m/resolve/main/x",
    "/lab/m/resolve/main/%zz",
    "/lab/m/blob/main/x",
    "/lab/m.git/info/refs",
    "/api/whoami-v2",
    "/api/datasets/lab/d/parquet/default/test/0.parquet",
    "/datasets-server/rows?dataset=x",
    "/-/simple/../x/",
    "/-/packages/a/b/c",
    "/",
  ])
    assert.equal(hubRequest("GET", url), undefined, url);
  for (const method of ["POST", "PUT", "DELETE", "CONNECT"])
    assert.equal(hubRequest(method, "/lab/m/resolve/main/x"), undefined, method);
});

test("a query is passed on only as far as it is known", () => {
  const asked = hubRequest("GET", "/api/models?search=a&token=b&limit=5");
  assert.equal(asked?.kind === "hub-search" && asked.query.toString(), "search=a&limit=5");
});
