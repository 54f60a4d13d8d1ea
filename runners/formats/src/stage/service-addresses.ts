// The format of services.json in an attempt's folder: where the services that it uses answer now.
import * as t from "../schema.ts";

export const serviceAddresses = t.wholeFile("mlrb service addresses", 1, {
  urls: t.about(t.tableOf(t.text), "address of each service by name, e.g. http://127.0.0.1:43121"),
});
