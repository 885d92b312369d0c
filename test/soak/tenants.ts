// Teams that declare, change and delete things all the time, each in namespaces of its own, without
// waiting for anything. A call that fails, because the API server is being restarted, is counted
// and not repeated: the checks at the end go by what the API server has.

import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "../chaos/random.ts";
import { ApiRefusal, unlessRefused } from "../support/kubernetes/api-server/api-server-call.ts";
import {
  endNamespace,
  ensureNamespace,
  entryOf,
  type NamespaceObjects,
  objectsOf,
} from "../support/kubernetes/api-server/api-server-objects.ts";
import { type Declared, type DeclaredKind, declared, secretOf } from "../support/kubernetes/declared.ts";
import type { SoakWorld } from "./world.ts";

export interface SoakCounts {
  /** How often each kind of change was made. */
  readonly changes: Map<string, number>;
  /** Calls that the API server did not answer, or refused because of what happened meanwhile. */
  failed: number;
  /** API keys that were to be deleted, with the UID of their object. */
  readonly revoked: {
    readonly apiKey: string;
    readonly uid: string;
    readonly namespace: string;
    readonly project: string;
  }[];
}

export interface TeamOptions {
  readonly world: SoakWorld;
  readonly namespaces: readonly string[];
  /** How many Projects the team keeps, by and large. */
  readonly projects: number;
  readonly random: Random;
  readonly counts: SoakCounts;
  readonly stopped: () => boolean;
}

interface TenantProject {
  readonly namespace: string;
  readonly project: string;
}

const pauseMs = { from: 100, to: 300 };

/** Ends once `stopped` says so, and the change under way is done. */
export async function runTeam(options: TeamOptions): Promise<void> {
  const team = new Team(options);
  while (!options.stopped()) {
    await team.change();
    await sleep(pauseMs.from + options.random.fraction() * (pauseMs.to - pauseMs.from));
  }
}

/** Declares what the team begins with. */
export async function beginTeam(options: TeamOptions): Promise<void> {
  const team = new Team(options);
  for (let index = 0; index < options.projects; index += 1) await team.addProject();
}

class Team {
  readonly #options: TeamOptions;

  constructor(options: TeamOptions) {
    this.#options = options;
  }

  async change(): Promise<void> {
    const { random, counts } = this.#options;
    const [name, make] = this.#pickChange(random.whole(1_000));
    try {
      await make();
      counts.changes.set(name, (counts.changes.get(name) ?? 0) + 1);
    } catch (error) {
      if (!isOfTrouble(error)) throw error;
      counts.failed += 1;
    }
  }

  #pickChange(drawn: number): readonly [name: string, make: () => Promise<void>] {
    if (drawn < 2) return ["namespace deleted", () => this.#deleteNamespace()];
    if (drawn < 100) return ["project deleted or made", () => this.#deleteOrMake()];
    if (drawn < 400) return ["resource changed", () => this.#changeResource()];
    if (drawn < 550) return ["key made or deleted", () => this.#changeKeys()];
    if (drawn < 600) return ["key rotated", () => this.#rotateKey()];
    if (drawn < 700) return ["user changed", () => this.#changeUser()];
    if (drawn < 800) return ["root key made or deleted", () => this.#changeRootKeys()];
    if (drawn < 850) return ["secret edited", () => this.#editSecret()];
    if (drawn < 900) return ["deletion policy changed", () => this.#changePolicy()];
    return ["object written", () => this.#writeObject()];
  }

  async addProject(): Promise<void> {
    const { random, world } = this.#options;
    const namespace = random.pick(this.#options.namespaces);
    // It may have been deleted.
    await ensureNamespace(world.fleet.api, namespace);
    // Names come again: a Project may follow one of its name that has just been deleted.
    const project = `p${random.whole(this.#options.projects * 2)}`;
    const child = (kind: DeclaredKind, suffix: string, spec: object) =>
      declared(kind, `${project}-${suffix}`, { projectRef: { name: project }, ...spec });
    const user = random.pick([{}, { passwordSecretRef: { name: `${project}-chosen`, key: "password" } }]);
    const objects = [
      adopting(declared("Project", project, { deletionPolicy: random.pick(["Retain", "Delete"]) })),
      child("ApiResource", "items", { resourceName: "items", access: { create: "Anyone" }, schema: schemaOf(0) }),
      child("RootKey", "flags", { key: "flags", initialValue: {} }),
      child("ApiKey", "main", { role: "Administrators", access: "Write" }),
      ...("passwordSecretRef" in user
        ? [secretOf(`${project}-chosen`, { password: `chosen ${random.whole(10)}` })]
        : []),
      child("ProjectUser", "ann", { access: "Write", ...user }),
    ];
    for (const object of objects) await unlessRefused(409, this.#of(namespace).create(object));
  }

  #of(namespace: string): NamespaceObjects {
    return objectsOf(this.#options.world.fleet.api, namespace);
  }

  async #pickProject(): Promise<TenantProject> {
    const { random, namespaces } = this.#options;
    const namespace = random.pick(namespaces);
    const names = await this.#of(namespace).names("Project");
    if (names.length === 0) throw new NothingThere(`There is no Project in ${namespace}`);
    return { namespace, project: random.pick(names) };
  }

  async #deleteOrMake(): Promise<void> {
    const { random, namespaces, projects } = this.#options;
    const counts = await Promise.all(namespaces.map(async (each) => (await this.#of(each).names("Project")).length));
    const count = counts.reduce((sum, each) => sum + each, 0);
    if (random.fraction() * 2 * projects > count) await this.addProject();
    else await this.#deleteProject(await this.#pickProject());
  }

  async #deleteProject({ namespace, project }: TenantProject): Promise<void> {
    const { random } = this.#options;
    const objects = this.#of(namespace);
    await this.#rememberKeys({ namespace, project });
    const projectFirst = random.fraction() < 0.5;
    if (projectFirst) await unlessRefused(404, objects.remove("Project", project));
    for (const kind of ["ApiResource", "RootKey", "ApiKey", "ProjectUser"]) {
      for (const name of await objects.names(kind))
        if (name.startsWith(`${project}-`)) await unlessRefused(404, objects.remove(kind, name));
    }
    if (!projectFirst) await unlessRefused(404, objects.remove("Project", project));
  }

  async #deleteNamespace(): Promise<void> {
    const { random, namespaces, world } = this.#options;
    const namespace = random.pick(namespaces);
    for (const project of await this.#of(namespace).names("Project")) await this.#rememberKeys({ namespace, project });
    await world.oneAtATime(() => endNamespace(world.fleet.api, namespace));
  }

  async #changeResource(): Promise<void> {
    const { random } = this.#options;
    const { namespace, project } = await this.#pickProject();
    const spec = { schema: schemaOf(random.whole(5)), indexes: random.pick([[], ["n"], ["n", "text"]]) };
    await this.#of(namespace).patch("ApiResource", `${project}-items`, { spec });
  }

  async #changeKeys(): Promise<void> {
    const { random } = this.#options;
    const tenant = await this.#pickProject();
    const name = `${tenant.project}-extra-${random.whole(3)}`;
    const objects = this.#of(tenant.namespace);
    if (!(await objects.names("ApiKey")).includes(name)) {
      const spec = { projectRef: { name: tenant.project }, role: "Administrators", access: "Write" };
      return await objects.create(declared("ApiKey", name, spec));
    }
    await this.#rememberKey(tenant, name);
    await objects.remove("ApiKey", name);
  }

  async #rotateKey(): Promise<void> {
    const { random } = this.#options;
    const { namespace, project } = await this.#pickProject();
    const rotation = { id: String(random.whole(1_000_000)), gracePeriod: "0s" };
    await this.#of(namespace).patch("ApiKey", `${project}-main`, { spec: { rotation } });
  }

  async #changeUser(): Promise<void> {
    const { random } = this.#options;
    const { namespace, project } = await this.#pickProject();
    const spec = { access: random.pick(["Read", "Write"]), role: random.pick(["Users", "Administrators"]) };
    await this.#of(namespace).patch("ProjectUser", `${project}-ann`, { spec });
  }

  async #changeRootKeys(): Promise<void> {
    const { random } = this.#options;
    const { namespace, project } = await this.#pickProject();
    const objects = this.#of(namespace);
    const key = `extra-${random.whole(3)}`;
    const name = `${project}-${key}`;
    const spec = { projectRef: { name: project }, key, initialValue: random.whole(100) };
    if ((await objects.names("RootKey")).includes(name)) await objects.remove("RootKey", name);
    else await objects.create(declared("RootKey", name, spec));
  }

  async #editSecret(): Promise<void> {
    const { random } = this.#options;
    const { namespace, project } = await this.#pickProject();
    const objects = this.#of(namespace);
    const secret = random.pick([`${project}-main-api-key`, `${project}-ann-user-hash`]);
    const entries = [{ record: Buffer.from("{}").toString("base64") }, { seal: Buffer.from("x").toString("base64") }];
    if (random.fraction() < 0.5) await objects.remove("Secret", secret);
    else await objects.patch("Secret", secret, { data: random.pick(entries) });
  }

  async #changePolicy(): Promise<void> {
    const { random } = this.#options;
    const { namespace, project } = await this.#pickProject();
    const spec = { deletionPolicy: random.pick(["Retain", "Delete"]) };
    await this.#of(namespace).patch("Project", project, { spec });
  }

  async #writeObject(): Promise<void> {
    const { random, world } = this.#options;
    const { namespace, project } = await this.#pickProject();
    const body = { n: random.whole(1_000) };
    const replica = random.pick(world.fleet.replicas);
    const { status } = await replica.send(`/${namespace}/${project}/api/items`, { method: "POST", body });
    if (status !== 201) throw new NothingThere(`The write was answered with ${status}`);
  }

  async #rememberKeys(tenant: TenantProject): Promise<void> {
    for (const name of await this.#of(tenant.namespace).names("ApiKey"))
      if (name.startsWith(`${tenant.project}-`)) await this.#rememberKey(tenant, name);
  }

  /** What is remembered must be refused at the end, unless its object is there still. */
  async #rememberKey({ namespace, project }: TenantProject, name: string): Promise<void> {
    const objects = this.#of(namespace);
    const { metadata } = await objects.get("ApiKey", name);
    const apiKey = entryOf(await objects.get("Secret", `${name}-api-key`), "apiKey");
    if (apiKey !== "") this.#options.counts.revoked.push({ apiKey, uid: metadata.uid, namespace, project });
  }
}

/** Nothing is there that could be changed so, or it is not served yet. */
class NothingThere extends Error {
  override readonly name = "NothingThere";
}

/** A connection that was cut, or an answer that tells of what others did meanwhile. */
function isOfTrouble(error: unknown): boolean {
  if (error instanceof NothingThere) return true;
  if (error instanceof ApiRefusal) return error.status !== 400 && error.status !== 422;
  return error instanceof Error && ("code" in error || error instanceof SyntaxError);
}

/**
 * What an earlier namespace of that name has left is taken over: else the Project would wait for a
 * person.
 */
function adopting(project: Declared): Declared {
  const annotations = { "jsonplane.io/adopt-data": "true" };
  return { ...project, metadata: { ...project.metadata, annotations } };
}

/** Five schemas of which each takes the objects of the others. */
function schemaOf(variant: number): object {
  const more = Object.fromEntries(Array.from({ length: variant }, (_, index) => [`more${index}`, { type: "string" }]));
  return { type: "object", properties: { n: { type: "integer" }, text: { type: "string" }, ...more } };
}
