// Turns a golden case, manifests as a person would write them, into what compile says of each
// project, so that a case shows nothing but what it is about.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { parse } from "yaml";
import { grantHosts, groupByProject } from "../../../../cli/manifests/projects.ts";
import type { CompiledProject, JsonObject } from "../../../../core/config/types.ts";
import { compileProject } from "../../../../operator/compile/compile-project.ts";
import { noHosts } from "../../../../operator/compile/hosts.ts";
import { createResourceCheck } from "../../../../operator/compile/resource-check.ts";
import { applyGuardRails } from "../../../../operator/guard-rails/apply-guard-rails.ts";
import { readGuardRails } from "../../../../operator/guard-rails/rules.ts";
import type { Credentials, KeyCredential } from "../../../../operator/model/credentials.ts";
import type { KnownIssuer } from "../../../../operator/model/issuers.ts";
import type { CustomResource } from "../../../../operator/model/objects.ts";
import type { ProjectObjects } from "../../../../operator/model/project-objects.ts";
import type { Reason } from "../../../../operator/model/reasons.ts";
import { refuse, type Verdict } from "../../../../operator/model/verdict.ts";
import { crdFolder } from "../../../../tools/read-crds.ts";

export interface CompileCase {
  /** One sentence: what the case proves. */
  readonly shows: string;
  /** What was published before, if anything: compiled first. */
  readonly before?: readonly JsonObject[];
  readonly objects: readonly JsonObject[];
  /** Users and keys whose Secret can't be had, now; all others have one. */
  readonly unresolved?: readonly { readonly kind: string; readonly name: string; readonly reason: Reason }[];
  /** Former keys that live out their grace period: Unix seconds, by name of the ApiKey. */
  readonly retiring?: Readonly<Record<string, number>>;
  /** Hosts that no namespace may claim. */
  readonly forbiddenHosts?: readonly string[];
  /** The platform's rules, now: `data` of their ConfigMap. */
  readonly rules?: Readonly<Record<string, string>>;
  /** `resource:<name>`, `rootkey:<name>` whose former data are still to be deleted, now. */
  readonly openPurges?: readonly string[];
  /** URLs that the platform does not let Projects name, now. */
  readonly forbiddenIssuers?: readonly string[];
  /**
   * What has been fetched of issuers, by URL, `cluster` for this cluster's own; others are being
   * fetched for the first time.
   */
  readonly fetched?: Readonly<Record<string, KnownIssuer>>;
  /** Likewise, of before. */
  readonly fetchedBefore?: Readonly<Record<string, KnownIssuer>>;
  /** True when data of an earlier namespace are found, now. */
  readonly foreignData?: boolean;
}

/** By `<namespace>/<name>`; maps as plain objects. */
export type CompileCaseResult = Readonly<Record<string, unknown>>;

export function runCompileCase(given: CompileCase): CompileCaseResult {
  const before = compileAll(
    {
      ...given,
      ...{ objects: given.before ?? [], unresolved: [], openPurges: [], foreignData: false, rules: {} },
      ...{ forbiddenIssuers: [], fetched: given.fetchedBefore ?? {} },
    },
    new Map(),
  );
  const published = new Map([...before].flatMap(([key, { config }]) => (config === undefined ? [] : [[key, config]])));
  const results = [...compileAll(given, published)].sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(
    results.map(([key, { config, verdicts }]) => [
      key,
      { config: config === undefined ? "none" : plain(config), verdicts: Object.fromEntries(verdicts.map(verdictOf)) },
    ]),
  );
}

interface Compiled {
  readonly config?: CompiledProject;
  readonly verdicts: readonly Verdict[];
}

function compileAll(
  given: CompileCase,
  published: ReadonlyMap<string, CompiledProject>,
): ReadonlyMap<string, Compiled> {
  const objects = given.objects.map(asStored);
  const projects = objects.filter((object) => object.kind === "Project");
  const incumbents = new Map<string, string>();
  for (const { project } of published.values()) for (const host of project.hosts) incumbents.set(host, project.uid);
  const grants = grantHosts(projects, incumbents, {
    mayClaim: (_, host) => !given.forbiddenHosts?.includes(host),
    suffixesOf: () => ["allowed.example.org"],
  });
  const compiled = new Map<string, Compiled>();
  for (const [key, bundle] of groupByProject(objects)) {
    const previous = published.get(key);
    const result = compileProject({
      ...applyGuardRails(bundle, readGuardRails({ allowedHosts: "", ...given.rules })),
      credentials: credentialsFor(bundle, given),
      signing: { ok: true, value: { keys: [] } },
      hosts: (bundle.project && grants.get(bundle.project.metadata.uid)) ?? noHosts,
      issuers: {
        isAllowed: (url) => !given.forbiddenIssuers?.includes(url),
        lookUp: (source) => given.fetched?.[source.kind === "url" ? source.url : "cluster"] ?? { state: "pending" },
      },
      checkResource: createResourceCheck(),
      openPurges: new Set(given.openPurges),
      foreignData: given.foreignData ?? false,
      ...(previous === undefined ? {} : { published: previous }),
    });
    compiled.set(key, result);
  }
  return compiled;
}

function credentialsFor({ users, keys }: ProjectObjects, given: CompileCase): Credentials {
  const missing = (kind: string, name: string): Reason | undefined =>
    given.unresolved?.find((entry) => entry.kind === kind && entry.name === name)?.reason;
  return {
    users: new Map(
      users.map(({ metadata: { name } }) => {
        const reason = missing("ProjectUser", name);
        const value = { passwordHash: `argon2id of ${name}`, credentialRevision: `revision of ${name}` };
        return [name, reason === undefined ? { ok: true, value } : refuse(reason, `As the case says of ${name}`)];
      }),
    ),
    keys: new Map(
      keys.map(({ metadata: { name } }) => {
        const reason = missing("ApiKey", name);
        const retiresAt = given.retiring?.[name];
        const former: KeyCredential[] =
          retiresAt === undefined ? [] : [{ sha256: `former sha256 of ${name}`, retiresAt }];
        const value: [KeyCredential, ...KeyCredential[]] = [{ sha256: `sha256 of ${name}` }, ...former];
        return [name, reason === undefined ? { ok: true, value } : refuse(reason, `As the case says of ${name}`)];
      }),
    ),
  };
}

/** Without what every Project without a spec has, so that a case shows its own. */
function plain(config: CompiledProject): Readonly<Record<string, unknown>> {
  const { project, resources, rootKeys, users, keys, issuers } = config;
  const maps = Object.entries({ resources, rootKeys, users, keys, issuers }).filter(([, map]) => map.size > 0);
  const own = Object.entries(project).filter(([name, value]) => !isDeepStrictEqual(value, usual[name]));
  return { project: Object.fromEntries(own), ...Object.fromEntries(maps.map(([name, map]) => [name, fromMap(map)])) };
}

const usual: Readonly<Record<string, unknown>> = {
  authentication: "Enabled",
  serving: "ReadWrite",
  hosts: [],
  sessions: { accessTokenSeconds: 300, refreshTokenSeconds: 259_200, maxPerUser: 100, maxPerProject: 10_000 },
  limits: { maxBodyBytes: 1 << 20, maxDocumentBytes: 1 << 20, maxPageSize: 100, anonymousWritesPerMinute: 600 },
  cors: { allowedOrigins: ["*"], maxAgeSeconds: 600 },
  openapi: "Authenticated",
  console: "Nobody",
};

function fromMap(map: ReadonlyMap<string, unknown>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(map);
}

function verdictOf({ kind, namespace, name, uid: _, ...verdict }: Verdict): readonly [string, unknown] {
  const { accepted, ...rest } = verdict;
  const silent = accepted && verdict.notices.length === 0;
  const ofSchema = accepted ? kind !== "Project" : verdict.reason === "InvalidSchema";
  return [
    `${kind} ${namespace}/${name}`,
    silent ? "accepted" : { accepted, ...(ofSchema ? withoutWords(rest) : rest) },
  ];
}

/** The schema compiler's own words are its own tests' matter; where they point to is compile's. */
function withoutWords(verdict: object): object {
  const text = JSON.stringify(verdict, (name, value) => (name === "message" ? "as the schema compiler says" : value));
  return JSON.parse(text) as object;
}

// ------------------------------------------------------------------------- manifests, as the API
// server would store them

const files = {
  Project: "project",
  ApiResource: "apiresource",
  ProjectUser: "projectuser",
  ApiKey: "apikey",
  RootKey: "rootkey",
};

function asStored(manifest: JsonObject): CustomResource {
  const kind = manifest.kind as keyof typeof files;
  const metadata = manifest.metadata as JsonObject;
  const stored = withDefaults({ spec: {}, ...manifest }, schemaOf(kind)) as JsonObject;
  return deepFreeze({
    ...stored,
    metadata: {
      namespace: "default",
      uid: `${kind} ${metadata.name}`,
      creationTimestamp: "2026-01-01T00:00:00Z",
      ...metadata,
    },
  }) as unknown as CustomResource;
}

function schemaOf(kind: keyof typeof files): JsonObject {
  const file = join(crdFolder, `${files[kind]}.yaml`);
  return parse(readFileSync(file, "utf8")).spec.versions[0].schema.openAPIV3Schema as JsonObject;
}

function withDefaults(value: unknown, schema: JsonObject): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const filled: Record<string, unknown> = { ...value };
  for (const [name, property] of Object.entries((schema.properties ?? {}) as Record<string, JsonObject>)) {
    if (name === "status") continue;
    if (filled[name] === undefined && property.default !== undefined) filled[name] = property.default;
    if (filled[name] !== undefined) filled[name] = withDefaults(filled[name], property);
  }
  return filled;
}

/** Compile must not write into what it is given: the watch cache shares these objects. */
function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}
