// Two tenants, red and blue, who run the same example projects, each with credentials and a marker
// of its own: a word that stands in everything secret that it stores, and that nobody else may ever
// read. Who may see only the objects that it made has another one.

import { createHash, randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { checkManifests } from "../../cli/manifests/check-manifests.ts";
import { groupByProject } from "../../cli/manifests/projects.ts";
import { readManifests } from "../../cli/manifests/read-manifests.ts";
import type { CompiledProject } from "../../core/config/types.ts";
import { compileProject } from "../../operator/compile/compile-project.ts";
import { noHosts } from "../../operator/compile/hosts.ts";
import { pendingIssuers } from "../../operator/compile/issuers.ts";
import { createResourceCheck } from "../../operator/compile/resource-check.ts";
import type { Credentials } from "../../operator/model/credentials.ts";
import type { CustomResource } from "../../operator/model/objects.ts";
import type { ProjectObjects } from "../../operator/model/project-objects.ts";
import { testIssuer, withIssuer } from "../support/http/external-issuer.ts";
import {
  basic,
  bearer,
  changed,
  inNamespace,
  signingKey,
  withConfig,
  withKey,
  withSigningKeys,
  withUser,
} from "../support/http/projects.ts";
import { markerLength } from "./schema-values.ts";

export const tenantNames = ["red", "blue"] as const;
export type TenantName = (typeof tenantNames)[number];

export interface Tenant {
  readonly name: TenantName;
  readonly marker: string;
  readonly projects: readonly FuzzedProject[];
  /** Texts that must never be in a log, and never in an answer to anybody who did not send them. */
  readonly secrets: readonly string[];
}

export interface FuzzedProject {
  readonly parts: CompiledProject;
  readonly base: string;
  /** Authorization headers by name of the key or user; a user's is a login. */
  readonly keys: ReadonlyMap<string, string>;
  readonly logins: ReadonlyMap<string, string>;
  /** A caller whom an external issuer names. */
  readonly outsider: { readonly creator: string; readonly authorization: string };
  /**
   * Markers of the callers of role Users, by creator: `user:ada`, `apikey:frontend`,
   * `external:corp/eve`.
   */
  readonly owners: ReadonlyMap<string, string>;
  /** Of the key that sees everything and changes nothing: by it is checked what is stored. */
  readonly auditor: string;
}

const auditor = "auditor";
/** Both tenants accept its tokens, each those for an audience of its own. */
const corp = testIssuer("corp");
const outsider = "eve";
const ownerOfOutsider = `external:corp/${outsider}`;

const examples = fileURLToPath(new URL("../../examples", import.meta.url));

/** All keys, passwords and markers come from the seed. */
export async function tenantsOf(seed: number): Promise<readonly Tenant[]> {
  const compiled = await compileExamples();
  const iat = Math.floor(Date.now() / 1_000);
  return tenantNames.map((name) => {
    const word = (what: string): string =>
      createHash("sha256").update(`${seed} ${name} ${what}`).digest("base64url").replace(/[-_]/g, "x");
    const secrets: string[] = [];
    const secret = (what: string): string => {
      secrets.push(word(what));
      return word(what);
    };
    const marker = (what: string): string => word(what).slice(0, markerLength);
    const token = corp.token({ aud: name, sub: outsider, iat, exp: iat + 86_400 });
    secrets.push(token);
    const projects = compiled.map((parts) => fuzzedProject(name, parts, { secret, marker, token }));
    return { name, marker: marker("marker"), projects, secrets };
  });
}

interface Words {
  readonly secret: (what: string) => string;
  readonly marker: (what: string) => string;
  readonly token: string;
}

function fuzzedProject(tenant: TenantName, parts: CompiledProject, { secret, marker, token }: Words): FuzzedProject {
  const { name } = parts.project;
  let audit = "";
  const keys = new Map<string, string>();
  const logins = new Map<string, string>();
  const credentials = [...parts.keys.values()].map((key) => ({ name: key.name, role: key.role, access: key.access }));
  const withKeys = [...credentials, { name: auditor, role: "Administrators", access: "Read" } as const].map((each) => {
    const key = `jp_${secret(`key ${name} ${each.name}`)}`;
    if (each.name !== auditor) keys.set(each.name, `apikey ${key}`);
    else audit = `apikey ${key}`;
    return withKey(each.name, { key, role: each.role, access: each.access });
  });
  const withUsers = [...parts.users.values()].map(({ username, role, access }) => {
    const password = secret(`password ${name} ${username}`);
    logins.set(username, basic(username, password));
    return withUser(username, { password, role, access });
  });
  const own = { ...parts, keys: new Map(), users: new Map() };
  const ring = withSigningKeys(signingKey());
  const issuer = withIssuer(corp, { audiences: [tenant] });
  const changes = [inNamespace(tenant), withConfig({ uid: randomUUID() }), ring, issuer, ...withKeys, ...withUsers];
  const owners = new Map(ownersOf(parts).map((owner) => [owner, marker(`marker ${name} ${owner}`)]));
  const callers = { keys, logins, outsider: { creator: ownerOfOutsider, authorization: bearer(token) } };
  return { parts: changed(own, ...changes), base: `/${tenant}/${name}`, ...callers, owners, auditor: audit };
}

function ownersOf({ users, keys }: CompiledProject): readonly string[] {
  const ofUsers = [...users.values()].filter(({ role }) => role === "Users");
  const ofKeys = [...keys.values()].filter(({ role }) => role === "Users");
  const own = [...ofUsers.map(({ username }) => `user:${username}`), ...ofKeys.map(({ name }) => `apikey:${name}`)];
  return [...own, ownerOfOutsider];
}

async function compileExamples(): Promise<readonly CompiledProject[]> {
  const checked = checkManifests(await readManifests(examples));
  if (checked.problems.length > 0) throw new Error(`The examples have problems: ${JSON.stringify(checked.problems)}`);
  const objects = checked.manifests.map(({ manifest, source }) => ({
    ...manifest,
    metadata: { ...manifest.metadata, uid: source.subject, creationTimestamp: "1970-01-01T00:00:00Z" },
  })) as unknown as CustomResource[];
  return [...groupByProject(objects).values()].map((bundle) => {
    const compileContext = { signing: { ok: true, value: { keys: [] } }, hosts: noHosts } as const;
    const { config } = compileProject({
      issuers: pendingIssuers,
      ...bundle,
      ...compileContext,
      credentials: credentialsOf(bundle),
      checkResource: createResourceCheck(),
    });
    if (config === undefined) throw new Error(`${bundle.ref.name} does not compile`);
    return config;
  });
}

/** Replaced by each tenant's own. */
function credentialsOf({ users, keys }: ProjectObjects): Credentials {
  const password = { ok: true, value: { passwordHash: "", credentialRevision: "" } } as const;
  return {
    users: new Map(users.map(({ metadata }) => [metadata.name, password])),
    keys: new Map(keys.map(({ metadata }) => [metadata.name, { ok: true, value: [{ sha256: metadata.uid }] }])),
  };
}
