// `jsonplane dataplane` as a process with other time limits than the usual ones, given as JSON
// before the flags of startReplica: for tests of what happens at a limit, which need not wait for
// it, and of all else, which a busy machine must not bring to one. It reports how much memory is in
// use when it is asked (Node needs --expose-gc).

import { parseArgs } from "node:util";
import "./report-memory.ts";
import { type DataplaneOptions, runDataplane } from "../../../cli/dataplane/run-dataplane.ts";

const [limits = "{}", ...args] = process.argv.slice(2);
const text = { type: "string", default: "" } as const;
const { values } = parseArgs({
  args,
  options: { redis: text, keyring: text, replica: text, host: text, port: text, "admin-port": text },
});

process.exitCode = await runDataplane({
  ...values,
  port: Number(values.port),
  adminPort: Number(values["admin-port"]),
  redisCaFile: undefined,
  adminTokenFile: undefined,
  publicUrl: undefined,
  trustedProxies: [],
  maxProjects: 1_000,
  drain: 0,
  logLevel: "info",
  timeLimits: JSON.parse(limits) as NonNullable<DataplaneOptions["timeLimits"]>,
});
