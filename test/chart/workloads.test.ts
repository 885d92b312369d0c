// Workloads over their life: what an upgrade can't change stays the same, what it changes makes
// pods again, they wait for Redis as long as it takes, and have time to end.

import { beforeAll, describe, expect, it } from "vitest";
import { findHelm } from "../../tools/parts/helm.ts";
import { runCommand } from "../../tools/parts/run-command.ts";
import { caseFile, objectsIn, render } from "../support/chart/helm.ts";

let helm: string;

beforeAll(async () => {
  helm = await findHelm(process.env);
});

interface Probe {
  readonly periodSeconds: number;
  readonly failureThreshold: number;
}

interface Variable {
  readonly name: string;
  readonly value?: string;
}

interface Workload {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly selector: object;
    readonly serviceName?: string;
    readonly volumeClaimTemplates?: readonly object[];
    readonly template: {
      readonly spec: {
        readonly terminationGracePeriodSeconds: number;
        readonly automountServiceAccountToken?: boolean;
        readonly containers: readonly { readonly startupProbe: Probe; readonly env: readonly Variable[] }[];
      };
    };
  };
}

async function workloads(...args: readonly string[]): Promise<readonly Workload[]> {
  const { code, text, complaint } = await render(helm, args);
  expect([code, complaint]).toEqual([0, ""]);
  const found = objectsIn(text).filter(({ kind }) => kind === "Deployment" || kind === "StatefulSet");
  return found as unknown as readonly Workload[];
}

async function workload(name: string, ...args: readonly string[]): Promise<Workload> {
  const found = (await workloads(...args)).find(({ metadata }) => metadata.name === `jsonplane-${name}`);
  if (found === undefined) throw new Error(`There is no ${name}`);
  return found;
}

it("what no upgrade can change depends on no value but the volume's own", async () => {
  const fixed = (found: readonly Workload[]) =>
    found.map(({ metadata, spec: { selector, serviceName, volumeClaimTemplates } }) => [
      metadata.name,
      selector,
      serviceName,
      volumeClaimTemplates,
    ]);
  const volume = ["--set", "redis.bundled.storage.size=4Gi,redis.bundled.storage.storageClassName="];
  expect(fixed(await workloads("--values", caseFile("everything"), ...volume))).toEqual(fixed(await workloads()));
});

it.each([0, 10, 300])(
  "a replica that drains for %i s has 10 s more to answer what is under way, and some to end",
  async (seconds) => {
    const { spec } = await workload("dataplane", "--set", `dataplane.drainSeconds=${seconds}`);
    expect(spec.template.spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(seconds + 10 + 5);
  },
);

it("a data plane that finds no Redis waits by itself, and isn't restarted for it", async () => {
  const [container] = (await workload("dataplane")).spec.template.spec.containers;
  const { periodSeconds, failureThreshold } = container?.startupProbe ?? { periodSeconds: 0, failureThreshold: 0 };
  expect(periodSeconds * failureThreshold).toBeGreaterThanOrEqual(3_600);
});

it("only the operator has a service account's token", async () => {
  for (const { metadata, spec } of await workloads()) {
    const mounted = spec.template.spec.automountServiceAccountToken ?? true;
    expect([metadata.name, mounted]).toEqual([metadata.name, metadata.name === "jsonplane-operator"]);
  }
});

describe("a change of", () => {
  it.each([
    ["redis.bundled.maxmemory=700mb", "redis"],
    ["redis.bundled.appendfsync=always", "redis"],
    ["dataplane.logLevel=warn", "dataplane"],
    ["publicURL=https://api.example.org", "dataplane"],
    ["publicURL=https://api.example.org", "operator"],
    ["operator.allowedHosts={*=example.org}", "operator"],
  ])("%s makes new pods of %s", async (set, name) => {
    const [before, after] = [await workload(name), await workload(name, "--set", set)];
    expect(after.spec.template).not.toEqual(before.spec.template);
  });
});

it.each(["operator", "dataplane", "redis"])("what is none of its business makes no new pods of %s", async (name) => {
  const others = "ingress.enabled=true,metrics.podMonitor.enabled=true,rbac.create=false";
  const [before, after] = [await workload(name), await workload(name, "--set", others)];
  expect(after.spec.template).toEqual(before.spec.template);
});

describe("the heap of Node", () => {
  async function nodeOptions(name: string, ...args: readonly string[]): Promise<readonly (string | undefined)[]> {
    const { containers } = (await workload(name, ...args)).spec.template.spec;
    const found = containers.flatMap(({ env }) => env).filter((variable) => variable.name === "NODE_OPTIONS");
    return found.map(({ value }) => value);
  }
  const own = [{ name: "NODE_OPTIONS", value: "--max-old-space-size=300" }];

  it.each([
    ["operator", [], ["--max-old-space-size-percentage=70 --max-semi-space-size=8"]],
    ["dataplane", [], ["--max-old-space-size-percentage=60 --max-semi-space-size=16"]],
    ["operator", ["--set", "operator.heapPercent=55"], ["--max-old-space-size-percentage=55 --max-semi-space-size=8"]],
    ["operator", ["--set", "operator.heapPercent=0"], []],
    ["dataplane", ["--set-json", "dataplane.resources.limits=null"], []],
    ["dataplane", ["--set-json", "dataplane.resources=null"], []],
    ["dataplane", ["--set-json", `dataplane.extraEnv=${JSON.stringify(own)}`], ["--max-old-space-size=300"]],
  ])("of the %s with %j has %j", async (name, args, options) => {
    expect(await nodeOptions(name, ...args)).toEqual(options);
  });

  it("is as large as the option says: Node knows it", async () => {
    const print = "console.log(require('node:v8').getHeapStatistics().heap_size_limit)";
    const limitAt = async (percent: number): Promise<number> => {
      const [options = ""] = await nodeOptions("operator", "--set", `operator.heapPercent=${percent}`);
      const { stdout } = await runCommand(process.execPath, ["-e", print], { env: { NODE_OPTIONS: options } });
      return Number(stdout);
    };
    // Next to it stands room for what is new, which is the same in both.
    expect((await limitAt(70)) / (await limitAt(35))).toBeGreaterThan(1.8);
  });
});
