// The format of services.json in an attempt's folder: where the services that it uses answer now.
import { fileFormat, tableOf, text, wholeObject } from "../schema.ts";

export const serviceAddresses = fileFormat(
  "mlrb service addresses",
  wholeObject({
    formatVersion: { const: 1 },
    urls: { ...tableOf(text), description: "address of each service by name, e.g. http://127.0.0.1:43121" },
  }),
);
