// A Project with one user and one key, its Secrets on a shelf, and what is published of them:
// resolve, write, compile, publish and remember as the operator does, with a crash wherever a test
// wants one.

import { createSecretKey, type KeyObject, randomBytes } from "node:crypto";
import type { CompiledProject } from "../../../core/config/types.ts";
import { PasswordRefused } from "../../../core/password/hash-password.ts";
import { compileProject } from "../../../operator/compile/compile-project.ts";
import { noHosts } from "../../../operator/compile/hosts.ts";
import { pendingIssuers } from "../../../operator/compile/issuers.ts";
import { createResourceCheck } from "../../../operator/compile/resource-check.ts";
import type { ApiKey, Project, ProjectUser, StoredMeta } from "../../../operator/model/objects.ts";
import { adoptAnnotation, type ProjectObjects } from "../../../operator/model/project-objects.ts";
import { nameLabel } from "../../../operator/model/secret-names.ts";
import type { Verdict } from "../../../operator/model/verdict.ts";
import { type ProjectResolution, resolveProject } from "../../../operator/resolve/project.ts";
import { fakeHash } from "./fake-hash.ts";
import { createMemorySecrets, type MemorySecrets } from "./memory-secrets.ts";

export const start = Date.parse("2026-06-01T12:00:00Z");
export const day = 24 * 3600 * 1000;
const born = "2026-06-01T12:00:00Z";

export interface Specs {
  annotation: string | undefined;
  refreshTokenTTL: string;
  suspend?: boolean;
  user: Partial<ProjectUser["spec"]>;
  key: Partial<ApiKey["spec"]>;
}

/** The process has ended in the middle of a run. */
export class Crash extends Error {
  override readonly name = "Crash";
}

export class CredentialWorld {
  readonly secrets: MemorySecrets = createMemorySecrets();
  readonly specs: Specs = { annotation: undefined, refreshTokenTTL: "72h", user: {}, key: {} };
  now = start;
  acknowledged = true;
  published: CompiledProject | undefined;
  statuses = new Map<string, object>();
  uids = "1";
  /** What guard rails allow, what the Project asks for, and what the operator was started with. */
  mayAdopt = false;
  asksToRestore = false;
  restoresAll = false;
  hmacKey: KeyObject = createSecretKey(randomBytes(32));
  /** Passwords that argon2 would have hashed. */
  readonly hashed: string[] = [];
  /** Every value that could ever be read in a Secret. */
  readonly readable = { keys: new Set<string>(), passwords: new Set<string>(), rings: new Set<string>() };
  readonly #checkResource = createResourceCheck();

  objects(): ProjectObjects {
    const meta = (name: string) => ({
      namespace: "default",
      name,
      uid: `${name}-${this.uids}`,
      creationTimestamp: born,
    });
    const { annotation, refreshTokenTTL, suspend = false } = this.specs;
    const annotations = {
      ...(annotation !== undefined && { "jsonplane.io/rotate-signing-key": annotation }),
      ...(this.asksToRestore && { [adoptAnnotation]: "true" }),
    };
    const withStatus = (kind: string, metadata: StoredMeta, spec: object): unknown => {
      const status = this.statuses.get(metadata.uid);
      return { apiVersion: "jsonplane.io/v1alpha1", kind, metadata, spec, ...(status !== undefined && { status }) };
    };
    const child = { projectRef: { name: "shop" }, role: "Users", access: "Read" };
    const sessions = { accessTokenTTL: "5m", refreshTokenTTL };
    const project = withStatus(
      "Project",
      { ...meta("shop"), annotations },
      { ...projectSpec, sessions, suspend },
    ) as Project;
    const user = withStatus("ProjectUser", meta("ada"), { ...child, ...this.specs.user });
    const key = withStatus("ApiKey", meta("ci"), { ...child, ...this.specs.key });
    return {
      ref: { namespace: "default", name: "shop" },
      ...(this.mayAdopt && { mayAdopt: true }),
      project,
      resources: [],
      rootKeys: [],
      users: [user as ProjectUser],
      keys: [key as ApiKey],
    };
  }

  /**
   * One run of the operator. Throws Crash after `crashAfter` writes; of more than there are, after
   * publishing and before the status.
   */
  async reconcile(
    crashAfter = Number.POSITIVE_INFINITY,
  ): Promise<ProjectResolution & { verdicts: readonly Verdict[] }> {
    const objects = this.objects();
    const resolution = await resolveProject(objects, this.published, {
      findSecret: this.secrets.find,
      random: randomBytes,
      now: this.now,
      hashPassword: async (password) => {
        if (password === "") throw new PasswordRefused("The password is empty");
        this.hashed.push(password);
        return fakeHash(password, this.hashed.length);
      },
      baseUrl: "http://localhost/default/shop",
      hmacKey: this.hmacKey,
      restoresAll: this.restoresAll,
      ringAcknowledged: this.acknowledged,
    });
    const notified = new Set(resolution.events.map(({ subject }) => subject.name));
    for (const { labels, name } of resolution.writes) {
      const owner = labels[nameLabel] ?? "";
      if (owner !== "shop" && !notified.has(owner)) throw new Error(`Nobody is notified of the write of ${name}`);
    }
    for (const [done, write] of resolution.writes.entries()) {
      if (done === crashAfter) throw new Crash();
      this.secrets.apply([write]);
      this.#look();
    }
    if (resolution.writes.length === crashAfter) throw new Crash();
    const { signing, credentials } = resolution;
    const around = { signing, credentials, hosts: noHosts, checkResource: this.#checkResource };
    const { config, verdicts } = compileProject({
      issuers: pendingIssuers,
      ...objects,
      ...around,
      ...(this.published !== undefined && { published: this.published }),
    });
    this.published = config;
    if (crashAfter !== Number.POSITIVE_INFINITY) throw new Crash();
    for (const [uid, status] of resolution.statuses) this.statuses.set(uid, status);
    return { ...resolution, verdicts };
  }

  /** Runs until nothing is to be written any more. */
  async settle(): Promise<ProjectResolution & { verdicts: readonly Verdict[] }> {
    for (let run = 0; run < 6; run += 1) {
      const resolution = await this.reconcile();
      if (isSettled(resolution, this)) return resolution;
    }
    throw new Error("Six runs, and still something to write");
  }

  text(name: string, entry: string): string {
    return this.secrets.text(name, entry) ?? "";
  }

  /** SHA-256 of the keys that are let in now. */
  liveKeys(): readonly string[] {
    const keys = [...(this.published?.keys.values() ?? [])];
    return keys
      .filter(({ expiresAt }) => expiresAt === undefined || expiresAt * 1000 > this.now)
      .map(({ sha256 }) => sha256);
  }

  login(): { readonly hash: string | undefined; readonly revision: string | undefined } {
    const [user] = [...(this.published?.users.values() ?? [])];
    return { hash: user?.passwordHash, revision: user?.credentialRevision };
  }

  kids(): readonly string[] {
    return this.published?.signing.keys.map(({ kid }) => kid) ?? [];
  }

  signer(): string | undefined {
    return this.published?.signing.keys.find(({ signs }) => signs)?.kid;
  }

  /** Reasons of the notices of an object that is accepted, or why it isn't. */
  reasons(verdicts: readonly Verdict[], name: string): readonly string[] {
    return verdicts
      .filter((verdict) => verdict.name === name)
      .flatMap((verdict) => (verdict.accepted ? verdict.notices.map(({ reason }) => reason) : [verdict.reason]));
  }

  #look(): void {
    const add = (values: Set<string>, text: string): void => void (text !== "" && values.add(text));
    add(this.readable.keys, this.text("ci-api-key", "apiKey"));
    add(this.readable.passwords, this.text("ada-password", "password"));
    const ring = this.text("shop-signing", "ring");
    if (ring !== "") for (const { kid } of JSON.parse(ring).keys) this.readable.rings.add(kid);
  }
}

export function isSettled({ writes, signingRingWaits }: ProjectResolution, { acknowledged }: CredentialWorld): boolean {
  return writes.length === 0 && !(signingRingWaits && acknowledged);
}

const projectSpec = {
  className: "default",
  authentication: { policy: "Enabled" },
  hosts: [],
  limits: { maxBodyBytes: 1, maxDocumentBytes: 1, maxPageSize: 1, anonymousWritesPerMinute: 1 },
  cors: { allowedOrigins: [], maxAge: "1h" },
  openapi: "Authenticated",
  serving: "ReadWrite",
  suspend: false,
  deletionPolicy: "Retain",
};
