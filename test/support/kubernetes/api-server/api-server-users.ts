// Who may ask a test's API server: the administrator and named users by fixed tokens, service
// accounts by tokens that the server signs. Writes the files that the server and its clients read.

import { generateKeyPairSync, randomUUID } from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * Who asks: the administrator, a user of `users`, or a service account, which is made where it
 * isn't there.
 */
export type TestUser =
  | "admin"
  | { readonly user: string }
  | { readonly namespace: string; readonly serviceAccount: string };

/** The name that the API server knows a user by. */
export function userName(user: TestUser): string {
  if (user === "admin") return "admin";
  return "user" in user ? user.user : `system:serviceaccount:${user.namespace}:${user.serviceAccount}`;
}

/** A user by a fixed token. */
export interface StaticUser {
  readonly name: string;
  readonly token: string;
  readonly groups?: readonly string[];
}

/** Good for a server on 127.0.0.1 that lives as long as a test. */
export const adminToken = "test-administrator";

export const tokensFile = (dir: string): string => join(dir, "tokens.csv");
export const serviceAccountKey = (dir: string): string => join(dir, "service-accounts.key");

export async function writeTokens(dir: string, users: readonly StaticUser[]): Promise<void> {
  const all: readonly StaticUser[] = [{ name: "admin", token: adminToken, groups: ["system:masters"] }, ...users];
  const lines = all.map(({ name, token, groups = [] }) => `${token},${name},${name},"${groups.join(",")}"`);
  await writeFile(tokensFile(dir), `${lines.join("\n")}\n`, { mode: 0o600 });
}

/** The server derives the public key from the private one. */
export async function writeServiceAccountKeys(dir: string): Promise<void> {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  const pem = privateKey.export({ type: "sec1", format: "pem" });
  await writeFile(serviceAccountKey(dir), pem, { mode: 0o600 });
}

export interface Reachable {
  readonly dir: string;
  readonly url: string;
  readonly certificate: string;
}

/** Writes a kubeconfig of one user, and returns its path. */
export async function writeKubeconfig(server: Reachable, user: string, token: string): Promise<string> {
  const authority = await readFile(server.certificate, "base64");
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "test", cluster: { server: server.url, "certificate-authority-data": authority } }],
    users: [{ name: user, user: { token } }],
    contexts: [{ name: "test", context: { cluster: "test", user } }],
    "current-context": "test",
  };
  const path = join(server.dir, `${user.replaceAll(":", "-")}.kubeconfig`);
  // JSON is YAML. Several processes may write the same file of a shared server, and none may read
  // half of it.
  const draft = `${path}-${randomUUID()}`;
  await writeFile(draft, JSON.stringify(config), { mode: 0o600 });
  await rename(draft, path);
  return path;
}
