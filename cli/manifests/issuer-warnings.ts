// What of a Project's issuers is valid but probably not meant, each with what to write instead:
// issuers whose tokens never count, and issuers that let everybody in. `jsonplane validate` and dev
// mode report the same, except for what only dev mode accepts.

import type { DeclaredIssuer } from "../../operator/compile/issuers.ts";
import { type CheckedManifest, located } from "./check-manifests.ts";
import type { SourceNote } from "./source.ts";

interface Warning {
  /** Pointer into the issuer. */
  readonly at: string;
  readonly detail: string;
}

type Check = (issuer: DeclaredIssuer) => Warning | readonly Warning[] | undefined;

/** What dev mode fetches from this machine, a cluster never does. */
const onlyInDevMode: Check = ({ issuer: { url } }) =>
  url?.startsWith("http:")
    ? { at: "/issuer/url", detail: "Only dev mode takes an issuer without TLS: a cluster refuses this one" }
    : undefined;

const wellKnown = /\/\.well-known\/[^/]+\/?$/;
const manyTenants = /^https:\/\/login\.microsoftonline\.com\/(common|organizations|consumers)(\/|$)/;

/** For issuers with accounts for everybody: the claim that identifies one's own users. */
const ownClaims: ReadonlyMap<string, string> = new Map([
  ["https://token.actions.githubusercontent.com", "repository_owner_id"],
  ["https://accounts.google.com", "hd"],
]);

const checks: readonly Check[] = [
  ({ issuer: { url = "" } }) => {
    if (!wellKnown.test(url)) return undefined;
    const issuer = url.replace(wellKnown, "");
    const detail = `Is where the issuer's document is, and so no token's iss: write the issuer as its document names it, such as ${issuer}`;
    return { at: "/issuer/url", detail };
  },
  ({ issuer: { url = "" } }) => {
    const [, name] = manyTenants.exec(url) ?? [];
    if (name === undefined) return undefined;
    const detail = `Tokens name the tenant that they are from, so that none has this iss: write the tenant's id in place of ${name}`;
    return { at: "/issuer/url", detail };
  },
  ({ issuer: { url = "" }, claimValidationRules = [] }) => {
    const claim = ownClaims.get(url);
    // Whose address is verified, everybody can have verified.
    if (claim === undefined || claimValidationRules.some((rule) => rule.claim !== "email_verified")) return undefined;
    const detail = `Lets in everybody with an account there: write claimValidationRules, such as { claim: ${claim}, requiredValue: … }`;
    return { at: "/issuer/url", detail };
  },
  ({ issuer: { url }, clientId }) => {
    if (url !== "https://accounts.google.com" || clientId === undefined) return undefined;
    const detail =
      "Google gives tokens only to clients with a secret, which a page can't keep: /docs and /console can't sign in with it, so leave it out";
    return { at: "/clientId", detail };
  },
  ({ claimMappings, claimValidationRules = [] }) => {
    const isVerified = claimValidationRules.some(({ claim }) => claim === "email_verified");
    if (claimMappings?.username?.claim !== "email" || isVerified) return undefined;
    const rule = '{ claim: email_verified, requiredValue: "true" }';
    const detail = `Who enters somebody else's address at the issuer may get that person's name: add ${rule} to claimValidationRules, or leave out claimMappings for the claim sub`;
    return { at: "/claimMappings/username/claim", detail };
  },
  (issuer) =>
    claimsOf(issuer)
      .filter(({ claim }) => isPath(claim))
      .map(({ at, claim }) => {
        const [outer] = claim.split(".");
        const detail = `Is looked up at the top level of the token by this whole name, and not inside of ${outer}: have the issuer add a claim at the top level`;
        return { at, detail };
      }),
];

export function issuerWarnings(checked: CheckedManifest, where: "any cluster" | "dev mode"): readonly SourceNote[] {
  const { manifest, source } = checked;
  if (manifest.kind !== "Project") return [];
  const applying = where === "dev mode" ? checks : [onlyInDevMode, ...checks];
  const { issuers = [] } = manifest.spec.authentication;
  return issuers.flatMap((issuer, position) =>
    applying
      .flatMap((check) => check(issuer) ?? [])
      .map(({ at, detail }) => {
        const pointer = `/spec/authentication/issuers/${position}${at}`;
        return { ...located(source, { pointer, detail }), isWarning: true } as const;
      }),
  );
}

function claimsOf(issuer: DeclaredIssuer): readonly { readonly at: string; readonly claim: string }[] {
  const { claimMappings, claimValidationRules = [], administrators = [] } = issuer;
  const username = claimMappings?.username?.claim;
  return [
    ...(username === undefined ? [] : [{ at: "/claimMappings/username/claim", claim: username }]),
    ...claimValidationRules.map(({ claim }, index) => ({ at: `/claimValidationRules/${index}/claim`, claim })),
    ...administrators.map(({ claim }, index) => ({ at: `/administrators/${index}/claim`, claim })),
  ];
}

/**
 * `realm_access.roles`. Dots are usual in names that are URLs, as in `https://example.org/roles`,
 * and in `org.example.roles`.
 */
function isPath(claim: string): boolean {
  return /^[^.]+(\.[^.]+)+$/.test(claim) && !/[/:]|^(com|org|net|io|dev)\./.test(claim);
}
