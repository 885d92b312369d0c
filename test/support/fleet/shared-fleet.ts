// The API server and the fleet that the files of a run share, each started when the first file asks
// for it. A file uses namespaces of its own there, and stops nothing: the types have no way to.
// What needs that, or counts what is in the whole cluster, starts parts of its own.

import { readFileSync } from "node:fs";
import { accessTo, type ServerLocation, type TestApiServer } from "../kubernetes/api-server/api-server-access.ts";
import { askParts } from "../process/ask-parts.ts";
import { type Fleet, publicUrl, readingOf } from "./fleet.ts";
import { runningOperator } from "./operator-process.ts";
import { type RunningProgram, runningProgram } from "./program-process.ts";
import { runningReplica } from "./replica.ts";
import type { FleetLocation, ProgramLocation } from "./start-shared-fleet.ts";

/**
 * With CRDs and audit, without an operator: nothing changes what a test writes. Namespaces that are
 * deleted stay terminating.
 */
export async function sharedApiServer(): Promise<TestApiServer> {
  return accessTo(await askParts<ServerLocation>("/api-server"));
}

/**
 * One operator, which lets each namespace claim `<namespace>.apps.test`, and two replicas; deleted
 * namespaces go.
 */
export async function sharedFleet(): Promise<Fleet> {
  const { api, redis, operators, replicas } = await askParts<FleetLocation>("/fleet");
  const access = accessTo(api);
  return {
    api: access,
    redis,
    publicUrl,
    operators: operators.map((each) => runningOperator(programAt(each))),
    replicas: replicas.map((each) => runningReplica(programAt(each), each.origin)),
    ...readingOf(access),
  };
}

function programAt({ adminUrl, logFile }: ProgramLocation): RunningProgram {
  return runningProgram({ adminUrl, log: () => readFileSync(logFile, "utf8") });
}
