// Hosts of Projects whose namespace this operator doesn't see, and of Projects that the platform's
// rules refuse.

import { describe, expect, it } from "vitest";
import { hostPolicy } from "../../../../operator/compile/hosts.ts";
import { createHostRegistry } from "../../../../operator/runtime/host-registry.ts";
import { project, withConfig } from "../../../support/http/projects.ts";
import { stored } from "../../../support/kubernetes/stored-crs.ts";

const host = "a.example.org";
const unseen = { namespace: "elsewhere", name: "shop" };
const claiming = (namespace: string, uid = `Project of ${namespace}`) =>
  stored("Project", "shop", { metadata: { namespace, uid }, spec: { hosts: [host] } });

/**
 * A Project claims what another one is published with, whose namespace may claim it only with "*".
 */
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

describe("a host that a Project claims which the platform's rules refuse", () => {
  const older = { namespace: "a", name: "shop" };
  const younger = { namespace: "b", name: "shop" };
  const keyOfOther = "b/shop";
  const servedUnder = (uid: string) => project("shop", withConfig({ uid, hosts: [host] }));

  function claimed() {
    const hosts = createHostRegistry(hostPolicy(() => [{ namespace: "*", suffix: "example.org" }]));
    // Of the same age: then the order is that of namespaces.
    for (const { namespace } of [older, younger]) hosts.put(claiming(namespace));
    const holds = (namespace: string) => hosts.grantOf(claiming(namespace)).granted.includes(host);
    return { hosts, holds };
  }

  it("is free for another Project, which is named when that begins and when it ends, and not in between", () => {
    const { hosts, holds } = claimed();
    expect(holds("b")).toBe(false);
    expect(hosts.published(older, undefined, "Project of a")).toEqual([keyOfOther]);
    expect(holds("b")).toBe(true);
    expect(hosts.published(older, undefined, "Project of a")).toEqual([]);
    expect(hosts.published(older, undefined)).toEqual([keyOfOther]);
    expect(holds("b")).toBe(false);
  });

  it("stays with the other Project once that is served under it, although the older one is allowed by then", () => {
    const { hosts, holds } = claimed();
    hosts.published(older, undefined, "Project of a");
    hosts.published(younger, servedUnder("Project of b"));
    hosts.published(older, undefined);
    expect([holds("a"), holds("b")]).toEqual([false, true]);
  });

  it("stays with the refused Project as long as it is served under it", () => {
    const { hosts, holds } = claimed();
    hosts.published(older, servedUnder("Project of a"));
    hosts.published(older, servedUnder("Project of a"), "Project of a");
    expect([holds("a"), holds("b")]).toEqual([true, false]);
    hosts.published(older, undefined, "Project of a");
    expect(holds("b")).toBe(true);
  });

  it("is claimed by another Project of the refused one's name", () => {
    const { hosts, holds } = claimed();
    hosts.published(older, undefined, "Project of a");
    hosts.put(claiming("a", "created anew"));
    expect(holds("b")).toBe(false);
  });
});
