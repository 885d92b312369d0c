// The cluster refuses what the operator writes for one object: a webhook that doesn't answer, a policy that protects an object. Others of its
// Project are revoked, reported and deleted all the same.

import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type OwnFleet, startFleet } from "../support/fleet/fleet.ts";
import { openGuardedShop } from "../support/fleet/guarded-shop.ts";
import { apiObject } from "../support/kubernetes/api-server/api-server-call.ts";
import { declared, newTenant } from "../support/kubernetes/declared.ts";
import { eventually } from "../support/time/eventually.ts";

const admission = "/apis/admissionregistration.k8s.io/v1";
const within = { withinMs: 60_000 };
let fleet: OwnFleet;
beforeAll(async () => {
  fleet = await startFleet();
});
afterAll(() => fleet?.stop());

const inNamespace = (namespace: string) => ({ matchLabels: { "kubernetes.io/metadata.name": namespace } });

function register(kind: string, plural: string, members: object): Promise<unknown> {
  const body = { apiVersion: "admissionregistration.k8s.io/v1", kind, ...members };
  return apiObject(fleet.api, `${admission}/${plural}`, { method: "POST", body });
}

/** Answers every write of a Secret with 500. */
async function breakSecretWrites(namespace: string): Promise<void> {
  const webhook = {
    name: "away.example.com",
    clientConfig: { url: "https://127.0.0.1:1/" },
    rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE", "UPDATE"], resources: ["secrets"] }],
    namespaceSelector: inNamespace(namespace),
    failurePolicy: "Fail",
    sideEffects: "None",
    timeoutSeconds: 1,
    admissionReviewVersions: ["v1"],
  };
  const members = { metadata: { name: "away" }, webhooks: [webhook] };
  await register("ValidatingWebhookConfiguration", "validatingwebhookconfigurations", members);
  // The API server learns of it through a watch.
  await sleep(2_000);
}

/** Refuses updates of the ApiResource `protected`. */
async function protect(resource: string, namespace: string): Promise<void> {
  const metadata = { name: `protected-${namespace}` };
  const rule = { apiGroups: ["jsonplane.io"], apiVersions: ["*"], operations: ["UPDATE"], resources: [resource] };
  const validations = [{ expression: 'object.metadata.name != "protected"' }];
  const spec = { failurePolicy: "Fail", matchConstraints: { resourceRules: [rule] }, validations };
  await register("ValidatingAdmissionPolicy", "validatingadmissionpolicies", { metadata, spec });
  const matchResources = { namespaceSelector: inNamespace(namespace) };
  await register("ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings", {
    metadata,
    spec: { policyName: metadata.name, validationActions: ["Deny"], matchResources },
  });
  await sleep(2_000);
}

const resource = (name: string, spec: object = {}) => declared("ApiResource", name, { schema: {}, ...spec });

it("a deleted key is refused at once although the Secret of a new user can't be made", async () => {
  const keys = ["web", "second"].map((name) => declared("ApiKey", name, { access: "Write" }));
  const shop = await openGuardedShop(fleet, ...keys);
  const [leaked, other] = [await shop.key(), await shop.key("second-api-key")];
  await shop.admitted(leaked);
  await breakSecretWrites(shop.namespace);
  await shop.create(declared("ProjectUser", "late"));
  await eventually(
    () => expect(fleet.operators[0]?.log()).toMatch(/Failed to reconcile Project.*secrets.*500/),
    within,
  );
  await shop.remove("ApiKey", "web");
  await shop.refused(leaked);
  await shop.admitted(other);
  await apiObject(fleet.api, `${admission}/validatingwebhookconfigurations/away`, { method: "DELETE" });
  await shop.reports("ProjectUser", "late", "Ready", { withinMs: 120_000 });
  await shop.gone("Secret", "web-api-key");
});

it("an object whose status a policy protects keeps no other from having one", async () => {
  const tenant = await newTenant(fleet);
  await protect("apiresources/status", tenant.namespace);
  const names = ["protected", ...Array.from({ length: 12 }, (_, at) => `with-status-${at}`)];
  await tenant.create(declared("Project", "shop"), ...names.map((name) => resource(name)));
  for (const name of names.slice(1)) await tenant.reports("ApiResource", name, "Ready", within);
  expect((await tenant.get("ApiResource", "protected")).status?.conditions).toBeUndefined();
});

it("an object that a policy protects keeps no other from going, nor from having a status", async () => {
  const tenant = await newTenant(fleet);
  await protect("apiresources", tenant.namespace);
  const purged = { deletionPolicy: "Delete" };
  await tenant.create(declared("Project", "shop"), resource("with-data", purged));
  await tenant.reports("ApiResource", "with-data", "Ready", within);
  await tenant.create(resource("protected", purged), resource("later"));
  await tenant.remove("ApiResource", "with-data");
  await tenant.gone("ApiResource", "with-data");
  await tenant.reports("ApiResource", "later", "Ready", within);
});
