// The cluster refuses what the operator writes for one object: a webhook that doesn't answer, a
// policy that protects an object. Others of its Project are revoked, reported and deleted all the
// same.

import { beforeAll, expect, it } from "vitest";
import type { Fleet } from "../support/fleet/fleet.ts";
import { openGuardedShop } from "../support/fleet/guarded-shop.ts";
import { sharedFleet } from "../support/fleet/shared-fleet.ts";
import type { Reply } from "../support/http/http-client.ts";
import { apiCall, apiObject } from "../support/kubernetes/api-server/api-server-call.ts";
import { declared, newTenant } from "../support/kubernetes/declared.ts";
import { eventually } from "../support/time/eventually.ts";

const admission = "/apis/admissionregistration.k8s.io/v1";
const within = { withinMs: 60_000 };
let fleet: Fleet;
beforeAll(async () => {
  fleet = await sharedFleet();
});

const resource = (name: string, spec: object = {}) => declared("ApiResource", name, { schema: {}, ...spec });
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
  const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "probe" } };
  await untilRefused(`/api/v1/namespaces/${namespace}/secrets`, secret);
}

/**
 * The API server sees webhooks and policies through a watch. Nothing is written: the request
 * is a dry run.
 */
async function untilRefused(path: string, body: object): Promise<void> {
  await eventually(async () => {
    const { status } = await apiCall(fleet.api, `${path}?dryRun=All`, { method: "POST", body });
    expect(status).toBeGreaterThanOrEqual(400);
  }, within);
}

/** Refuses updates of the ApiResource `protected`. */
async function protect(guarded: string, namespace: string): Promise<void> {
  const metadata = { name: `protected-${namespace}` };
  const rule = (operations: string, plural: string) => ({
    apiGroups: ["jsonplane.io"],
    apiVersions: ["*"],
    operations: [operations],
    resources: [plural],
  });
  const resourceRules = [rule("UPDATE", guarded), rule("CREATE", "apiresources")];
  const validations = [
    { expression: 'request.operation == "CREATE" || object.metadata.name != "protected"' },
    { expression: 'object.metadata.name != "probe"' },
  ];
  const spec = { failurePolicy: "Fail", matchConstraints: { resourceRules }, validations };
  await register("ValidatingAdmissionPolicy", "validatingadmissionpolicies", { metadata, spec });
  const matchResources = { namespaceSelector: inNamespace(namespace) };
  await register("ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings", {
    metadata,
    spec: { policyName: metadata.name, validationActions: ["Deny"], matchResources },
  });
  await untilRefused(`/apis/jsonplane.io/v1alpha1/namespaces/${namespace}/apiresources`, resource("probe"));
}

it("a deleted key is refused at once, and access is lowered, although the Secret of a new user can't be made", async () => {
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
  const status = (expected: number) => (reply: Reply) => expect(reply.status).toBe(expected);
  const write = { method: "POST", body: {}, as: other };
  await shop.everywhere("/api/notes", write, status(201), within);
  await shop.patch("ApiKey", "second", { spec: { access: "Read" } });
  await shop.everywhere("/api/notes", write, status(403), within);
  await shop.admitted(other);
  await shop.patch("Project", "shop", { spec: { serving: "Off" } });
  await shop.everywhere("/api/notes", { as: other }, status(503), within);
  await shop.patch("Project", "shop", { spec: { serving: "ReadWrite" } });
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
