// `jsonplane dataplane` as a process that is done with slow clients in seconds instead of half a minute and more; for tests of what it
// does then. It knows the flags that startReplica gives.

import { parseArgs } from "node:util";
import { runDataplane } from "../../../cli/dataplane/run-dataplane.ts";

const text = { type: "string", default: "" } as const;
const { values } = parseArgs({
  options: { redis: text, keyring: text, replica: text, host: text, port: text, "admin-port": text },
});

process.exitCode = await runDataplane({
  ...values,
  port: Number(values.port),
  adminPort: Number(values["admin-port"]),
  publicUrl: undefined,
  trustedProxies: [],
  maxProjects: 1_000,
  drain: 0,
  logLevel: "info",
  timeLimits: { requestTimeoutMs: 6_000, unreadTimeoutMs: 9_000 },
});
