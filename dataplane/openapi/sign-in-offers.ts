// Turns a project's external issuers into what its pages need to sign people in there: facts for the page's HTML, and the origins that its
// policy has to admit. Nothing for a project of which no issuer has a client.

import type { IssuerConfig } from "../../core/config/types.ts";
import { type OfferedIssuer, offeredIssuersId, safeOriginOf } from "../../pages/sign-in/offered-issuer.ts";
import type { LiveProject } from "../config/directory.ts";
import type { PageAddition } from "../http/page.ts";

/** The same object as long as the project is the same. */
export type SignInOffers = (project: LiveProject) => PageAddition | undefined;

export function createSignInOffers(): SignInOffers {
  const made = new WeakMap<LiveProject["issuers"], PageAddition>();
  return ({ issuers }) => {
    // Nearly all projects: asked for nothing.
    if (issuers.size === 0) return undefined;
    let addition = made.get(issuers);
    if (addition === undefined) {
      addition = additionOf(issuers);
      if (addition !== undefined) made.set(issuers, addition);
    }
    return addition;
  };
}

function additionOf(issuers: LiveProject["issuers"]): PageAddition | undefined {
  const usable = [...issuers.values()].flatMap(offerOf).sort((one, other) => (one.name < other.name ? -1 : 1));
  if (usable.length === 0) return undefined;
  // Nothing in it can end the element.
  const json = JSON.stringify(usable).replaceAll("<", "\\u003c");
  return {
    html: `<script type="application/json" id="${offeredIssuersId}">${json}</script>`,
    connectTo: [...new Set(usable.flatMap(({ tokenEndpoint }) => safeOriginOf(tokenEndpoint) ?? []))].sort(),
  };
}

function offerOf({ name, url, audiences, signIn }: IssuerConfig): readonly OfferedIssuer[] {
  if (signIn === undefined) return [];
  const { authorizationEndpoint, tokenEndpoint } = signIn;
  const isSafe = [authorizationEndpoint, tokenEndpoint].every((endpoint) => safeOriginOf(endpoint) !== undefined);
  return isSafe ? [{ name, url, audiences, ...signIn }] : [];
}
