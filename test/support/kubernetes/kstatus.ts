// How the tools that wait for objects (Helm, Flux, Argo CD's fallback) read one of a kind that they
// don't know: kstatus' rules for generations, the conditions Reconciling, Stalled and Ready, and
// deletion, in our own words.

export type KStatus = "Terminating" | "InProgress" | "Failed" | "Current";

export interface Watched {
  readonly metadata: { readonly generation?: number; readonly deletionTimestamp?: string };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

/** The first rule that applies decides. */
export function kstatusOf({ metadata, status = {} }: Watched): KStatus {
  const { observedGeneration, conditions = [] } = status;
  const statusOf = (type: string): string | undefined => conditions.find((one) => one.type === type)?.status;
  if (metadata.deletionTimestamp !== undefined) return "Terminating";
  // The controller has not looked at the newest spec: whatever else it says is about another one.
  if (observedGeneration !== undefined && observedGeneration !== metadata.generation) return "InProgress";
  if (statusOf("Reconciling") === "True") return "InProgress";
  if (statusOf("Stalled") === "True") return "Failed";
  const ready = statusOf("Ready");
  // Of an object that never says Ready nothing is expected.
  return ready === undefined || ready === "True" ? "Current" : "InProgress";
}
