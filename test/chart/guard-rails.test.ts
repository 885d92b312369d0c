// The chart's admission policies on a real API server: they decide as the operator does
// (test/unit/operator/guard-rails), and refuse nothing that was there before.

import { readFile } from "node:fs/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import type { JsonObject } from "../../core/config/types.ts";
import { type Kind, servedVersions } from "../../core/manifests/object.ts";
import { readGuardRails, ruleNames } from "../../operator/guard-rails/rules.ts";
import { findHelm } from "../../tools/parts/helm.ts";
import { objectsIn, render } from "../support/chart/helm.ts";
import { sharedApiServer } from "../support/fleet/shared-fleet.ts";
import type { TestApiServer } from "../support/kubernetes/api-server/api-server-access.ts";
import { declared } from "../support/kubernetes/declared.ts";
import { guardRailCases, inNamespace } from "../support/kubernetes/guard-rail-cases.ts";
import { eventually } from "../support/time/eventually.ts";

/**
 * A namespace for each case, so that one release has the rules of all of them. Which hosts are
 * allowed is one rule for all namespaces.
 */
const namespaceOf = (index: number): string => `rails-${index}`;
const cases = guardRailCases
  .map((each, index) => ({ ...inNamespace(each, namespaceOf(index)), index }))
  .filter(({ rules }) => rules["allowedHosts"] !== "");
const [general, edited, adopted, unwatched, release] = [
  "rails-general",
  "rails-edited",
  "rails-adopted",
  "rails-unwatched",
  "rails-system",
] as const;
const watched = [...cases.map(({ index }) => namespaceOf(index)), general, edited, adopted, release];
const largestOfAll = 5_000;
const quotaOf = (objects: number) => ({ limits: { quota: { objects } } });

let api: TestApiServer;

beforeAll(async () => {
  api = await sharedApiServer();
  for (const name of [...watched, unwatched]) await api.apply(namespace(name));
  await api.apply(inside(edited, "Project", { deletionPolicy: "Delete", ...quotaOf(9_000) }));
  await applyPolicies(await renderRules(largestOfAll));
});

/** What the chart makes of the rules of all cases, and this one for all namespaces. */
async function renderRules(maxQuotaObjects: number): Promise<string> {
  const retain = { deletionPolicy: "Retain" };
  const values = {
    operator: { watchNamespaces: watched, allowedHosts: [...new Set(cases.flatMap(hostsIn))] },
    guardRails: {
      enabled: true,
      rules: { maxQuotaObjects },
      namespaces: {
        ...Object.assign({}, ...cases.map(rulesIn)),
        ...{ [edited]: retain, [release]: retain, [adopted]: { adoptData: "Allow" } },
      },
    },
  };
  const args = ["--namespace", release, "--set-json", JSON.stringify(values), "-s", "templates/guard-rails.yaml"];
  const { text, complaint } = await render(await findHelm(process.env), args);
  expect(
    objectsIn(text)
      .map(({ kind }) => kind)
      .sort(),
    complaint,
  ).toEqual([
    "ConfigMap",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
    "ValidatingAdmissionPolicyBinding",
  ]);
  return text;
}

/** Policies take effect a moment after they are there. */
async function applyPolicies(input: string): Promise<void> {
  await api.kubectl(["apply", "--server-side", "-f", "-"], { input });
  await eventually(async () => {
    expect(await refusal(inside(general, "Project", quotaOf(1_000_000)))).toContain("at most");
    expect(await refusal(inside(edited, "RootKey", { deletionPolicy: "Delete" }))).toContain("deletionPolicy");
  });
}

function hostsIn({ rules }: (typeof cases)[number]): readonly string[] {
  return (rules["allowedHosts"] ?? "").split(",").filter((rule) => rule !== "");
}

/** Values of the namespaces that the case has rules for: its own, as far as it leaves that open. */
function rulesIn({ rules, index }: (typeof cases)[number]): Readonly<Record<string, object>> {
  const found: Record<string, Record<string, string | number>> = {};
  // What the case says of a namespace comes last, and stays.
  for (const [key, text] of Object.entries(rules).sort(
    ([a], [b]) => Number(a.includes(".")) - Number(b.includes(".")),
  )) {
    if (key === "allowedHosts") continue;
    const [of = "", rule = ""] = key.includes(".") ? key.split(".") : [namespaceOf(index), key];
    found[of] = { ...found[of], [rule]: /^[0-9]+$/.test(text) ? Number(text) : text };
  }
  return found;
}

function namespace(name: string): string {
  return JSON.stringify({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
}

function inside(where: string, kind: Kind, spec: object, metadata: object = {}): string {
  const object = declared(kind, "shop", kind === "ApiResource" ? { schema: {}, ...spec } : spec);
  return JSON.stringify({ ...object, metadata: { ...(object["metadata"] as object), ...metadata, namespace: where } });
}

/** What the API server says against the object, without taking it; undefined when it would. */
async function refusal(object: string): Promise<string | undefined> {
  try {
    await api.kubectl(["apply", "--server-side", "--force-conflicts", "--dry-run=server", "-f", "-"], {
      input: object,
    });
    return undefined;
  } catch (error) {
    return String(error);
  }
}

it("the values of the page about guard rails are taken by the chart, and what it makes of them by the operator", async () => {
  const page = await readFile(new URL("../../docs/how-to/guard-rails.md", import.meta.url), "utf8");
  const [, values = ""] = /^```yaml\n(# values.yaml\n.*?)^```$/ms.exec(page) ?? [];
  const { operator, guardRails } = parse(values) as JsonObject;
  const { text } = await render(await findHelm(process.env), [
    ...["--set-json", JSON.stringify({ operator, guardRails })],
    ...["-s", "templates/guard-rails.yaml"],
  ]);
  const configMap = objectsIn(text).find(({ kind }) => kind === "ConfigMap");
  const { rulesOf } = readGuardRails(configMap?.["data"] as Readonly<Record<string, string>>);
  expect(rulesOf("team-a")).toMatchObject({
    maxQuotaObjects: 5_000_000,
    maxQuotaBytes: 1_073_741_824,
    anyone: "ReadOnly",
  });
  expect(rulesOf("sandbox")).toMatchObject({ maxQuotaObjects: 1_000_000, deletionPolicy: "Delete" });
  // Every rule is in the table of the page.
  const documented = [...page.matchAll(/^\| (`.*?`) \|/gm)].flatMap(([, names = ""]) =>
    names.replaceAll("`", "").split(", "),
  );
  expect([...documented, "allowedHosts"].sort()).toEqual([...ruleNames].sort());
});

it.each([
  [{ rules: { maxQuotaObjects: 10, defaultQuotaObjects: 11 } }, "guardRails.rules.defaultQuotaObjects is larger"],
  [{ namespaces: { a: { maxBurst: 1, defaultBurst: 2 } } }, "guardRails.namespaces.a.defaultBurst is larger"],
  [{ rules: { anyone: "Maybe" } }, "/guardRails/rules/anyone"],
  [{ rules: { maxQuota: 1 } }, "invalid propertyName 'maxQuota'"],
  [{ validationActions: ["Deny", "Warn"] }, "/guardRails/validationActions"],
])("the chart refuses %j, which the operator or the API server would refuse", async (values, complaint) => {
  const args = ["--set-json", JSON.stringify({ guardRails: { enabled: true, ...values } })];
  const { code, complaint: message } = await render(await findHelm(process.env), args);
  expect([code, message]).toEqual([1, expect.stringContaining(complaint)]);
});

it("the operator may read the ConfigMap of its rules, as it asks for it, and no other", async () => {
  const chart = await render(await findHelm(process.env), ["--set", "guardRails.enabled=true"]);
  const roles = objectsIn(chart.text).filter(({ kind }) => kind === "Role" || kind === "RoleBinding");
  const inSystem = roles.map((role) => JSON.stringify(role).replaceAll("jsonplane-system", release));
  for (const role of inSystem) await api.apply(role);
  const asked = (name: string) => {
    const selected = ["configmaps", "--field-selector", `metadata.name=${name}`, "--namespace", "rails-system"];
    return api.kubectl([
      "get",
      ...selected,
      "--as",
      "system:serviceaccount:rails-system:jsonplane-operator",
      "-o",
      "name",
    ]);
  };
  await eventually(async () =>
    expect(await asked("jsonplane-guard-rails")).toContain("configmap/jsonplane-guard-rails"),
  );
  await expect(asked("kube-root-ca.crt")).rejects.toThrow("forbidden");
});

describe("an admission policy of the chart", () => {
  it.each(cases)("decides as the operator does: $shows", async ({ kind, spec, refused, index }) => {
    const message = await refusal(inside(namespaceOf(index), kind, spec));
    if (refused.length === 0) expect(message).toBeUndefined();
    else expect(message).toContain(`The platform ${message?.includes("allows") ? "allows" : "does not let"} namespace`);
  });

  it("holds a namespace without rules of its own to those for all, in each version of the API, and none that the operator does not watch", async () => {
    const project = (where: string, objects: number) => inside(where, "Project", { limits: { quota: { objects } } });
    expect(await refusal(project(general, largestOfAll))).toBeUndefined();
    for (const version of servedVersions) {
      const object = project(general, largestOfAll + 1).replace("v1alpha1", version);
      expect(await refusal(object)).toContain("a quota of objects of at most 5000");
    }
    expect(await refusal(project(unwatched, largestOfAll + 1))).toBeUndefined();
  });

  it("lets what was there before be edited, where the edit is not what the rules forbid", async () => {
    const former = { deletionPolicy: "Delete", limits: { quota: { objects: 9_000 } } };
    const edit = (spec: object, metadata = {}) => refusal(inside(edited, "Project", { ...former, ...spec }, metadata));
    expect(await edit({}, { labels: { team: "a" } })).toBeUndefined();
    expect(await edit({ serving: "Off" })).toBeUndefined();
    expect(await edit({ limits: { quota: { objects: 4_000 } } })).toBeUndefined();
    expect(await edit({ limits: { quota: { objects: 8_999 } } })).toContain("at most 5000");
    expect(await edit({ deletionPolicy: "Retain" })).toBeUndefined();
  });

  it("lets no Project ask for data of an earlier namespace, unless a rule allows it or it did so before", async () => {
    const adopting = { annotations: { "jsonplane.io/adopt-data": "true" } };
    const project = (where: string, metadata: object) => inside(where, "Project", {}, metadata);
    expect(await refusal(project(general, adopting))).toContain("take over data of an earlier namespace");
    expect(await refusal(project(general, { annotations: { "jsonplane.io/adopt-data": "false" } }))).toBeUndefined();
    expect(await refusal(project(release, adopting))).toBeUndefined();
    expect(await refusal(project(adopted, adopting))).toBeUndefined();
    const annotated = (what: string) =>
      api.kubectl(["annotate", "--namespace", edited, "projects.jsonplane.io", "shop", "--dry-run=server", what]);
    await expect(annotated("jsonplane.io/adopt-data=true")).rejects.toThrow("take over data of an earlier namespace");
    expect(await annotated("team=a")).toContain("annotated");
  });

  it("asks nothing of the release's own namespace, where `helm test` declares a Project", async () => {
    expect(await refusal(inside("rails-system", "RootKey", { deletionPolicy: "Delete" }))).toBeUndefined();
  });

  it("follows the rules when they are changed, also after they were switched off for a while", async () => {
    const [before, after] = [await renderRules(largestOfAll), await renderRules(largestOfAll + 1_000)];
    const between = inside(general, "Project", quotaOf(largestOfAll + 1));
    expect(await refusal(between)).toContain("at most 5000");
    await api.kubectl(["delete", "-f", "-"], { input: before });
    await eventually(async () => expect(await refusal(between)).toBeUndefined());
    await applyPolicies(after);
    await eventually(async () => expect(await refusal(between)).toBeUndefined());
    expect(await refusal(inside(general, "Project", quotaOf(largestOfAll + 1_001)))).toContain("at most 6000");
  });
});
