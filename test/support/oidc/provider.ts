// Starts a certified OpenID provider in a process of its own, and reads what a Project's issuer is
// made of from its discovery document and its key set.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { IssuerConfig, IssuerKey } from "../../../core/config/types.ts";
import { guard } from "../process/watchdog.ts";

interface Discovery {
  readonly jwks_uri?: string;
  readonly authorization_endpoint?: string;
  readonly token_endpoint?: string;
  readonly authorization_response_iss_parameter_supported?: boolean;
}

/** A public client. */
export interface ProviderClient {
  readonly id: string;
  readonly redirectUris: readonly string[];
  /** `aud` of its access tokens, which are JSON Web Tokens then; absent: they are opaque. */
  readonly audience?: string;
  /** Whether its token requests get a refresh token as well. */
  readonly refreshTokens?: boolean;
  /** False: pages of other origins can't read what the token endpoint answers. */
  readonly allowsOrigins?: boolean;
}

export interface ProviderOptions {
  readonly clients: readonly ProviderClient[];
}

export interface StartedProvider {
  readonly url: string;
  readonly keys: readonly IssuerKey[];
  /** How a page signs in as this client. */
  signIn(clientId: string): NonNullable<IssuerConfig["signIn"]>;
  stop(): Promise<void>;
}

const main = fileURLToPath(new URL("provider-process.mjs", import.meta.url));

export async function startProvider(options: ProviderOptions): Promise<StartedProvider> {
  const child = spawn(process.execPath, [main, JSON.stringify(options)], { stdio: ["ignore", "pipe", "inherit"] });
  guard(child);
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).once("line", resolve);
    child.once("exit", () => reject(new Error("The OpenID provider ended before it listened")));
  });
  const read = async (at: string) => (await (await fetch(at)).json()) as Discovery;
  const discovery = (await read(`${url}/.well-known/openid-configuration`)) as Discovery;
  const keySet: unknown = await read(discovery.jwks_uri ?? "");
  const { keys } = keySet as { readonly keys: readonly Readonly<Record<"kid" | "kty" | "crv" | "x" | "y", string>>[] };
  return {
    url,
    keys: keys.map(({ kid, kty, crv, x, y }) => ({ kid, algorithms: ["ES256"], jwk: { kty, crv, x, y } })),
    signIn: (clientId) => ({
      clientId,
      authorizationEndpoint: discovery.authorization_endpoint ?? "",
      tokenEndpoint: discovery.token_endpoint ?? "",
      alwaysSendsIss: discovery.authorization_response_iss_parameter_supported === true,
      scopes: ["openid"],
    }),
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, "exit");
      child.kill();
      await gone;
    },
  };
}
