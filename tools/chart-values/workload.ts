// Values that several workloads of the chart have alike.

import { anyObject, choice, count, group, kubernetes, list, text, texts, type ValueSchema } from "./declare.ts";

export interface Sizes {
  readonly requests: Readonly<Record<string, string>>;
  readonly limits: Readonly<Record<string, string>>;
}

export function placement(sizes: Sizes): Readonly<Record<string, ValueSchema>> {
  return {
    resources: kubernetes("Resources of its container, as ResourceRequirements.", { ...sizes }),
    nodeSelector: texts("Labels of the nodes to run on."),
    tolerations: list("Taints to tolerate.", anyObject),
    affinity: kubernetes("Affinity of the pods."),
    priorityClassName: text("PriorityClass of the pods."),
    podLabels: texts("Further labels of the pods."),
    podAnnotations: texts("Further annotations of the pods."),
  };
}

export function image(description: string, repository: string, tag: ValueSchema): ValueSchema {
  return group(description, {
    repository: text("Name, with a registry's host in front where it isn't the default one.", repository, {
      minLength: 1,
    }),
    tag,
    digest: text("Digest such as `sha256:…`; wins over the tag.", "", { pattern: "^(sha256:[0-9a-f]{64})?$" }),
    pullPolicy: choice("When it is pulled.", "IfNotPresent", ["Always", "IfNotPresent", "Never"]),
  });
}

export function logLevel(description: string): ValueSchema {
  return choice(description, "info", ["debug", "info", "warn", "error", "silent"]);
}

/** What is not heap takes the rest: buffers, code, and passwords that are being judged. */
export function heapPercent(fallback: number): ValueSchema {
  return count(
    "How much of `resources.limits.memory` the heap of Node may take, in per cent, by NODE_OPTIONS; 0, or no limit = what Node takes by itself. `NODE_OPTIONS` in `extraEnv` replaces it.",
    fallback,
    [0, 95],
  );
}

export const extraEnv: ValueSchema = list(
  "Further environment variables of the container, as in a pod's `env`.",
  anyObject,
);

export const classPattern = "^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)?$";
