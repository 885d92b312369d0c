// How each reason of the catalogue comes about in one namespace, what its message says, and what
// mends it. The object that it is about is made last, or broken, by `given`.

import type { NoticeReason, Reason } from "../../operator/model/reasons.ts";
import { endNamespace, ensureNamespace } from "../support/kubernetes/api-server/api-server-objects.ts";
import { type DeclaredKind, declared, secretOf, type Tenant } from "../support/kubernetes/declared.ts";
import { eventually } from "../support/time/eventually.ts";

export interface ReasonCase {
  readonly reason: Reason | NoticeReason;
  readonly kind: DeclaredKind;
  readonly name: string;
  /** What is wrong, when a reason has several causes. */
  readonly when: string;
  readonly given: (tenant: Tenant) => Promise<void>;
  /** Parts of the message. */
  readonly says: readonly string[];
  readonly heal: (tenant: Tenant) => Promise<void>;
}

const project = declared("Project", "shop");
const books = (spec: object = {}, name = "books") => declared("ApiResource", name, { schema: {}, ...spec });
const web = declared("ApiKey", "web", { access: "Write" });
const ada = declared("ProjectUser", "ada", { passwordSecretRef: { name: "ada" } });
const quota = {
  apiVersion: "v1",
  kind: "ResourceQuota",
  metadata: { name: "none" },
  spec: { hard: { "count/secrets": "0" } },
};

/** No controller fills in its status here, and the API server sees it a moment later. */
export async function forbidSecrets(tenant: Tenant): Promise<void> {
  await tenant.create(quota);
  const none = { "count/secrets": "0" };
  await tenant.patch("ResourceQuota", "none/status", { status: { hard: none, used: none } });
  let made = 0;
  await eventually(async () => {
    made += 1;
    const taken = tenant.create(secretOf(`probe-${made}`, {})).then(
      () => true,
      () => false,
    );
    if (await taken) throw new Error("Secrets are still taken");
  });
}

/** Nobody has this name; the platform allows it. */
export const unknownIssuer = "https://issuer.invalid";
const corp = { name: "corp", issuer: { url: unknownIssuer, audiences: ["shop"] } };

const schemaOf = (type: string) => ({ properties: { price: { type } } });
const checked = books({
  schema: schemaOf("string"),
  access: { create: "Anyone" },
  schemaChange: { storedObjects: "Refuse" },
});

/** A Project that begins with what `spec` says of another one. */
const copied = (name: string, spec: object = {}) =>
  declared("Project", "shop", {
    dataSourceRef: { kind: "Project", name },
    dataSource: { rootKeys: ["settings"] },
    ...spec,
  });
const settings = (of: string) => declared("RootKey", `${of}-settings`, { projectRef: { name: of }, key: "settings" });
const willing = declared("Project", "other", { copies: { allow: "Namespace" } });

const copying: readonly ReasonCase[] = [
  {
    reason: "SourceNotFound",
    kind: "Project",
    name: "shop",
    when: "there is no Project to copy from",
    given: (tenant) => tenant.create(copied("other"), settings("shop")),
    says: ["/spec/dataSourceRef/name", 'has no Project "other"'],
    heal: (tenant) => tenant.create(willing, settings("other")),
  },
  {
    reason: "WaitingToCopy",
    kind: "Project",
    name: "shop",
    when: "what is to be copied has no place yet",
    given: (tenant) => tenant.create(willing, settings("other"), copied("other")),
    says: ['This Project serves no RootKey "settings" yet'],
    heal: (tenant) => tenant.create(settings("shop")),
  },
  {
    reason: "CopyNotAllowed",
    kind: "Project",
    name: "shop",
    when: "the other Project does not agree",
    given: (tenant) =>
      tenant.create(declared("Project", "other"), settings("other"), copied("other"), settings("shop")),
    says: ['Project "other" doesn\'t allow copies', "spec.copies.allow to Namespace"],
    heal: (tenant) => tenant.edit("Project", "other", { copies: { allow: "Namespace" } }),
  },
  {
    reason: "QuotaExceeded",
    kind: "Project",
    name: "shop",
    when: "a quota leaves no room for what is copied",
    async given(tenant) {
      const { fleet, namespace } = tenant;
      const books = (of: string) =>
        declared("ApiResource", `${of}-books`, {
          projectRef: { name: of },
          resourceName: "books",
          schema: {},
          access: { create: "Anyone" },
        });
      await tenant.create(willing, books("other"));
      await tenant.reports("ApiResource", "other-books", "Ready");
      for (const title of ["Momo", "Emma"])
        await fleet.replicas[0]?.send(`/${namespace}/other/api/books`, { method: "POST", body: { title } });
      const limits = { quota: { objects: 1 } };
      const dataSource = { resources: ["books"] };
      await tenant.create(copied("other", { limits, dataSource }), books("shop"));
    },
    says: ["There is no room", "raise spec.limits.quota"],
    heal: (tenant) => tenant.edit("Project", "shop", { limits: { quota: { objects: 2 } } }),
  },
];

const healing: readonly ReasonCase[] = [
  {
    reason: "CheckingStoredObjects",
    kind: "ApiResource",
    name: "books",
    when: "its schema is live only once they meet it",
    async given(tenant) {
      await tenant.create(project, checked);
      await tenant.reports("ApiResource", "books", "Ready");
      await tenant.edit("ApiResource", "books", { schema: schemaOf("number") });
    },
    says: ["/spec/schema", "the former one"],
    heal: async () => undefined,
  },
  {
    reason: "IssuerUnreachable",
    kind: "Project",
    name: "shop",
    when: "an external issuer is not there",
    given: (tenant) => tenant.create(declared("Project", "shop", { authentication: { issuers: [corp] } })),
    says: [
      "/spec/authentication/issuers/0/issuer/url",
      "The keys of the issuer \"corp\" can't be fetched: when asked for its discovery document, its host name can't be resolved",
      "The rest of it is served",
    ],
    heal: (tenant) => tenant.edit("Project", "shop", { authentication: { issuers: null } }),
  },
  {
    reason: "ProjectNotFound",
    kind: "ApiResource",
    name: "books",
    when: "there is no such Project",
    given: (tenant) => tenant.create(books()),
    says: ["/spec/projectRef/name", 'has no Project "shop"'],
    heal: (tenant) => tenant.create(project),
  },
  {
    reason: "ProjectNotFound",
    kind: "ApiResource",
    name: "books",
    when: "its Project is not accepted",
    given: (tenant) => tenant.create(secretOf("shop-signing", { a: "b" }), project, books()),
    says: ['Project "shop" is not accepted', "see its own status"],
    heal: (tenant) => tenant.remove("Secret", "shop-signing"),
  },
  {
    reason: "SecretNotFound",
    kind: "ProjectUser",
    name: "ada",
    when: "there is no such Secret",
    given: (tenant) => tenant.create(project, ada),
    says: ["/spec/passwordSecretRef/name", 'has no Secret "ada": create it'],
    heal: (tenant) => tenant.create(secretOf("ada", { password: "correct horse" })),
  },
  {
    reason: "SecretNotFound",
    kind: "ProjectUser",
    name: "ada",
    when: "the Secret lacks the entry",
    given: (tenant) => tenant.create(project, secretOf("ada", { pasword: "correct horse" }), ada),
    says: ["/spec/passwordSecretRef/key", 'Secret "ada" has no entry "password"'],
    heal: (tenant) => tenant.patch("Secret", "ada", { stringData: { password: "correct horse" } }),
  },
  {
    reason: "SecretNotWritten",
    kind: "ApiKey",
    name: "web",
    when: "a quota forbids its Secret",
    async given(tenant) {
      await tenant.create(project);
      await tenant.reports("Project", "shop", "Ready");
      await forbidSecrets(tenant);
      await tenant.create(web);
    },
    says: ['Secret "web-', "quota"],
    heal: (tenant) => tenant.remove("ResourceQuota", "none"),
  },
  {
    reason: "Suspended",
    kind: "ApiResource",
    name: "books",
    when: "its Project is",
    async given(tenant) {
      await tenant.create(declared("Project", "shop", { suspend: true }), books());
    },
    says: ["spec.suspend is false"],
    heal: (tenant) => tenant.edit("Project", "shop", { suspend: false }),
  },
];

const stalling: readonly ReasonCase[] = [
  {
    reason: "InvalidSchema",
    kind: "ApiResource",
    name: "books",
    when: "a pattern is no regular expression",
    given: (tenant) => tenant.create(project, books({ schema: { properties: { isbn: { pattern: "(" } } } })),
    says: ["/spec/schema/properties/isbn/pattern"],
    heal: (tenant) => tenant.edit("ApiResource", "books", { schema: { properties: { isbn: { pattern: "." } } } }),
  },
  {
    reason: "InvalidSpec",
    kind: "ApiResource",
    name: "books",
    when: "an index names no field",
    given: (tenant) =>
      tenant.create(project, books({ schema: { additionalProperties: false }, indexes: ["nonsense"] })),
    says: ["/spec/indexes/0", 'declares no "nonsense"'],
    heal: (tenant) => tenant.edit("ApiResource", "books", { indexes: null }),
  },
  {
    reason: "NotAllowed",
    kind: "Project",
    name: "shop",
    when: "the platform does not allow the host",
    given: (tenant) => tenant.create(declared("Project", "shop", { hosts: ["www.example.org"] })),
    says: ["/spec/hosts/0", '"www.example.org"', ".apps.test", "The rest of it is served"],
    heal: (tenant) => tenant.edit("Project", "shop", { hosts: [] }),
  },
  {
    reason: "NameConflict",
    kind: "ApiResource",
    name: "novels",
    when: "another ApiResource has the resourceName",
    async given(tenant) {
      await tenant.create(project, books());
      await tenant.reports("ApiResource", "books", "Ready");
      await tenant.create(books({ resourceName: "books" }, "novels"));
    },
    says: ["/spec/resourceName", 'ApiResource "books" holds the resourceName "books" already'],
    heal: (tenant) => tenant.remove("ApiResource", "books"),
  },
  {
    reason: "HostConflict",
    kind: "Project",
    name: "other",
    when: "another Project has the host",
    async given(tenant) {
      const hosts = [`one.${tenant.namespace}.apps.test`];
      await tenant.create(declared("Project", "shop", { hosts }));
      await tenant.reports("Project", "shop", "Ready");
      await tenant.create(declared("Project", "other", { hosts }));
    },
    says: ["/spec/hosts/0", "Another Project holds the host", "The rest of it is served"],
    heal: (tenant) => tenant.edit("Project", "shop", { hosts: [] }),
  },
  {
    reason: "InvalidSecret",
    kind: "ProjectUser",
    name: "ada",
    when: "its password is nothing but a newline",
    given: (tenant) => tenant.create(project, secretOf("ada", { password: "\n" }), ada),
    says: ['Secret "ada"', "The password is empty"],
    heal: (tenant) => tenant.patch("Secret", "ada", { stringData: { password: "correct horse" } }),
  },
  {
    reason: "InvalidSecret",
    kind: "ProjectUser",
    name: "ada",
    when: "its password is too long",
    given: (tenant) => tenant.create(project, secretOf("ada", { password: "x".repeat(1_025) }), ada),
    says: ['Secret "ada"', "longer than 1024 bytes"],
    heal: (tenant) => tenant.patch("Secret", "ada", { stringData: { password: "correct horse" } }),
  },
  {
    reason: "SecretConflict",
    kind: "ApiKey",
    name: "web",
    when: "a Secret of the name is somebody else's",
    given: (tenant) => tenant.create(project, secretOf("web-api-key", { a: "b" }), web),
    says: ['Secret "web-api-key" was not made for this ApiKey', "delete it or choose another"],
    heal: (tenant) => tenant.remove("Secret", "web-api-key"),
  },
  {
    reason: "RetainedDataFound",
    kind: "Project",
    name: "shop",
    when: "a former namespace of the name left data",
    async given(tenant) {
      const { fleet, namespace } = tenant;
      await tenant.create(project, books({ access: { create: "Anyone" } }));
      await tenant.reports("ApiResource", "books", "Ready");
      const post = { method: "POST", body: { title: "Momo" } };
      await fleet.replicas[0]?.send(`/${namespace}/shop/api/books`, post);
      await endNamespace(fleet.api, namespace);
      await ensureNamespace(fleet.api, namespace);
      await tenant.create(project, books());
    },
    says: ["Data of an earlier namespace", "Ask the platform team"],
    async heal({ fleet, namespace }) {
      const request = `jsonplane.io/delete-kept-data=${namespace}/shop@${new Date().toISOString()}`;
      await fleet.api.kubectl(["annotate", "secret", "jsonplane-keyring", "-n", "jsonplane-system", request]);
    },
  },
];

const refusedByData: ReasonCase = {
  reason: "StoredObjectsInvalid",
  kind: "ApiResource",
  name: "books",
  when: "some break its new schema",
  async given(tenant) {
    const { fleet, namespace } = tenant;
    await tenant.create(project, checked);
    await tenant.reports("ApiResource", "books", "Ready");
    const post = { method: "POST", body: { price: "ten" } };
    await fleet.replicas[0]?.send(`/${namespace}/shop/api/books`, post);
    await tenant.edit("ApiResource", "books", { schema: schemaOf("number") });
  },
  says: ["/spec/schema", "1 of 1 stored objects doesn't meet this schema", "correct them, or loosen the schema"],
  heal: (tenant) => tenant.edit("ApiResource", "books", { schema: schemaOf("string") }),
};

const noticed: readonly ReasonCase[] = [
  {
    reason: "SchemaWarning",
    kind: "ApiResource",
    name: "books",
    when: "a keyword is not known",
    given: (tenant) => tenant.create(project, books({ schema: { properties: { isbn: { maxLenght: 3 } } } })),
    says: ["/spec/schema/properties/isbn", "maxLenght"],
    heal: (tenant) => tenant.edit("ApiResource", "books", { schema: { properties: { isbn: { maxLenght: null } } } }),
  },
  {
    reason: "Expired",
    kind: "ApiKey",
    name: "web",
    when: "its time is over",
    given: (tenant) => tenant.create(project, declared("ApiKey", "web", { expiresAt: "2024-01-01T00:00:00Z" })),
    says: ["/spec/expiresAt", "has expired", "set another time"],
    heal: (tenant) => tenant.edit("ApiKey", "web", { expiresAt: null }),
  },
];

export const reasonCases: readonly ReasonCase[] = [...healing, ...copying, ...stalling, refusedByData, ...noticed];
