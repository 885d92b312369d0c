// NetworkPolicies: whom each program may reach and who may reach it, for every kind of Redis and of
// cluster.

import { beforeAll, describe, expect, it } from "vitest";
import { findHelm } from "../../tools/parts/helm.ts";
import { objectsIn, render } from "../support/chart/helm.ts";

let helm: string;

beforeAll(async () => {
  helm = await findHelm(process.env);
});

interface Port {
  readonly port: number | string;
  readonly endPort?: number;
  readonly protocol?: string;
}

interface Peer {
  readonly podSelector?: { readonly matchLabels: Readonly<Record<string, string>> };
  readonly namespaceSelector?: object;
}

interface Policy {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly ingress: readonly { readonly from?: readonly Peer[]; readonly ports: readonly Port[] }[];
    readonly egress: readonly { readonly to?: readonly Peer[]; readonly ports: readonly Port[] }[];
  };
}

async function policies(...set: readonly string[]): Promise<ReadonlyMap<string, Policy>> {
  const { code, text, complaint } = await render(
    helm,
    set.flatMap((value) => ["--set", value]),
  );
  expect([code, complaint]).toEqual([0, ""]);
  const found = objectsIn(text).filter(({ kind }) => kind === "NetworkPolicy") as unknown as readonly Policy[];
  return new Map(found.map((policy) => [policy.metadata.name.replace("jsonplane-", ""), policy]));
}

/** Ports of TCP that the data plane, or the operator, may reach anywhere, ascending. */
function reached(found: ReadonlyMap<string, Policy>, component = "dataplane"): readonly number[] {
  const rules = found.get(component)?.spec.egress.filter(({ to }) => to === undefined) ?? [];
  const ports = rules.flatMap((rule) => rule.ports).filter(({ protocol }) => protocol !== "UDP");
  return ports.map(({ port }) => Number(port)).sort((a, b) => a - b);
}

const dns = [53, 5353];

describe("the data plane reaches the Redis that is named, whatever its port, and no other port", () => {
  it.each([
    ["redis://r", [6379]],
    ["redis://r:7000", [6379, 7000]],
    ["rediss://[2001:db8::1]:6380/2", [6379, 6380]],
    ["redis://[2001:db8::1]", [6379]],
    ["redis+cluster://r1:7001\\,r2:7002\\,r3", [6379, 7001, 7002]],
    ["redis+sentinel://s1\\,s2:5000/main?db=1", [5000, 6379, 26379]],
  ])("%s", async (url, ports) => {
    const found = await policies("redis.bundled.enabled=false", `redis.external.url=${url}`);
    expect(reached(found)).toEqual([...dns, ...ports].sort((a, b) => a - b));
  });

  it("and the ports that are said besides", async () => {
    const found = await policies(
      "redis.bundled.enabled=false",
      "redis.external.existingSecret.name=r",
      "redis.external.ports={26379,6380}",
    );
    expect(reached(found)).toEqual([...dns, 6380, 26379]);
  });
});

it("names are resolved at the ports that are said", async () => {
  expect(reached(await policies("networkPolicy.dnsPorts={1053}"))).toEqual([1053]);
});

it("the operator reaches external issuers where some are allowed, at the ports that are said, and nobody else does", async () => {
  const apiServer = "networkPolicy.apiServerPorts={6443}";
  const allowed = "operator.allowedIssuers={https://login.example.org/*}";
  expect(reached(await policies(apiServer), "operator")).toEqual([...dns, 6443]);
  const found = await policies(apiServer, allowed);
  expect(reached(found, "operator")).toEqual([443, ...dns, 6443].sort((a, b) => a - b));
  expect(reached(found)).toEqual(dns);
  const others = await policies(apiServer, allowed, "networkPolicy.issuerPorts={8443}");
  expect(reached(others, "operator")).toEqual([...dns, 6443, 8443]);
});

const monitoring = { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "monitoring" } } };

it.each([
  ["nobody is named: the namespace of monitoring alone", [], [monitoring]],
  ["an empty list", ["networkPolicy.metricsFrom=null"], [monitoring]],
  [
    "somebody is named",
    ["networkPolicy.metricsFrom[0].ipBlock.cidr=10.0.0.0/8"],
    [{ ipBlock: { cidr: "10.0.0.0/8" } }],
  ],
])("metrics and usage, which name tenants, are never for every pod: %s", async (_, set, peers) => {
  const found = await policies(...set);
  for (const component of ["operator", "dataplane"]) {
    const rules = found
      .get(component)
      ?.spec.ingress.filter(({ ports }) => ports.some(({ port }) => port === "metrics"));
    expect(rules?.map(({ from }) => from)).toEqual([peers]);
  }
});

it("`helm test` reaches the API although nobody else but the ingress may", async () => {
  const found = await policies("networkPolicy.apiFrom[0].ipBlock.cidr=10.0.0.0/8");
  const rule = found.get("dataplane")?.spec.ingress.find(({ ports }) => ports[0]?.port === "http");
  const { text } = await render(helm);
  const pod = objectsIn(text).find(({ kind }) => kind === "Pod") as unknown as {
    readonly metadata: { readonly labels: Readonly<Record<string, string>> };
  };
  const peer = rule?.from?.find(({ podSelector }) => podSelector !== undefined);
  expect(rule?.from).toHaveLength(2);
  expect(pod.metadata.labels).toMatchObject(peer?.podSelector?.matchLabels ?? { no: "peer" });
});

it.each([
  ["redis.external.ports", "[]"],
  ["networkPolicy.dnsPorts", "[]"],
  ["networkPolicy.issuerPorts", "[]"],
])("%s must not be empty: no port would mean every port", async (value, empty) => {
  const { code, complaint } = await render(helm, ["--set-json", `${value}=${empty}`]);
  expect([code, complaint]).toEqual([1, expect.stringContaining(value.replace(".", "/").split(".")[0] ?? "")]);
});

it("passwords of Sentinels are no values either", async () => {
  const url = "redis.external.url=redis+sentinel://s1/main?sentinelPassword=secret77";
  const { code, complaint } = await render(helm, ["--set", `redis.bundled.enabled=false,${url}`]);
  expect([code, complaint]).toEqual([1, expect.stringContaining("values are no place for passwords")]);
  expect(complaint).not.toContain("secret77");
});
