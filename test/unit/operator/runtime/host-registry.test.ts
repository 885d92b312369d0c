// Hosts that are published for Projects whose namespace this operator doesn't see.

import { describe, expect, it } from "vitest";
import { hostPolicy } from "../../../../operator/compile/host-policy.ts";
import { createHostRegistry } from "../../../../operator/runtime/host-registry.ts";
import { stored } from "../../../support/kubernetes/stored-crs.ts";

const host = "a.example.org";
const unseen = { namespace: "elsewhere", name: "shop" };
const claiming = (namespace: string, uid = `Project of ${namespace}`) =>
  stored("Project", "shop", { metadata: { namespace, uid }, spec: { hosts: [host] } });

/** A Project claims what another one is published with, whose namespace may claim it only with "*". */
function desk(namespace = "default") {
  const hosts = createHostRegistry(hostPolicy(() => [{ namespace, suffix: "example.org" }]));
  hosts.addPublished(unseen, undefined, [host]);
  hosts.put(claiming("default"));
  const isGranted = (project = claiming("default")) => hosts.grantOf(project).granted.includes(host);
  return { hosts, isGranted };
}

describe("a host that a Project holds whose namespace is not watched", () => {
  it("is taken, whatever the platform lets that namespace claim now", () => {
    const { hosts } = desk();
    expect(hosts.grantOf(claiming("default"))).toMatchObject({ granted: [], refused: [{ reason: "HostConflict" }] });
  });

  it("stays with that Project when its namespace is watched again", () => {
    const { hosts, isGranted } = desk("*");
    const back = claiming("elsewhere");
    expect(hosts.put(back)).toEqual(["default/shop"]);
    expect([isGranted(back), isGranted()]).toEqual([true, false]);
  });

  it("passes on once that Project is withdrawn, and who waits for it is named", () => {
    const { hosts, isGranted } = desk();
    expect(hosts.published(unseen, undefined)).toEqual(["default/shop"]);
    expect(isGranted()).toBe(true);
  });
});
