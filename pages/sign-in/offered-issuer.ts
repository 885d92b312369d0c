// An external issuer at which people may sign in, as the data plane writes it into the page's HTML.
// Public facts only: the page has them before anybody has signed in.

export interface OfferedIssuer {
  readonly name: string;
  /** `iss` of its tokens. */
  readonly url: string;
  /** The project takes tokens for one of them. */
  readonly audiences: readonly string[];
  readonly clientId: string;
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  /** Whether its answers always say whose they are, by `iss` (RFC 9207). */
  readonly alwaysSendsIss: boolean;
  /** What is asked for. */
  readonly scopes: readonly string[];
}

/** Identifies the issuer of a stored request or token. */
export type IssuerIdentity = Pick<OfferedIssuer, "name" | "url">;

/** By both: another issuer may have the name now, which must not get this one's tokens. */
export function findIssuer(
  issuers: readonly OfferedIssuer[],
  identity: IssuerIdentity | undefined,
): OfferedIssuer | undefined {
  return issuers.find(({ name, url }) => name === identity?.name && url === identity.url);
}

/**
 * Id of the element in which the page has them as JSON; a project without any has no such element.
 */
export const offeredIssuersId = "issuers";
/** Name of the meta element of dev mode's pages (dev-mode.ts). */
export const devModeMeta = "jsonplane-dev";

/**
 * A host as a source of a Content-Security-Policy, reached by TLS or on this machine. URLs admit
 * more: `;` and `,` in a host would begin another directive or policy, and `*` stand for other
 * hosts.
 */
const origins = /^(?:https:\/\/[a-z0-9.-]+|http:\/\/(?:localhost|127\.0\.0\.1))(?::[0-9]+)?$/;

/** Of an endpoint; undefined where a page can't go there safely. */
export function safeOriginOf(endpoint: string): string | undefined {
  const { origin, protocol } = URL.parse(endpoint) ?? {};
  // Those of blobs have the origin of the page that made them, and lead into it.
  return origin !== undefined && protocol !== "blob:" && origins.test(origin) ? origin : undefined;
}
