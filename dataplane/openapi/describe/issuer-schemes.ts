// Turns the external issuers of a project into security schemes, and adds those to the credentials that an operation takes.

import type { IssuerConfig, JsonObject } from "../../../core/config/types.ts";

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

function schemeOf({ name, url, audiences, keysAreFetched, serviceAccounts }: IssuerConfig): JsonObject {
  const audience = audiences.map((each) => `\`${each}\``).join(" or ");
  const token = `A JSON Web Token of \`${url}\` whose \`aud\` has ${audience}: \`Authorization: bearer <TOKEN>\`.`;
  const caller = `Its callers are named \`${name}/<username>\`.`;
  // Clients can't reach the discovery document of a cluster, and an issuer whose keys are in the manifest may have none.
  if (serviceAccounts === undefined && keysAreFetched) {
    return { type: "openIdConnect", openIdConnectUrl: discoveryUrlOf(url), description: `${token} ${caller}` };
  }
  const account = serviceAccounts === undefined ? "" : " It is the token of a Kubernetes ServiceAccount.";
  return { type: "http", scheme: "bearer", bearerFormat: "JWT", description: `${token}${account} ${caller}` };
}

/** OpenID Connect Discovery 1.0, section 4: without the slash at the end of the issuer. */
function discoveryUrlOf(issuer: string): string {
  return `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
}
