// Applies seeded random custom resources to a real API server while the operator runs, and checks
// what comes of it: what is accepted is what `jsonplane validate` accepts; every object is told,
// soon, what became of it; what is Ready is served; the operator goes on.

import { setTimeout as sleep } from "node:timers/promises";
import type { Json } from "../../core/config/types.ts";
import { apiVersion, type Kind, kinds, type UncheckedObject } from "../../core/manifests/object.ts";
import { type Manifest, validateManifest } from "../../core/manifests/validate-manifest.ts";
import type { Fleet } from "../support/fleet/fleet.ts";
import { type ApiAnswer, apiCall } from "../support/kubernetes/api-server/api-server-call.ts";
import { customResources, folderOf, readyOf } from "../support/kubernetes/api-server/api-server-objects.ts";
import { checkServed } from "./check-served.ts";
import { namespacePlace, randomSteps, type Step } from "./random-manifests.ts";
import type { SeenObject } from "./seen-object.ts";

export interface ManifestPlan {
  readonly seed: number;
  readonly steps: number;
}

export interface ManifestReport {
  readonly steps: number;
  /** How often each was done, and how it was answered. */
  readonly answers: Readonly<Record<string, number>>;
  /** What objects said in the end, by the reason of their condition Ready. */
  readonly reasons: Readonly<Record<string, number>>;
  /** Ready objects that were asked for at a replica. */
  readonly served: number;
  readonly faults: readonly string[];
}

/** After so many steps all objects have to have settled; then another namespace is begun. */
const stepsPerNamespace = 40;
/** Milliseconds for that, on a busy machine. */
const patience = 60_000;
const maxFaults = 10;
const maxAttempts = 10;

/** Something to refer to from the start. */
const aProject: Step = { do: "apply", kind: "Project", name: "shop", spec: {}, annotations: {}, keeps: true };

/** Reasons that end by themselves; an object that still says so after `patience` hangs. */
const transient: ReadonlySet<string> = new Set([
  "WaitingForReplicas",
  "NoReplicas",
  "PublishFailed",
  "SecretNotWritten",
  "CredentialPending",
  "RefusedByReplica",
  "Deleting",
  "PurgePending",
]);

export async function fuzzManifests(fleet: Fleet, { seed, steps }: ManifestPlan): Promise<ManifestReport> {
  const run = new Run(fleet);
  const planned = randomSteps(steps, seed);
  for (let at = 0; at < planned.length && run.faults.length < maxFaults; at += stepsPerNamespace) {
    await run.inNamespace(planned.slice(at, at + stepsPerNamespace));
  }
  return run.report();
}

class Run {
  readonly faults: string[] = [];
  readonly #fleet: Fleet;
  readonly #answers = new Map<string, number>();
  readonly #reasons = new Map<string, number>();
  /** What the API server took, by kind and name, as this repository's own check knows it. */
  readonly #accepted = new Map<string, Manifest>();
  #namespace = "";
  #steps = 0;
  #served = 0;

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  async inNamespace(steps: readonly Step[]): Promise<void> {
    this.#namespace = await this.#fleet.api.namespace("fuzz");
    this.#accepted.clear();
    for (const each of [aProject, ...steps]) {
      await this.#carryOut(each);
      this.#steps += 1;
    }
    const objects = await this.#settled();
    for (const object of objects) count(this.#reasons, readyOf(object)?.reason ?? "(none)");
    const { asked, faults } = await checkServed(this.#fleet, this.#namespace, objects);
    this.#served += asked;
    this.faults.push(...faults);
    this.faults.push(...(await this.#ended()));
    await this.#clear();
  }

  report(): ManifestReport {
    const sorted = (counts: ReadonlyMap<string, number>) => Object.fromEntries([...counts].sort());
    return {
      steps: this.#steps,
      answers: sorted(this.#answers),
      reasons: sorted(this.#reasons),
      served: this.#served,
      faults: this.faults,
    };
  }

  async #carryOut(step: Step): Promise<void> {
    switch (step.do) {
      case "apply":
        return this.#apply(step);
      case "delete":
        this.#accepted.delete(`${step.kind} ${step.name}`);
        return this.#note(step.do, await this.#call(step.kind, step.name, { method: "DELETE" }));
      case "apply Secret":
        return this.#note(step.do, await this.#applySecret(step.name, step.password));
      case "delete Secret":
        return this.#note(step.do, await this.#call("Secret", step.name, { method: "DELETE" }));
    }
  }

  async #apply({ kind, name, spec: random, annotations, keeps }: Step & { readonly do: "apply" }): Promise<void> {
    const former = this.#accepted.get(`${kind} ${name}`);
    const placed = JSON.parse(JSON.stringify(random).replaceAll(namespacePlace, this.#namespace)) as Json;
    const spec = former && keeps ? keeping(former, placed) : placed;
    const object = { apiVersion, kind, metadata: { name, annotations }, spec } as unknown as UncheckedObject;
    const answer = await this.#put(kind, name, object);
    this.#note(former === undefined ? "create" : "change", answer);
    // Deleted and still there: its successor has to wait, which says nothing of the manifest.
    if (answer.status === 409) return;
    const here = validateManifest(object, former);
    const isAccepted = answer.status < 300;
    if (isAccepted !== here.ok) this.#disagree({ object, former, answer, here: here.ok ? undefined : here.problems });
    if (isAccepted && here.ok) this.#accepted.set(`${kind} ${name}`, here.object);
  }

  async #put(kind: Kind, name: string, object: UncheckedObject): Promise<ApiAnswer> {
    const strictly = "?fieldValidation=Strict";
    if (!this.#accepted.has(`${kind} ${name}`)) return this.#call(kind, strictly, { method: "POST", body: object });
    for (let attempt = 1; ; attempt += 1) {
      const { metadata } = (await this.#call(kind, name)).body;
      const resourceVersion = metadata?.["resourceVersion"];
      const body = { ...object, metadata: { ...(object["metadata"] as object), resourceVersion } };
      const answer = await this.#call(kind, `${name}${strictly}`, { method: "PUT", body });
      // The operator writes statuses meanwhile.
      if (answer.status !== 409 || attempt === maxAttempts) return answer;
    }
  }

  #disagree(found: { object: UncheckedObject; former: Manifest | undefined; answer: ApiAnswer; here: unknown }): void {
    const { answer, ...rest } = found;
    const decision = answer.status < 300 ? "takes" : `refuses (${answer.status} ${answer.body.message})`;
    this.faults.push(
      `The cluster ${decision} what jsonplane validate decides otherwise: ${JSON.stringify(rest).slice(0, 1_500)}`,
    );
  }

  #note(what: string, { status, body }: ApiAnswer): void {
    count(this.#answers, `${what}, ${status}`);
    if (status >= 500) this.faults.push(`${what} was answered with ${status}: ${body.message}`);
  }

  async #applySecret(name: string, password: string): Promise<ApiAnswer> {
    const body = { apiVersion: "v1", kind: "Secret", metadata: { name }, stringData: { password, other: "" } };
    const made = await this.#call("Secret", "", { method: "POST", body });
    if (made.status !== 409) return made;
    const contentType = "application/merge-patch+json";
    return this.#call("Secret", name, { method: "PATCH", body: { stringData: body.stringData }, contentType });
  }

  /**
   * All objects once each of them says what became of its newest spec and what is deleted has gone;
   * else a fault for each that hangs.
   */
  async #settled(): Promise<readonly SeenObject[]> {
    const deadline = Date.now() + patience;
    for (;;) {
      const objects = await this.#objects();
      const hanging = objects.map(hangs).filter((why) => why !== undefined);
      if (hanging.length === 0) return objects;
      if (Date.now() > deadline || (await this.#ended()).length > 0) {
        this.faults.push(...hanging);
        return objects;
      }
      await sleep(200);
    }
  }

  async #objects(): Promise<readonly SeenObject[]> {
    return (await customResources(this.#fleet.api, this.#namespace)) as unknown as readonly SeenObject[];
  }

  /** A fault for each operator that does not go on: it answers no more. */
  async #ended(): Promise<readonly string[]> {
    const checks = this.#fleet.operators.map(({ metrics, log }) =>
      metrics().then(
        () => [],
        (error: unknown) => [`An operator ended (${String(error)}):\n${log().slice(-2_000)}`],
      ),
    );
    return (await Promise.all(checks)).flat();
  }

  /** What is left would cost the next namespaces time. */
  async #clear(): Promise<void> {
    for (const kind of kinds) await this.#call(kind, "", { method: "DELETE" });
    await this.#call("Namespace", this.#namespace, { method: "DELETE" });
  }

  #call(kind: string, path: string, call: Parameters<typeof apiCall>[2] = {}): Promise<ApiAnswer> {
    const separator = path === "" || path.startsWith("?") ? "" : "/";
    return apiCall(this.#fleet.api, `${folderOf(kind, this.#namespace)}${separator}${path}`, call);
  }
}

const immutable = ["projectRef", "resourceName", "key", "username", "secretName"];

function keeping(former: Manifest, spec: Json): Json {
  if (typeof spec !== "object" || spec === null || Array.isArray(spec)) return spec;
  const old = former.spec as unknown as Readonly<Record<string, Json>>;
  const free = Object.entries(spec).filter(([name]) => !immutable.includes(name));
  const kept = Object.entries(old).filter(([name]) => immutable.includes(name));
  return Object.fromEntries([...free, ...kept]);
}

/** Why it is not what it should be in the end. */
function hangs(object: SeenObject): string | undefined {
  const { kind, metadata } = object;
  const ready = readyOf(object);
  const described = `${kind} ${metadata.name}: ${JSON.stringify(object).slice(0, 1_500)}`;
  if (metadata.deletionTimestamp !== undefined) return `Deleted and still there: ${described}`;
  if (ready === undefined) return `Without a condition: ${described}`;
  if (ready.observedGeneration !== metadata.generation) return `Its newest spec was not looked at: ${described}`;
  return transient.has(ready.reason) ? `Hangs: ${described}` : undefined;
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
