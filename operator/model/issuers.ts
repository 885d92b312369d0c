// External issuers as compile and whoever fetches their keys talk of them.

import type { IssuerKey, IssuerSignIn } from "../../core/config/types.ts";

/**
 * Where keys come from that are not in the manifest. Equal sources are fetched once, for all
 * Projects together.
 */
export type IssuerSource =
  /** This cluster's API server. */
  { readonly kind: "cluster" } | { readonly kind: "url"; readonly url: string; readonly certificateAuthority?: string };

/** Where a browser signs in. */
export type IssuerEndpoints = Omit<IssuerSignIn, "clientId" | "scopes">;

/** What an issuer has published. */
export interface IssuerContent {
  /** `iss` of its tokens. */
  readonly url: string;
  readonly keys: readonly IssuerKey[];
  /** Absent where its discovery document names none. */
  readonly endpoints?: IssuerEndpoints;
}

export type KnownIssuer =
  /**
   * `failure`: by now it can't be fetched any more, and this is what it had. A clause of our own
   * words.
   */
  | { readonly state: "known"; readonly content: IssuerContent; readonly failure?: string }
  /** It is being fetched for the first time. */
  | { readonly state: "pending" }
  | { readonly state: "unreachable"; readonly failure: string }
  /** Nobody fetches here, and what it would give counts as good. */
  | { readonly state: "assumed" };

/** What compile has to know of issuers beyond the Project itself. */
export interface IssuersContext {
  /** Whether the platform lets Projects name this URL. */
  readonly isAllowed: (url: string) => boolean;
  readonly lookUp: (source: IssuerSource) => KnownIssuer;
}
