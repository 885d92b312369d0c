// Whether the API server refuses the credentials of this process, by what it answers to calls. Credentials are loaded again after each
// refusal (../kube/http-transport.ts), so that those of a ServiceAccount which was deleted stay refused until its pods are replaced.

import type { CallObserved } from "../kube/http-transport.ts";

export interface RefusedCredentials {
  observe(call: CallObserved): void;
  /** What is wrong and what to do, while the last answer was a refusal. */
  fault(): string | undefined;
}

export const refusedAdvice =
  "Look at the token in --kubeconfig. If the ServiceAccount of the pods was deleted, create it and replace the pods: a restarted container keeps the token of the former one";

/** Passes what it observes on to `next`. */
export function createRefusedCredentials(next: (call: CallObserved) => void): RefusedCredentials {
  let isRefused = false;
  return {
    observe(call) {
      // Without an answer it is not known.
      if (call.code !== "<error>") isRefused = call.code === "401";
      next(call);
    },
    fault: () => (isRefused ? "the API server refuses the operator's credentials (401 Unauthorized)" : undefined),
  };
}
