// The operator's program for tests whose external issuers are on this machine, with the same
// arguments. Only here may it fetch from loopback addresses, over https as always, and again a
// second after the last fetch.

import { defineCommand } from "../../../cli/command.ts";
import { runCommandLine } from "../../../cli/command-line.ts";
import { runOperator } from "../../../cli/operator/run-operator.ts";
import { settings } from "../../../cli/operator/settings.ts";
import { clusterAddresses, devAddresses } from "../../../operator/issuers/address-rules.ts";

const addresses = { ...clusterAddresses, mayConnectTo: devAddresses.mayConnectTo };

const operator = defineCommand({
  name: "operator",
  summary: "As in the program, and external issuers may be on this machine",
  settings,
  needs: ["redis", "publicUrl"],
  run: (given) => runOperator(given, { addresses, refetchAfterMs: 1_000 }),
});

process.exitCode = await runCommandLine([operator], process.argv.slice(2), {
  out: (text) => void process.stdout.write(text),
  error: (text) => void process.stderr.write(text),
  environment: process.env,
});
// What a command that failed half-way has left open must not keep the program alive.
setTimeout(() => process.exit(), 1_000).unref();
