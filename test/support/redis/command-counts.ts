// Counts the commands that a Redis of a test's own was sent while something was done, scripts' own
// commands included, by their names.

import { askRedis } from "./ask-redis.ts";

/** What asking itself, connecting and pinging cost. */
const ofConnections = /^(cluster|client|config|command|info|ping|hello|auth|select|readonly)\b/;

export type CommandCounts = Readonly<Record<string, number>>;

export async function commandsSent(port: number, during: () => Promise<unknown>): Promise<CommandCounts> {
  await askRedis(port, "CONFIG RESETSTAT");
  await during();
  const found = [...(await askRedis(port, "INFO commandstats")).matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)];
  const counts = found.map(([, name = "", calls]): [string, number] => [name.toLowerCase(), Number(calls)]);
  return Object.fromEntries(counts.filter(([name, calls]) => calls > 0 && !ofConnections.test(name)));
}
