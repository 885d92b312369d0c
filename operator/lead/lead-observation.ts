// What there is to see of a process that wants to lead, or does.

export type LeadObservation =
  /** The holder changed; empty = the Lease has none. */
  | { readonly kind: "holder"; readonly holder: string }
  | { readonly kind: "acquired"; readonly transitions: number }
  /** A call failed; the next one follows. */
  | { readonly kind: "failed"; readonly error: unknown }
  | { readonly kind: "ended"; readonly why: EndReason }
  /** The Lease could not be released: others wait until it expires. */
  | { readonly kind: "release_failed"; readonly error: unknown };

/** `overdue` = not renewed in time, or this process was paused; `taken` = the Lease is another's, or gone. */
export type EndReason = "overdue" | "taken" | "released";
