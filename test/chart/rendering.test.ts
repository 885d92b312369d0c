// What the chart renders to: the same with Helm 4 and, in the nightly tier, Helm 3, as it stands in
// golden files, and nothing when values make no sense.

import { readFile } from "node:fs/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { findHelm } from "../../tools/parts/helm.ts";
import { runCommand } from "../../tools/parts/run-command.ts";
import { caseFile, caseNames, chart, helmsOfTier, kubeVersion, objectsIn, render } from "../support/chart/helm.ts";

let helm: string;

beforeAll(async () => {
  helm = await findHelm(process.env);
});

const nameOf = ({ metadata }: ReturnType<typeof objectsIn>[number]) => (metadata as { readonly name: string }).name;

/** Without the CRDs, which stand in files/crds/. */
const withoutCrds = ["--set", "crds.enabled=false"];

describe.each(caseNames)("the chart with the values %s", (name) => {
  const values = ["--values", caseFile(name)];

  it("renders to what its golden file says; `npx vitest run --project chart -u` writes it anew", async () => {
    const { code, text, complaint } = await render(helm, [...values, ...withoutCrds]);
    expect([code, complaint]).toEqual([0, ""]);
    await expect(text).toMatchFileSnapshot(`golden/${name}.yaml`);
  });

  it.each(helmsOfTier)("renders to the same a second time, with Helm %i", async (major) => {
    const again = await findHelm(process.env, major);
    const [first, second] = await Promise.all([render(helm, values), render(again, values)]);
    expect(second.text).toBe(first.text);
  });

  it.each(helmsOfTier)("passes the linter of Helm %i", async (major) => {
    const args = ["lint", "--strict", chart, ...kubeVersion, ...values];
    const { code, stdout, stderr } = await runCommand(await findHelm(process.env, major), args);
    expect([code, stdout, stderr]).toEqual([0, expect.stringContaining("0 chart(s) failed"), ""]);
  });
});

describe("values that make no sense", () => {
  it.each([
    ["dataplane.replica=3", "replica"],
    ["operator.logLevel=loud", "logLevel"],
    ["operator.watchNamespaces[0]=Shop", "watchNamespaces"],
    ["publicURL=api.example.org", "publicURL"],
    ["redis.bundled.maxmemory=", "maxmemory"],
    ["redis.bundled.enabled=false", "There is no Redis: set redis.external.existingSecret.name"],
    ["redis.external.url=redis://r", "set redis.bundled.enabled=false"],
    ["redis.bundled.enabled=false,redis.external.url=redis://user:secret@r", "values are no place for passwords"],
    ["httpRoute.enabled=true", "httpRoute.parentRefs is empty: name the Gateway"],
    ["dataplane.autoscaling.enabled=true,dataplane.autoscaling.minReplicas=20", "minReplicas is more than maxReplicas"],
    ["operator.podDisruptionBudget.maxUnavailable=2", "operator.podDisruptionBudget.maxUnavailable is 2 of 2 replicas"],
    ["operator.podDisruptionBudget.maxUnavailable=51%", "maxUnavailable is 51% of 2 replicas"],
    ["metrics.prometheusRule.alertLabels.namespace=x", "namespace"],
    ["operator.serviceAccount.create=false", "set operator.serviceAccount.name to an existing ServiceAccount"],
  ])("%s is refused, and it is said which", async (value, message) => {
    const { code, text, complaint } = await render(helm, ["--set", value]);
    expect([code, text]).toEqual([1, ""]);
    expect(complaint).toContain(message);
    expect(complaint).not.toContain("secret@");
  });
});

describe("the chart", () => {
  it("renders to what its values alone say: it holds nothing random, and looks at a cluster only to refuse", async () => {
    const { text } = await render(helm, ["--values", caseFile("everything"), "--is-upgrade"]);
    expect(text).toBe((await render(helm, ["--values", caseFile("everything")])).text);
  });

  it("gives the operator the rights of deploy/rbac, and no other", async () => {
    const rights = async (file: string) =>
      objectsIn(await readFile(new URL(`../../deploy/rbac/${file}`, import.meta.url), "utf8"));
    const ofKind = (objects: ReturnType<typeof objectsIn>, kind: string) =>
      objects.filter((object) => object.kind === kind).map(({ rules }) => rules);
    const external = objectsIn((await render(helm, ["--values", caseFile("external-url")])).text);
    const [users, cluster, system] = await Promise.all(["users.yaml", "cluster.yaml", "operator.yaml"].map(rights));
    const clusterRoles = [...ofKind(cluster ?? [], "ClusterRole"), ...ofKind(users ?? [], "ClusterRole")];
    expect(new Set(ofKind(external, "ClusterRole"))).toEqual(new Set(clusterRoles));
    // The one of `helm test` besides.
    expect(ofKind(external, "Role").slice(0, -1)).toEqual(ofKind(system ?? [], "Role"));
    const watched = objectsIn((await render(helm, ["--values", caseFile("namespaced")])).text);
    const [expected] = ofKind(await rights("namespaced.yaml"), "Role");
    expect(ofKind(watched, "Role").slice(1, -1)).toEqual([expected, expected]);
  });

  it("gives every object but the CRDs the common labels and annotations", async () => {
    const common = "commonLabels.team=platform,commonAnnotations.example\\.org/owner=platform";
    const { text } = await render(helm, ["--values", caseFile("everything"), ...withoutCrds, "--set", common]);
    for (const { kind, metadata } of objectsIn(text)) {
      expect([kind, metadata]).toMatchObject([
        kind,
        { labels: { team: "platform" }, annotations: { "example.org/owner": "platform" } },
      ]);
    }
  });

  it("binds the operator's rights to the ServiceAccount that it is told, and makes none where it is told not to", async () => {
    const { text } = await render(helm, [
      "--set",
      "operator.serviceAccount.create=false,operator.serviceAccount.name=own",
    ]);
    const objects = objectsIn(text).filter((object) => !nameOf(object).endsWith("-test"));
    const ofKind = (wanted: string) => objects.filter(({ kind }) => kind === wanted);
    expect(ofKind("ServiceAccount")).toEqual([]);
    const bindings = [...ofKind("RoleBinding"), ...ofKind("ClusterRoleBinding")];
    expect(bindings.map(({ subjects }) => subjects)).toEqual(
      Array(2).fill([{ kind: "ServiceAccount", name: "own", namespace: "jsonplane-system" }]),
    );
    const operator = ofKind("Deployment").find((object) => nameOf(object).endsWith("-operator"));
    expect(operator).toMatchObject({ spec: { template: { spec: { serviceAccountName: "own" } } } });
  });

  it("says in its notes what to do next, and that one Redis is not for production", async () => {
    const args = ["install", "jsonplane", chart, "--namespace", "js", "--dry-run=client"];
    const { stdout } = await runCommand(helm, args);
    const notes = stdout.slice(stdout.indexOf("NOTES:"));
    expect(notes).toContain("kubectl -n js rollout status deploy/jsonplane-dataplane");
    expect(notes).toContain("helm test jsonplane -n js");
    expect(notes).toContain("kubectl apply -f examples/bookshop.yaml");
    expect(notes).toContain("NOT FOR PRODUCTION");
  });

  it("has an image of the version that the package has", async () => {
    const { appVersion } = parse(await readFile(`${chart}/Chart.yaml`, "utf8")) as { appVersion: string };
    const text = await readFile(new URL("../../package.json", import.meta.url), "utf8");
    expect(appVersion).toBe((JSON.parse(text) as { version: string }).version);
  });
});
