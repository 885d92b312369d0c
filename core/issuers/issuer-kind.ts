// What follows from which issuer it is.

import type { IssuerConfig } from "../config/types.ts";

/** Whether it is this cluster's own issuer, for its ServiceAccounts; others have a URL. */
export function isClusterIssuer(
  issuer: IssuerConfig,
): issuer is IssuerConfig & Required<Pick<IssuerConfig, "serviceAccounts">> {
  return issuer.serviceAccounts !== undefined;
}

/** Without the issuer's final slash (OpenID Connect Discovery 1.0, section 4.1). */
export function discoveryUrl(issuer: string): string {
  return `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
}
