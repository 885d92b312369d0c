// The health checks of deploy/gitops: Argo CD's in Lua and Flux' in CEL, over the conditions that
// the operator writes for every reason, agree with what the reason is, for all five kinds.

import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { evaluate } from "@marcbachmann/cel-js";
import { expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { isTransient, type Reason, reasonCatalogue } from "../../operator/model/reasons.ts";
import { lua } from "../../tools/parts/lua.ts";
import { requirePart } from "../../tools/parts/part.ts";
import { runCommand } from "../../tools/parts/run-command.ts";
import { root } from "../../tools/read-crds.ts";
import { type ConditionCase, conditionsIn } from "../support/kubernetes/conditions-in.ts";

const kinds = ["Project", "ApiResource", "ProjectUser", "ApiKey", "RootKey"];
const subject = { kind: "Project", namespace: "shop", name: "shop", uid: "u-1" } as const;

interface Watched {
  readonly metadata: { readonly generation: number; readonly deletionTimestamp?: string };
  readonly status?: { readonly observedGeneration?: number; readonly conditions?: readonly unknown[] };
}

/** What a state is called, the object in it, and what each tool is to make of it. */
interface State {
  readonly name: string;
  readonly object: Watched;
  readonly argo: "Healthy" | "Progressing" | "Degraded" | "Suspended";
  readonly flux: "current" | "inProgress" | "failed";
}

function written(more: ConditionCase): Watched {
  const verdict = { ...subject, accepted: true, notices: [] } as const;
  const conditions = conditionsIn({ generation: 2, verdict, ...more });
  return { metadata: { generation: 2 }, status: { observedGeneration: 2, conditions } };
}

function refused(reason: Reason, live: boolean): Watched {
  const faults = [{ message: 'Write "another"\nname' }] as const;
  return written({ verdict: { ...subject, accepted: false, reason, faults, live } });
}

const waiting = { argo: "Progressing", flux: "inProgress" } as const;
const served = { argo: "Healthy", flux: "current" } as const;
const ready = written({});
const deleting = written({ deleting: true });
const noted = { ...subject, accepted: true, notices: [{ reason: "Expired", message: "It has expired" }] } as const;

function ofReason(reason: Reason): Pick<State, "argo" | "flux"> {
  if (reason === "Suspended") return { argo: "Suspended", flux: "inProgress" };
  return isTransient(reason) ? waiting : { argo: "Degraded", flux: "failed" };
}

const reasons = Object.keys(reasonCatalogue) as Reason[];
const states: readonly State[] = [
  { name: "just created", object: { metadata: { generation: 1 } }, ...waiting },
  { name: "with an empty status", object: { metadata: { generation: 1 }, status: {} }, ...waiting },
  { name: "served everywhere", object: ready, ...served },
  { name: "served, with a notice", object: written({ verdict: noted }), ...served },
  { name: "edited, not looked at yet", object: { ...ready, metadata: { generation: 3 } }, ...waiting },
  { name: "waiting for replicas", object: written({ progress: { state: "waiting" } }), ...waiting },
  { name: "without replicas", object: written({ progress: { state: "no_replicas" } }), ...waiting },
  {
    name: "not published",
    object: written({ progress: { state: "not_published", reason: "PublishFailed", why: "Redis is away." } }),
    ...waiting,
  },
  {
    name: "refused by a replica",
    object: written({ progress: { state: "programmed", refusal: "unknown format" } }),
    ...waiting,
  },
  {
    name: "being deleted",
    object: { ...deleting, metadata: { generation: 2, deletionTimestamp: "2026-11-21T12:00:00Z" } },
    ...waiting,
  },
  ...reasons.flatMap((reason) =>
    [true, false].map((live) => ({
      name: `${reason}, ${live ? "last good version live" : "nothing live"}`,
      object: refused(reason, live),
      ...ofReason(reason),
    })),
  ),
];

async function exampleText(path: string): Promise<string> {
  return await readFile(join(root, "deploy/gitops", path), "utf8");
}

it.each(kinds)("Argo CD's health check of %s says what each state is", async (kind) => {
  const { data } = parse(await exampleText("argo-cd/argocd-cm.yaml")) as { data: Record<string, string> };
  const found = await runLua(data[`resource.customizations.health.jsonplane.io_${kind}`] ?? "");
  const expected = states.map(({ name, argo }) => `${name}: ${argo}`);
  expect(states.map(({ name }, at) => `${name}: ${found[at]}`)).toEqual(expected);
});

/** What the check says of every state, each with a message. */
async function runLua(check: string): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), "jsonplane-lua-"));
  const calls = states.map(
    ({ object }) => `obj = ${luaOf(object)}\nhs = check()\nassert(hs.message ~= "")\nprint(hs.status)`,
  );
  try {
    await writeFile(
      join(folder, "check.lua"),
      `local obj\nlocal function check()\n${check}\nend\nlocal hs\n${calls.join("\n")}\n`,
    );
    const done = await runCommand(await requirePart(process.env, lua), [join(folder, "check.lua")]);
    expect([done.code, done.stderr]).toEqual([0, ""]);
    return done.stdout.trim().split("\n");
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** JSON as an expression of Lua; its strings have the escapes that occur here. */
function luaOf(value: unknown): string {
  if (Array.isArray(value)) return `{${value.map(luaOf).join(", ")}}`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([name, member]) => `[${JSON.stringify(name)}] = ${luaOf(member)}`).join(", ")}}`;
}

interface Expressions {
  readonly kind: string;
  readonly inProgress: string;
  readonly failed: string;
  readonly current: string;
}

it.each(kinds)("Flux' health check of %s says what each state is", async (kind) => {
  const documents = parseAllDocuments(await exampleText("flux/shop.yaml")).map((document) => document.toJS());
  const kustomization = documents.find((document) => document.kind === "Kustomization");
  const expressions = kustomization.spec.healthCheckExprs.find((one: Expressions) => one.kind === kind);
  const expected = states.map(({ name, flux }) => `${name}: ${flux}`);
  expect(states.map(({ name, object }) => `${name}: ${fluxSays(expressions, object)}`)).toEqual(expected);
});

/**
 * In Flux' order. An expression that fails, as one of a status that isn't there, means that it
 * waits.
 */
function fluxSays(expressions: Expressions, { metadata, status = {} }: Watched): string {
  for (const name of ["inProgress", "failed", "current"] as const) {
    const context = { metadata: bigGenerations(metadata), status: bigGenerations(status) };
    if (evaluate(expressions[name], context) === true) return name;
  }
  return "inProgress";
}

/** CEL's integers are bigints here. */
function bigGenerations(value: object): object {
  const big = Object.entries(value).map(([name, member]) => [
    name,
    typeof member === "number" ? BigInt(member) : member,
  ]);
  return Object.fromEntries(big);
}
