// What an install says at its end: commands that work for what was installed, and what is still to
// be done by hand.

import { beforeAll, describe, expect, it } from "vitest";
import { findHelm } from "../../tools/parts/helm.ts";
import { runCommand } from "../../tools/parts/run-command.ts";
import { chart } from "../support/chart/helm.ts";

let helm: string;

beforeAll(async () => {
  helm = await findHelm(process.env);
});

async function notes(set?: string): Promise<string> {
  const args = ["install", "jsonplane", chart, "--namespace", "js", "--dry-run=client"];
  const { code, stdout, stderr } = await runCommand(helm, [...args, ...(set === undefined ? [] : ["--set", set])]);
  expect([code, stderr]).toEqual([0, expect.not.stringContaining("Error")]);
  return stdout.slice(stdout.indexOf("NOTES:"));
}

const apply = "kubectl apply -f examples/bookshop.yaml && kubectl wait --for=condition=Ready jsonplane --all";
const external = "redis.bundled.enabled=false,redis.external.existingSecret.name=urls";

describe("the notes of an install", () => {
  it.each([
    ["", apply],
    ["", "port-forward svc/jsonplane 8080:80"],
    ["", "publicURL is empty"],
    [
      "operator.watchNamespaces={shop,blog}",
      "kubectl apply -n shop -f examples/bookshop.yaml && kubectl wait -n shop ",
    ],
    ["operator.watchNamespaces={shop,blog}", "Only these namespaces are served: shop, blog."],
    ["crds.enabled=false", "kubectl apply --server-side -f charts/jsonplane/files/crds/"],
    ["publicURL=https://api.example.org/", "Projects are served at https://api.example.org/NAMESPACE/PROJECT"],
    ["dataplane.service.type=LoadBalancer", "kubectl -n js get svc jsonplane"],
    [external, "Secret urls of the namespace js, entries operator-url and dataplane-url"],
    [`${external},redis.external.caSecret.name=ca`, "Secret ca, entry ca.crt"],
    ["metrics.podMonitor.enabled=true", "set networkPolicy.metricsFrom"],
  ])("with %j have: %s", async (set, text) => {
    expect(await notes(set || undefined)).toContain(text);
  });

  it.each([
    ["publicURL=https://api.example.org", "publicURL is empty"],
    ["ingress.enabled=true,ingress.hosts={api.example.org}", "publicURL is empty"],
    ["ingress.enabled=true,ingress.hosts={api.example.org}", "port-forward"],
    [external, "NOT FOR PRODUCTION"],
    ["", "files/crds/"],
  ])("with %j don't have: %s", async (set, text) => {
    expect(await notes(set || undefined)).not.toContain(text);
  });
});
