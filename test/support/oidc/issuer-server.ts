// An external issuer over HTTPS in the process of a test: what it answers can be changed between
// requests, and each request is noted. Its certificate is of an authority of its own, which a
// Project has to name.

import { generateKeyPairSync, type JsonWebKey } from "node:crypto";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { createServer as createPlainServer } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { makeCertificate } from "../tls/certificates.ts";

export interface IssuerServer {
  readonly url: string;
  /** PEM of the authority; empty over plain HTTP. */
  readonly certificateAuthority: string;
  /** Paths of the requests so far. */
  readonly requests: string[];
  /** What it answers with from now on: usual answers, unless `change` gives others. */
  change(change: IssuerAnswers): void;
  close(): Promise<void>;
}

export interface IssuerAnswers {
  readonly keys?: readonly JsonWebKey[];
  /** Further members of the discovery document, or others. */
  readonly discovery?: Readonly<Record<string, unknown>>;
  readonly cacheControl?: string;
  /** Answers requests instead, for those that it takes. */
  readonly answer?: (request: IncomingMessage, response: ServerResponse) => boolean;
}

export interface IssuerServerOptions {
  /** Without TLS. */
  readonly plain?: true;
  /** Path of the issuer, such as `/realms/main`. */
  readonly path?: string;
  /** In the URL; `localhost` by default. */
  readonly host?: string;
}

const dayMs = 24 * 3_600_000;

export async function startIssuerServer(options: IssuerServerOptions = {}): Promise<IssuerServer> {
  const { path = "", host = "localhost" } = options;
  const requests: string[] = [];
  let answers: IssuerAnswers = {};
  let url = "";
  const listener: RequestListener = (request, response) => {
    requests.push(request.url ?? "");
    if (answers.answer?.(request, response) === true) return;
    if (request.url === `${path.replace(/\/$/, "")}/.well-known/openid-configuration`) {
      const origin = new URL(url).origin;
      const endpoints = { authorization_endpoint: `${origin}/authorize`, token_endpoint: `${origin}/token` };
      send(response, { issuer: url, jwks_uri: `${origin}/keys`, ...endpoints, ...answers.discovery });
    } else if (request.url === "/keys") {
      if (answers.cacheControl !== undefined) response.setHeader("cache-control", answers.cacheControl);
      send(response, { keys: answers.keys ?? [] });
    } else response.writeHead(404).end("nothing of the issuer");
  };
  const { authority, certificate, key } =
    options.plain === true
      ? { authority: "", certificate: "", key: "" }
      : makeCertificate({ ends: new Date(Date.now() + dayMs), hosts: [host], addresses: ["127.0.0.1"] });
  const server =
    options.plain === true ? createPlainServer(listener) : createServer({ cert: certificate, key }, listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  url = `${options.plain === true ? "http" : "https"}://${host}:${port}${path}`;
  return {
    url,
    certificateAuthority: authority,
    requests,
    change(change) {
      answers = change;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function send(response: ServerResponse, body: unknown): void {
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify(body));
}

/** A public key as an issuer lists it. */
export function publicJwk(kid: string, type: "ec" | "rsa" | "ed25519" = "ec"): JsonWebKey {
  return { ...keyPairOf(type).publicKey.export({ format: "jwk" }), kid, use: "sig" };
}

function keyPairOf(type: "ec" | "rsa" | "ed25519") {
  if (type === "rsa") return generateKeyPairSync("rsa", { modulusLength: 2_048 });
  return type === "ec" ? generateKeyPairSync("ec", { namedCurve: "P-256" }) : generateKeyPairSync("ed25519");
}
