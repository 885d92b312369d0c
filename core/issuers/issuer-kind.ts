// What follows from which issuer it is.

import type { IssuerConfig } from "../config/types.ts";

/** Whether it is this cluster's own, whose callers are the ServiceAccounts that it lists; every other one has an address of its own. */
export function isClusterIssuer(
  issuer: IssuerConfig,
): issuer is IssuerConfig & Required<Pick<IssuerConfig, "serviceAccounts">> {
  return issuer.serviceAccounts !== undefined;
}

/** The terminating slash of an issuer is left out before the path is added (OpenID Connect Discovery 1.0, section 4.1). */
export function discoveryUrl(issuer: string): string {
  return `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
}
