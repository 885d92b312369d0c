// The step of a reconcile that compiles: objects, credentials and what is known of stored data
// become the configuration to serve, a verdict per object, and what to record of the data. Nothing
// is written.

import { compileProject } from "../compile/compile-project.ts";
import { noHosts } from "../compile/hosts.ts";
import { type DataEvaluation, withUnserved } from "../finalize/data-plan.ts";
import { planKeptData } from "../finalize/kept-data.ts";
import type { CompiledProject, ResolvedProject } from "../status/outcomes.ts";
import type { Pass } from "./pass.ts";

export function compileStep(pass: Pass, evaluation: DataEvaluation, resolved: ResolvedProject): CompiledProject {
  const { objects, published, namespaceUid, deps } = pass;
  const now = deps.clock.now();
  const requests = deps.deletions.requestsOf(objects.ref);
  const { parts, verdicts, ...pending } = compileProject({
    ...objects,
    signing: resolved.signing,
    credentials: resolved.credentials,
    hosts: objects.project === undefined ? noHosts : deps.grantOf(objects.project),
    issuers: deps.issuers,
    foreignData: evaluation.foreignData,
    openPurges: evaluation.openPurges,
    checkResource: deps.checkResource,
    ...(published.parts !== undefined && { published: published.parts }),
  });
  const data = planKeptData(evaluation, {
    objects,
    parts: namespaceUid === undefined ? undefined : parts,
    namespaceUid,
    requests,
    now,
  });
  return { parts: parts && withUnserved(parts, data.record), verdicts, ...pending, data, requests, evaluatedAt: now };
}
