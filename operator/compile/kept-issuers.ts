// What stays of the issuers that were published while a newer version of their Project can't be served: those that the platform allows and the
// Project still names, with the newest keys, and with no more rights than both versions give. Revoking acts at once, whatever else is wrong.

import { isDeepStrictEqual } from "node:util";
import type { IssuerConfig, ProjectParts, ServiceAccountGrant } from "../../core/config/types.ts";
import { isClusterIssuer } from "../../core/issuers/issuer-kind.ts";
import { readKeySet } from "../../core/issuers/key-set.ts";
import type { IssuerSource, IssuersContext } from "../model/issuers.ts";
import type { Project } from "../model/objects.ts";
import { type DeclaredIssuer, declaredIn, isSameIssuer, termsOf } from "./declared-issuers.ts";

type Issuers = ProjectParts["issuers"];

/**
 * Of what was published: what the Project's present spec still grants, too. An issuer of which nothing has become less is the same object;
 * one that has lost all audiences, ServiceAccounts or keys is not there.
 */
export function stillGranted(project: Project, published: Issuers, isAllowed: IssuersContext["isAllowed"]): Issuers {
  const byName = new Map(declaredIn(project).map((declared) => [declared.name, declared]));
  const left = [...stillAllowed(published, isAllowed).values()].flatMap((config) => {
    const declared = byName.get(config.name);
    return declared !== undefined && isSameIssuer(declared, config) ? narrowed(config, declared) : [];
  });
  return new Map(left.map((config) => [config.name, config]));
}

export function stillAllowed(published: Issuers, isAllowed: IssuersContext["isAllowed"]): Issuers {
  return new Map([...published].filter(([, config]) => isClusterIssuer(config) || isAllowed(config.url)));
}

/**
 * The same issuers with the keys that they have by now, of `sources` by their names: new keys are no change of the Project, and what waits for
 * one must not go on trusting keys that an issuer has given up.
 */
export function withNewestKeys(
  published: Issuers,
  sources: ReadonlyMap<string, IssuerSource>,
  { lookUp }: Pick<IssuersContext, "lookUp">,
): Issuers {
  const newest = ([name, config]: readonly [string, IssuerConfig]): readonly [string, IssuerConfig] => {
    const source = sources.get(name);
    const known = source && config.keysAreFetched ? lookUp(source) : undefined;
    const isSame = known?.state === "known" && known.content.url === config.url;
    return [name, isSame ? { ...config, keys: known.content.keys } : config];
  };
  return new Map([...published].map(newest));
}

/** The rights that both versions give: none of it, or one issuer. */
function narrowed(config: IssuerConfig, declared: DeclaredIssuer): readonly IssuerConfig[] {
  const terms = termsOf(declared);
  const serviceAccounts = accountsOfBoth(config.serviceAccounts, terms.serviceAccounts ?? []);
  const both: IssuerConfig = {
    ...config,
    audiences: config.audiences.filter((audience) => terms.audiences.includes(audience)),
    claimRules: [...config.claimRules, ...terms.claimRules.filter(isNotIn(config.claimRules))],
    access: lesserAccess(config, terms),
    administrators: config.administrators.filter((rule) => !isNotIn(terms.administrators)(rule)),
    ...(serviceAccounts !== undefined && { serviceAccounts }),
    keys: keysOfBoth(config, declared),
  };
  const hasLostItsKeys = both.keys.length === 0 && config.keys.length > 0;
  if (both.audiences.length === 0 || serviceAccounts?.length === 0 || hasLostItsKeys) return [];
  return [isDeepStrictEqual(both, config) ? config : both];
}

function accountsOfBoth(
  former: IssuerConfig["serviceAccounts"],
  present: readonly ServiceAccountGrant[],
): IssuerConfig["serviceAccounts"] {
  return former?.flatMap((account) => {
    const { namespace, name } = account;
    const now = present.find((each) => each.namespace === namespace && each.name === name);
    if (now === undefined) return [];
    const role = account.role === "Administrators" ? now.role : account.role;
    return [{ namespace, name, role, access: lesserAccess(account, now) }];
  });
}

type WithAccess = Pick<ServiceAccountGrant, "access">;

function lesserAccess(one: WithAccess, other: WithAccess): WithAccess["access"] {
  return one.access === "Write" ? other.access : one.access;
}

/** Keys that the manifest had, or that it leaves out now that it says which count, may have been removed because they are not to be trusted. */
function keysOfBoth(
  { keysAreFetched, keys }: IssuerConfig,
  { issuer: { jwks } }: DeclaredIssuer,
): IssuerConfig["keys"] {
  if (jwks === undefined) return keysAreFetched ? keys : [];
  const set = readKeySet(jwks);
  // A set that can't be read removes nothing.
  return set.ok ? keys.filter((key) => !isNotIn(set.keys)(key)) : keys;
}

function isNotIn<T>(list: readonly T[]): (item: T) => boolean {
  return (item) => !list.some((each) => isDeepStrictEqual(each, item));
}
