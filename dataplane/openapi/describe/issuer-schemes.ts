// Turns the external issuers of a project into security schemes, and adds those to the credentials that an operation takes.

import type { IssuerConfig, JsonObject } from "../../../core/config/types.ts";
import { discoveryUrl, isClusterIssuer } from "../../../core/issuers/issuer-kind.ts";

/** The dot keeps it apart from the schemes that every project has: the name of an issuer has none, and neither have those. */
export function schemeNameOf({ name }: IssuerConfig): string {
  return `issuer.${name}`;
}

export function issuerSchemes(issuers: readonly IssuerConfig[]): Readonly<Record<string, JsonObject>> {
  return Object.fromEntries(issuers.map((issuer) => [schemeNameOf(issuer), schemeOf(issuer)]));
}

/** Tokens of issuers count wherever an API key does; operations for tokens of this service's own sessions take none. */
export function withIssuers(security: readonly JsonObject[], issuers: readonly IssuerConfig[]): readonly JsonObject[] {
  if (!security.some((each) => "apikey" in each)) return security;
  return [...security, ...issuers.map((issuer) => ({ [schemeNameOf(issuer)]: [] }))];
}

function schemeOf(issuer: IssuerConfig): JsonObject {
  const { name, url, audiences, keysAreFetched } = issuer;
  const isOfCluster = isClusterIssuer(issuer);
  const audience = audiences.map((each) => `\`${each}\``).join(" or ");
  const token = `A JSON Web Token of \`${url}\` whose \`aud\` has ${audience}: \`Authorization: bearer <TOKEN>\`.`;
  const caller = `Its callers are named \`${name}/<username>\`.`;
  // Clients can't reach the discovery document of a cluster, and an issuer whose keys are in the manifest may have none.
  if (!isOfCluster && keysAreFetched) {
    return { type: "openIdConnect", openIdConnectUrl: discoveryUrl(url), description: `${token} ${caller}` };
  }
  const account = isOfCluster ? " It is the token of a Kubernetes ServiceAccount." : "";
  return { type: "http", scheme: "bearer", bearerFormat: "JWT", description: `${token}${account} ${caller}` };
}
