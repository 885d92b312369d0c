// Sends seeded random requests of two tenants to a replica, one after the other, and checks every
// answer: its shape, what it shows of the other tenant and of other owners, whether what it
// acknowledged can be read back and what it refused changed nothing; at last the whole log.

import fc from "fast-check";
import type { Reply, SentRequest } from "../support/http/http-client.ts";
import { faultsOf, leaksOf, overreachOf } from "./check-answer.ts";
import { type Planned, requestsTo } from "./requests.ts";
import { markerPlace } from "./schema-values.ts";
import { Stored } from "./stored.ts";
import type { FuzzedProject, Tenant } from "./tenants.ts";

export interface FuzzTarget {
  send(path: string, sent?: SentRequest): Promise<Reply>;
  log(): string;
}

export interface FuzzReport {
  readonly requests: number;
  /** How often each status, and each code of a problem, was answered. */
  readonly answers: Readonly<Record<string, number>>;
  /** Acknowledged writes that were read back, and refused ones after which nothing had changed. */
  readonly readBack: number;
  readonly unchanged: number;
  readonly faults: readonly string[];
}

const maxFaults = 10;

export async function fuzz(
  target: FuzzTarget,
  tenants: readonly Tenant[],
  plan: { seed: number; requests: number },
): Promise<FuzzReport> {
  const run = new Run(target, tenants);
  await run.begin();
  const projects = tenants[0]?.projects.map(({ parts }) => parts) ?? [];
  const planned = fc.sample(requestsTo(projects), { seed: plan.seed, numRuns: plan.requests });
  for (const each of planned) {
    await run.carryOut(each);
    if (run.faults.length >= maxFaults) break;
  }
  run.checkLog();
  return run.report();
}

/** Where a planned request goes. */
interface Addressed {
  readonly project: FuzzedProject;
  readonly stored: Stored;
  readonly path: string;
  readonly id: string | undefined;
}

class Run {
  readonly faults: string[] = [];
  readonly #target: FuzzTarget;
  readonly #tenants: readonly Tenant[];
  readonly #stored = new Map<FuzzedProject, Stored>();
  /** `bearer` headers by project and user. */
  readonly #sessions = new Map<string, string>();
  readonly #secrets: string[];
  readonly #answers = new Map<string, number>();
  #requests = 0;
  #readBack = 0;
  #unchanged = 0;

  constructor(target: FuzzTarget, tenants: readonly Tenant[]) {
    this.#target = target;
    this.#tenants = tenants;
    this.#secrets = tenants.flatMap((tenant) => [...tenant.secrets, ...markersOf(tenant)]);
  }

  async begin(): Promise<void> {
    for (const { projects } of this.#tenants) {
      for (const project of projects) {
        const stored = new Stored(project, (path, sent) => this.#target.send(project.base + path, sent));
        this.#stored.set(project, stored);
        await stored.begin();
        for (const [user, login] of project.logins) await this.#login(project, user, login);
      }
    }
  }

  async #login(project: FuzzedProject, user: string, as: string): Promise<void> {
    const reply = await this.#target.send(`${project.base}/sessions`, { method: "POST", as });
    const { access_token, refresh_token } = reply.json<Record<string, string>>();
    this.#sessions.set(`${project.base} ${user}`, `bearer ${access_token}`);
    this.#secrets.push(access_token ?? "", refresh_token ?? "");
  }

  async carryOut(planned: Planned): Promise<void> {
    const addressed = this.#address(planned);
    const { path } = addressed;
    const sent = this.#sent(planned, addressed.project);
    this.#requests += 1;
    const request = `#${this.#requests} ${planned.method} ${addressed.project.base}${path} as ${JSON.stringify(planned.caller)}`;
    const reply = await this.#target.send(printable(addressed.project.base + path + planned.query), sent);
    this.#count(reply);
    const faults = [...faultsOf(reply, planned.method), ...this.#leaks(planned, reply)];
    faults.push(...this.#overreach(planned, addressed, reply));
    if (isWrite(planned.method)) faults.push(...(await this.#stays(planned, addressed, reply)));
    this.faults.push(...faults.map((fault) => `${request}: ${fault}`));
  }

  #address({ tenant, project: at, target }: Planned): Addressed {
    const project = this.#tenants[tenant]?.projects[at] as FuzzedProject;
    const stored = this.#stored.get(project) as Stored;
    const to = (path: string, id?: string): Addressed => ({ project, stored, path, id });
    switch (target.kind) {
      case "objects": {
        const id = target.object === undefined ? undefined : (stored.idAt(target.resource, target.object) ?? "none");
        return to(`/api/${target.resource}${id === undefined ? "" : `/${id}`}`, id);
      }
      case "document":
        return to(["/json", target.rootKey, ...target.path].join("/"));
      case "sessions":
        return to(`/sessions${target.tail}`);
      case "noise":
        return to(target.path);
    }
  }

  #sent(planned: Planned, project: FuzzedProject): SentRequest {
    const { method, headers, body } = planned;
    const as = this.#authorization(planned, project);
    const text = typeof body === "string" ? body.replaceAll(markerPlace, this.#marker(planned, project)) : body;
    const bodyless = method === "GET" || method === "HEAD";
    return { method, headers, ...(as !== undefined && { as }), ...(text !== undefined && !bodyless && { body: text }) };
  }

  #marker(planned: Planned, project: FuzzedProject): string {
    // A foreign caller does not know the marker of the tenant that it asks.
    if (planned.caller.kind.startsWith("foreign") || planned.caller.kind === "nobody") return "unknown";
    if (isPublic(planned, project)) return "public";
    const own = isForOwners(planned, project) ? project.owners.get(this.#creator(planned, project)) : undefined;
    return own ?? this.#tenants[planned.tenant]?.marker ?? "";
  }

  #authorization({ caller, tenant, project: at }: Planned, project: FuzzedProject): string | undefined {
    switch (caller.kind) {
      case "nobody":
        return undefined;
      case "text":
        return caller.text.replace(/[^\x20-\x7e]/g, "");
      case "own":
      case "login":
        return this.#credential(project, caller).authorization;
      case "foreign":
        return this.#credential(this.#foreign(tenant, at), { kind: "own", number: caller.number }).authorization;
      case "foreign login":
        return this.#credential(this.#foreign(tenant, at), { kind: "login", number: caller.number }).authorization;
    }
  }

  /**
   * Of what is stored, as `_metadata` names it; empty for whoever has no credential of the project.
   */
  #creator({ caller }: Planned, project: FuzzedProject): string {
    return caller.kind === "own" || caller.kind === "login" ? this.#credential(project, caller).creator : "";
  }

  #credential(project: FuzzedProject, { kind, number }: { readonly kind: "own" | "login"; readonly number: number }) {
    const user = kind === "login" ? pick([...project.logins.keys()], number) : undefined;
    if (user !== undefined) {
      return { creator: `user:${user}`, authorization: this.#sessions.get(`${project.base} ${user}`) };
    }
    if (kind === "own" && number % 8 === 7) return project.outsider;
    // Where nobody can log in, a key does.
    const [name, authorization] = pick([...project.keys], number) ?? [];
    return { creator: `apikey:${name}`, authorization };
  }

  #foreign(tenant: number, at: number): FuzzedProject {
    return this.#tenants[1 - tenant]?.projects[at] as FuzzedProject;
  }

  /**
   * Of the tenant that is asked, when the caller is not of it, and of its other owners, when it is
   * one; of the other tenant, always.
   */
  #leaks(planned: Planned, reply: Reply): readonly string[] {
    const { caller, tenant: asked, project: at } = planned;
    const isOwn = caller.kind === "own" || caller.kind === "login";
    const hidden = this.#tenants.flatMap((tenant, index) => {
      if (index !== asked || !isOwn) return [...tenant.secrets, ...markersOf(tenant)];
      const project = tenant.projects[at] as FuzzedProject;
      const { owners } = project;
      const me = this.#creator(planned, project);
      const others = owners.has(me) ? [...owners].filter(([owner]) => owner !== me) : [];
      return [...tenant.secrets, ...others.map(([, marker]) => marker)];
    });
    return leaksOf(reply, hidden).map((secret) => `shows ${secret}`);
  }

  #overreach(planned: Planned, { project, stored, id }: Addressed, reply: Reply): readonly string[] {
    const { target, method } = planned;
    const creator = this.#creator(planned, project);
    if (target.kind !== "objects" || id === undefined || !isWrite(method) || !project.owners.has(creator)) return [];
    const { parts } = project;
    // Without authentication no scope applies.
    if (parts.project.authentication === "Disabled") return [];
    if (parts.resources.get(target.resource)?.scope.write !== "Own") return [];
    return overreachOf(reply, stored.textOf(target.resource, id), creator);
  }

  async #stays({ method, target }: Planned, { stored, path, id }: Addressed, reply: Reply): Promise<readonly string[]> {
    if (reply.status < 300) this.#readBack += 1;
    else this.#unchanged += 1;
    if (target.kind === "objects") return await stored.objectsAfter(target.resource, id, { method, reply });
    if (target.kind === "document") return await stored.documentAfter(target.rootKey, path, { method, reply });
    return [];
  }

  #count({ status, code }: Reply): void {
    const name = code === undefined ? `${status}` : `${status} ${code}`;
    this.#answers.set(name, (this.#answers.get(name) ?? 0) + 1);
  }

  checkLog(): void {
    const log = this.#target.log();
    for (const secret of this.#secrets) if (log.includes(secret)) this.faults.push(`The log holds ${secret}`);
    const bad = log.split("\n").filter((line) => line !== "" && /"level":"error"/.test(line));
    this.faults.push(...bad.slice(0, 3).map((line) => `The log says ${line.slice(0, 500)}`));
  }

  report(): FuzzReport {
    const answers = Object.fromEntries([...this.#answers].sort(([left], [right]) => (left < right ? -1 : 1)));
    const counts = { requests: this.#requests, readBack: this.#readBack, unchanged: this.#unchanged };
    return { ...counts, answers, faults: this.faults };
  }
}

function isWrite(method: string): boolean {
  return method === "POST" || method === "PUT" || method === "DELETE" || method === "PATCH";
}

/** Anybody may read what is written there, so nothing secret is. */
function isPublic({ target }: Planned, { parts }: FuzzedProject): boolean {
  if (parts.project.authentication === "Disabled") return true;
  if (target.kind === "objects") return parts.resources.get(target.resource)?.access.read === "Anyone";
  if (target.kind === "document") return parts.rootKeys.get(target.rootKey)?.access.read === "Anyone";
  return false;
}

/** Whether only who made an object, and Administrators, may read it. */
function isForOwners({ target }: Planned, { parts }: FuzzedProject): boolean {
  return target.kind === "objects" && parts.resources.get(target.resource)?.scope.read === "Own";
}

function markersOf({ marker, projects }: Tenant): readonly string[] {
  return [marker, ...projects.flatMap(({ owners }) => [...owners.values()])];
}

function pick<T>(all: readonly T[], number: number): T | undefined {
  return all[number % Math.max(1, all.length)];
}

/** What an HTTP client of Node agrees to send. */
function printable(text: string): string {
  return text.replace(/[^\x21-\x7e ]/g, "").replaceAll(" ", "%20");
}
