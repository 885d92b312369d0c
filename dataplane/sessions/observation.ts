// What authentication reports of its work; the program turns each into a metric and a log line. No secrets in here.

import type { ProjectRef } from "../../core/config/types.ts";

export type AuthenticationObservation =
  | {
      readonly kind: "login";
      readonly project: ProjectRef;
      /**
       * `throttled`: after too many failures. `limited`: right, but the project has its maximum of sessions. `failed`: neither checked nor
       * refused, the store or the directory did not answer.
       */
      readonly outcome: "opened" | "refused" | "throttled" | "limited" | "busy" | "failed";
    }
  | { readonly kind: "refresh"; readonly project: ProjectRef; readonly outcome: "refreshed" | "refused" | "failed" }
  | { readonly kind: "session_ended"; readonly project: ProjectRef }
  /** A login that was no failure could not be given back to its budget, which is one smaller for a while. */
  | { readonly kind: "refund_failed"; readonly project: ProjectRef; readonly cause: unknown }
  | { readonly kind: "password_queue"; readonly running: number; readonly waiting: number };

export type Observe = (observation: AuthenticationObservation) => void;
