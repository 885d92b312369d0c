// provider.ts: where people sign in.

import type { ExtraSigninRequestArgs } from "oidc-client-ts";

export const provider = {
  /** The Project's issuer.url. */
  authority: "https://login.example.org/realms/main",
  /** The name by which the provider knows this app. */
  client_id: "tasks-app",
  /** `profile` is for the person's name, which the app shows. */
  scope: "openid profile",
};

/**
 * What the provider has to be sent beside, to give an access token for the Project and a refresh
 * token.
 */
export const extraArgs: ExtraSigninRequestArgs = {};
