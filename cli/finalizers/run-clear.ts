// Connects to the API server as kubectl would and clears finalizers there. What a person must fix
// is a sentence and exit code 1; a command line that does not say which objects are meant is
// refused with 2.

import type { Kind } from "../../core/manifests/object.ts";
import { applyFinalizer, finalizer, hasFinalizer } from "../../operator/deletion/finalizers.ts";
import { ApiFailure, isConflict, isNotFound, type KubeApi, type KubeObject } from "../../operator/kube/api.ts";
import { createKubeApi } from "../../operator/kube/connect.ts";
import { customTypes } from "../../operator/kube/objects.ts";
import { finalizedKinds } from "../../operator/model/kinds.ts";
import type { CustomResource } from "../../operator/model/objects.ts";
import { isDeleting } from "../../operator/model/project-objects.ts";
import { apiServerOptions, whyNoApiServer } from "../api-server.ts";
import type { ClearSettings } from "./settings.ts";

export async function runClear(settings: ClearSettings): Promise<number> {
  const { namespace, allNamespaces, kubeconfig } = settings;
  if ((namespace === undefined) === !allNamespaces) {
    process.stderr.write("jsonplane: finalizers clear needs either --namespace NAME or --all-namespaces\n");
    return 2;
  }
  try {
    const { api } = await createKubeApi({ ...apiServerOptions(kubeconfig), observe: () => undefined });
    try {
      return await clearFinalizers({ ...settings, api, out: (line) => void process.stdout.write(`${line}\n`) });
    } finally {
      await api.close();
    }
  } catch (error) {
    const why = whyNoApiServer(error);
    if (why === undefined) throw error;
    process.stderr.write(`jsonplane: ${why}\n`);
    return 1;
  }
}

export interface ClearOptions {
  readonly api: Pick<KubeApi, "list" | "get" | "apply" | "replace">;
  /** Absent = all. */
  readonly namespace: string | undefined;
  /** Absent = every kind that can have the finalizer. */
  readonly kind: Kind | undefined;
  readonly dryRun: boolean;
  /** Also objects that nobody has deleted. */
  readonly force: boolean;
  /** Takes one line at a time. */
  readonly out: (line: string) => void;
}

/** The kinds that have data. */
const pageSize = 500;
const maxAttempts = 3;

type ClearResult = "cleared" | "left" | "failed";

/** Exit code: 1 when an object could not be cleared, or a kind not be read. */
export async function clearFinalizers(options: ClearOptions): Promise<number> {
  const { out, kind } = options;
  const results: ClearResult[] = [];
  for (const each of kind === undefined ? finalizedKinds : [kind]) results.push(...(await clearKind(options, each)));
  out(results.length === 0 ? `No object has the finalizer ${finalizer}` : sumOf(results, options));
  if (results.includes("cleared")) out("Their data stay in Redis: see docs/reference/uninstall.md for what remains");
  return results.includes("failed") ? 1 : 0;
}

function sumOf(results: readonly ClearResult[], { dryRun }: ClearOptions): string {
  const words = { cleared: dryRun ? "would be cleared" : "cleared", left: "left alone", failed: "failed" };
  const counts = Object.entries(words).map(([result, word]) => {
    return { result, count: results.filter((each) => each === result).length, word };
  });
  return counts
    .filter(({ result, count }) => count > 0 || result === "cleared")
    .map(({ count, word }) => `${count} ${word}`)
    .join(", ");
}

async function clearKind(options: ClearOptions, kind: Kind): Promise<readonly ClearResult[]> {
  try {
    const found = await holders(options, kind);
    const results: ClearResult[] = [];
    for (const object of found) results.push(await clearOne(options, kind, object));
    return results;
  } catch (error) {
    const { plural, group } = customTypes[kind];
    // Without the CRD there is no object that could wait.
    if (isNotFound(error)) options.out(`${kind}: the API server has no ${plural}.${group}; its CRD is not installed`);
    else if (error instanceof ApiFailure) options.out(`${kind}: can't be listed: ${reasonOf(error)}`);
    else throw error;
    return isNotFound(error) ? [] : ["failed"];
  }
}

async function holders({ api, namespace }: ClearOptions, kind: Kind): Promise<readonly KubeObject[]> {
  const found: KubeObject[] = [];
  let next: string | undefined;
  do {
    const page = await api.list(customTypes[kind], {
      limit: pageSize,
      ...(namespace !== undefined && { namespace }),
      ...(next !== undefined && { continue: next }),
    });
    found.push(...page.items.filter((object) => hasFinalizer(object)));
    next = page.continue;
  } while (next !== undefined && next !== "");
  return found;
}

async function clearOne(options: ClearOptions, kind: Kind, object: KubeObject): Promise<ClearResult> {
  const { out } = options;
  const { namespace, name } = object.metadata;
  const say = (result: ClearResult, what: string): ClearResult => {
    out(`${kind} ${namespace}/${name}: ${what}`);
    return result;
  };
  if (!isDeleting(object) && !options.force) {
    return say("left", "left alone, nobody has deleted it; --force takes its finalizer all the same");
  }
  if (options.dryRun) return say("cleared", "its finalizer would be removed");
  try {
    return await removeFrom(options, { kind, object, attempt: 1, say });
  } catch (error) {
    if (!(error instanceof ApiFailure)) throw error;
    return say("failed", `can't be changed: ${reasonOf(error)}`);
  }
}

interface Removal {
  readonly kind: Kind;
  readonly object: KubeObject;
  readonly attempt: number;
  readonly say: (result: ClearResult, what: string) => ClearResult;
}

async function removeFrom(options: ClearOptions, removal: Removal): Promise<ClearResult> {
  const { api } = options;
  const { kind, object, attempt, say } = removal;
  try {
    const { outcome } = await applyFinalizer(api, asResource(kind, object), false);
    if (outcome === "gone") return say("cleared", "its finalizer is removed, and the object is gone");
    if (outcome === "changed") return say("cleared", "its finalizer is removed");
    return say("left", `something else set its finalizer; remove ${finalizer} with kubectl edit`);
  } catch (error) {
    if (!isConflict(error) || attempt >= maxAttempts) throw error;
    const now = await api.get(customTypes[kind], object.metadata);
    // Created again under the same name.
    if (now === undefined || now.metadata.uid !== object.metadata.uid) return say("cleared", "it is gone by now");
    return await removeFrom(options, { ...removal, object: now, attempt: attempt + 1 });
  }
}

function reasonOf({ status, message }: ApiFailure): string {
  if (status !== 401 && status !== 403) return message;
  const needs = "requires the verbs get, list, patch and update on projects, apiresources and rootkeys of jsonplane.io";
  return `${message}; ${needs}`;
}

/** A list's items say no kind of their own. */
function asResource(kind: Kind, object: KubeObject): CustomResource {
  return { ...object, kind } as unknown as CustomResource;
}
