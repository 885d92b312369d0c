// Many Projects at once: all of them are served before their statuses are complete, and whatever
// comes between both is served and reported as it is in the end.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { configKeys } from "../../core/config/config-keys.ts";
import { type OwnFleet, startFleet } from "../support/fleet/fleet.ts";
import type { OperatorProcess } from "../support/fleet/operator-process.ts";
import { declared, type Tenant, tenantAt } from "../support/kubernetes/declared.ts";
import { askRedis } from "../support/redis/ask-redis.ts";
import { eventually } from "../support/time/eventually.ts";

const projects = 30;
const names = Array.from({ length: projects }, (_, index) => `p${index}`);
const objectsPerProject = 5;
const allPublished = "All Projects are published";
const patience = { withinMs: 60_000 };

let fleet: OwnFleet;
/** A namespace of each test's own, with nothing that any status was written of. */
let tenant: Tenant;

beforeAll(async () => {
  fleet = await startFleet({ operators: 0, replicas: 0 });
  const operator = await startOperator();
  await fleet.addReplica();
  await operator.stop();
});
afterAll(() => fleet?.stop());

beforeEach(async () => {
  tenant = tenantAt(fleet, await fleet.api.namespace());
  const created = names.flatMap((name) => {
    const spec = { projectRef: { name } };
    return [
      declared("Project", name),
      declared("ApiResource", `${name}-books`, { ...spec, resourceName: "books", schema: { type: "object" } }),
      declared("RootKey", `${name}-flags`, { ...spec, key: "flags", access: { read: "Anyone" } }),
      declared("ApiKey", `${name}-a`, spec),
      declared("ApiKey", `${name}-b`, spec),
    ];
  });
  await tenant.create(...created);
  return async () => {
    for (const name of await tenant.names("Project")) await tenant.remove("Project", name);
    for (const operator of fleet.operators) await operator.stop();
  };
});

function startOperator(): Promise<OperatorProcess> {
  return fleet.addOperator({ args: ["--lease-duration", "4s"] });
}

async function untilLogged(operator: OperatorProcess, message: string): Promise<void> {
  await eventually(async () => expect(operator.log()).toContain(message), { ...patience, everyMs: 5 });
}

/** Statuses of the namespace that the operator has logged, of the log's part so far. */
const statusesIn = (log: string): number =>
  log.split("\n").filter((line) => line.includes("Status changed") && line.includes(tenant.namespace)).length;

/** Once each. */
async function allReported(operator: OperatorProcess): Promise<void> {
  await eventually(async () => expect(statusesIn(operator.log())).toBe(projects * objectsPerProject), patience);
}

async function servedEverywhere(wanted: readonly string[]): Promise<void> {
  for (const name of wanted) {
    const path = `/${tenant.namespace}/${name}/json/flags`;
    for (const replica of fleet.replicas) expect((await replica.send(path)).status, name).not.toBe(404);
  }
}

describe("thirty Projects that are new to an operator", () => {
  it("are all served before most statuses say so, and then each status is written once", async () => {
    const operator = await startOperator();
    await untilLogged(operator, allPublished);
    await fleet.ready(tenant.namespace);
    const [before = ""] = operator.log().split(allPublished);
    expect(statusesIn(before)).toBeLessThan((projects * objectsPerProject) / 2);
    await allReported(operator);
    await servedEverywhere(names);
  });

  it("are as declared in the end where objects are changed and deleted between being served and reported", async () => {
    const operator = await startOperator();
    await untilLogged(operator, allPublished);
    const key = await fleet.secret(tenant.namespace, "p28-a-api-key", "apiKey");
    await tenant.remove("ApiKey", "p28-a");
    await tenant.remove("Project", "p29");
    await tenant.edit("ApiKey", "p27-a", { access: "Write" });
    const orphans = ["p29-a", "p29-b"];
    for (const name of orphans) await tenant.reports("ApiKey", name, "ProjectNotFound");
    await tenant.reports("ApiKey", "p27-a", "Ready");
    for (const name of names.slice(0, 29)) await tenant.reports("Project", name, "Ready");
    const [replica] = fleet.replicas;
    await eventually(async () => {
      const path = `/${tenant.namespace}/p28/json/flags`;
      expect((await replica?.send(path, { as: `apikey ${key}` }))?.status).toBe(401);
    }, patience);
  });

  it("are all served again, and reported, where Redis is emptied between both", async () => {
    const operator = await startOperator();
    await untilLogged(operator, allPublished);
    await askRedis(fleet.redis.port, "FLUSHALL");
    await fleet.ready(tenant.namespace);
    await eventually(
      async () => expect(await askRedis(fleet.redis.port, `HLEN ${configKeys.projects}`)).toBe(`:${projects}\r\n`),
      patience,
    );
    await eventually(() => servedEverywhere(names), patience);
  });

  it("are reported by the next leader where the first one is killed between both", async () => {
    const first = await startOperator();
    await untilLogged(first, allPublished);
    await first.stop("SIGKILL");
    const next = await startOperator();
    await fleet.ready(tenant.namespace);
    expect(statusesIn(next.log())).toBeGreaterThan(0);
    await servedEverywhere(names);
  });
});

describe("one change of a quiet cluster", () => {
  it("is one write of the status of its object", async () => {
    const operator = await startOperator();
    await fleet.ready(tenant.namespace);
    await allReported(operator);
    const before = statusesIn(operator.log());
    await tenant.edit("ApiKey", "p3-a", { access: "Write" });
    const { Programmed } = await tenant.reports("ApiKey", "p3-a", "Ready");
    expect(Programmed?.status).toBe("True");
    await eventually(async () => expect(statusesIn(operator.log()) - before).toBe(1), patience);
  });
});
