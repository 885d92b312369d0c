// The way of a change of a ProjectUser, from the event of the watch until the status is written: in
// an operator with an open inspector, a real API server, Redis and one replica, started for it.

import { startFleet } from "../support/fleet/fleet.ts";
import { declared, newTenant } from "../support/kubernetes/declared.ts";
import { formatTrace } from "./format-trace.ts";
import { connectInspector } from "./inspector.ts";
import { type Trace, trace } from "./trace.ts";

/** Files that it may run through; the figure only goes down. */
export const maxFilesOfChange = 134;

const warmUps = 8;
/** Where what a watch delivers arrives. */
const begin = { path: "operator/watch/reflector.ts", name: "onBytes" };
const accesses = ["Read", "Write"] as const;

export async function traceChange(): Promise<Trace> {
  const fleet = await startFleet({ operators: 0, replicas: 0 });
  try {
    const operator = await fleet.addOperator({ nodeFlags: ["--inspect=127.0.0.1:0"] });
    await fleet.addReplica();
    const tenant = await newTenant(fleet);
    await tenant.create(declared("Project", "shop"), declared("ProjectUser", "ada", { access: "Write" }));
    await fleet.ready(tenant.namespace);
    const inspector = await connectInspector(inspectorIn(operator.log()));
    let changes = 0;
    const ask = async (): Promise<string> => {
      await tenant.edit("ProjectUser", "ada", { access: accesses[changes % accesses.length] });
      changes += 1;
      await tenant.reports("ProjectUser", "ada", "Ready", { withinMs: 60_000, everyMs: 5 });
      return "Ready";
    };
    const traced = await trace(inspector, { ask, warmUps, begin });
    inspector.close();
    return traced;
  } finally {
    await fleet.stop();
  }
}

export function formatChange(traced: Trace): string {
  return formatTrace("A change of a ProjectUser", traced);
}

/** Host and port. */
function inspectorIn(log: string): string {
  const [, address] = /Debugger listening on ws:\/\/([\d.:]+)\//.exec(log) ?? [];
  if (address === undefined) throw new Error(`The operator opened no inspector:\n${log}`);
  return address;
}
