// Fetching from a real issuer over HTTPS: what is taken, and that whoever chooses a URL reaches and
// learns nothing by it.

import type { lookup } from "node:dns";
import type { ServerResponse } from "node:http";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { discoveryUrl } from "../../../../core/issuers/issuer-kind.ts";
import { type AddressRules, clusterAddresses, devAddresses } from "../../../../operator/issuers/address-rules.ts";
import { fetchIssuer, keepForMs } from "../../../../operator/issuers/fetch-issuer.ts";
import { lookupBy, maxBytes } from "../../../../operator/issuers/fetch-text.ts";
import { type IssuerServer, publicJwk, startIssuerServer } from "../../../support/oidc/issuer-server.ts";

let server: IssuerServer;
let other: IssuerServer;
const key = publicJwk("one");
const secretText = "what only the operator can read";

beforeAll(async () => {
  [server, other] = await Promise.all([startIssuerServer({ path: "/realms/main" }), startIssuerServer()]);
});
beforeEach(() => {
  server.change({ keys: [key] });
  other.change({ keys: [key] });
  server.requests.length = 0;
  other.requests.length = 0;
});
afterAll(() => Promise.all([server?.close(), other?.close()]));

const fetched = (
  given: { readonly url?: string; readonly rules?: AddressRules; readonly certificateAuthority?: string } = {},
) =>
  fetchIssuer(given.url ?? server.url, {
    rules: given.rules ?? devAddresses,
    certificateAuthority: given.certificateAuthority ?? server.certificateAuthority,
    signal: new AbortController().signal,
  });

/** Why it was refused, which is what a status shows. */
async function refusal(given: Parameters<typeof fetched>[0] = {}): Promise<string> {
  const failure = await fetched(given).catch((error: unknown) => error);
  if (!(failure instanceof Error)) throw new Error("it was fetched");
  expect(failure.message).not.toContain(secretText);
  return failure.message;
}

it("the discovery document and then the key set are fetched", async () => {
  const { origin } = new URL(server.url);
  expect(await fetched()).toMatchObject({
    url: server.url,
    keys: [{ kid: "one", algorithms: ["ES256"] }],
    endpoints: {
      authorizationEndpoint: `${origin}/authorize`,
      tokenEndpoint: `${origin}/token`,
      alwaysSendsIss: false,
    },
    keepForMs: 3_600_000,
  });
  expect(server.requests).toEqual(["/realms/main/.well-known/openid-configuration", "/keys"]);
});

it.each([
  ["https://a.test", "https://a.test/.well-known/openid-configuration"],
  ["https://a.test/", "https://a.test/.well-known/openid-configuration"],
  ["https://a.test/x/", "https://a.test/x/.well-known/openid-configuration"],
])("the document of %s is at %s", (issuer, url) => {
  expect(discoveryUrl(issuer)).toBe(url);
});

it.each([
  [undefined, 3_600],
  ["public", 3_600],
  ["public, max-age=7200", 7_200],
  ["max-age=1", 300],
  ["max-age=0, must-revalidate", 300],
  ["no-store", 300],
  ["no-cache", 300],
  ["max-age=31536000", 86_400],
  ["MAX-AGE=600", 600],
  ["s-maxage=60", 3_600],
  ["max-age=many", 3_600],
])("keys that came with Cache-Control: %s are kept for %i seconds", (header, seconds) => {
  expect(keepForMs(header)).toBe(seconds * 1_000);
});

it("what another issuer calls itself is told apart from statuses, in characters that a terminal takes for nothing else", async () => {
  server.change({ keys: [key], discovery: { issuer: "\u001b[2J\u009b2J\u202e\u2028" } });
  const failure = await fetched().catch((error: unknown) => error);
  expect(failure).toMatchObject({
    message: expect.stringMatching(/to the letter$/),
    detail: 'it names "\\u001b[2J\\u009b2J\\u202e\\u2028"',
  });
});

describe("a document is refused", () => {
  it.each([
    [
      "of another issuer",
      { issuer: "https://login.example.org" },
      /names another issuer than this url, to the letter$/,
    ],
    ["of this issuer with a slash more", { issuer: "slash" }, /names another issuer than this url, to the letter$/],
    ["without an issuer", { issuer: undefined }, "its discovery document names no issuer"],
    ["without a key set", { jwks_uri: undefined }, "has no jwks_uri that begins with https://"],
    [
      "with a key set without TLS",
      { jwks_uri: "http://login.example.org/keys" },
      "has no jwks_uri that begins with https://",
    ],
    ["with a key set in a file", { jwks_uri: "file:///etc/passwd" }, "has no jwks_uri that begins with https://"],
  ])("%s", async (_name, discovery, message) => {
    const issuer = "issuer" in discovery && discovery.issuer === "slash" ? { issuer: `${server.url}/` } : {};
    server.change({ keys: [key], discovery: { ...discovery, ...issuer } });
    expect(await refusal()).toMatch(message);
    expect(server.requests).toHaveLength(1);
  });

  it("that is not JSON, without a word of it", async () => {
    server.change({ answer: (_request, response) => Boolean(response.end(secretText)) });
    expect(await refusal()).toBe("its discovery document is not a JSON object");
  });

  it.each([
    [404, "when asked for its discovery document, it answered with status 404"],
    [500, "when asked for its discovery document, it answered with status 500"],
  ])("that comes with status %i, without a word of it", async (status, message) => {
    server.change({ answer: (_request, response) => Boolean(response.writeHead(status).end(secretText)) });
    expect(await refusal()).toBe(message);
  });

  it("that comes in another protocol, which nobody asked for", async () => {
    const upgrade = { connection: "upgrade", upgrade: "websocket" };
    server.change({ answer: (_request, response) => Boolean(response.writeHead(101, upgrade).end()) });
    expect(await refusal()).toBe(
      "when asked for its discovery document, no connection to it could be made, or it broke",
    );
  });

  it("that is larger than 256 KiB, without reading on", async () => {
    server.change({ answer: (_request, response) => Boolean(response.end(" ".repeat(maxBytes + 1))) });
    expect(await refusal()).toBe("when asked for its discovery document, it answered with more than 256 KiB");
  });

  it("whose key set is refused, and says whose fault it is", async () => {
    server.change({ keys: [] });
    expect(await refusal()).toMatch(/^its key set has no public key for signatures/);
  });
});

it.each([
  ["in a cluster", { ...devAddresses, ...clusterAddresses, mayConnectTo: devAddresses.mayConnectTo }, "https://"],
  ["in dev mode", devAddresses, "https://, or with http:// on this machine"],
])("a document without a key set is refused with what its URL may begin with %s", async (_where, rules, beginnings) => {
  server.change({ keys: [key], discovery: { jwks_uri: "http://keycloak:8080/keys" } });
  expect(await refusal({ rules })).toBe(`its discovery document has no jwks_uri that begins with ${beginnings}`);
});

describe("a redirect is not followed", () => {
  it.each([301, 302, 307, 308])("to another host, with status %i", async (status) => {
    server.change({
      answer: (_request, response) => Boolean(response.writeHead(status, { location: `${other.url}/keys` }).end()),
    });
    expect(await refusal()).toContain(`it answered with a redirect (status ${status}), which is not followed`);
    expect(other.requests).toEqual([]);
  });

  it("of the key set on the same host", async () => {
    server.change({
      answer: (request, response) =>
        request.url === "/keys" && Boolean(response.writeHead(302, { location: "/elsewhere" }).end()),
    });
    expect(await refusal()).toContain("when asked for its key set, it answered with a redirect");
    expect(server.requests).not.toContain("/elsewhere");
  });
});

describe("an address inside is not connected to", () => {
  const refused = "its host is at an address that nothing is fetched from";
  it("by its name", async () => {
    expect(await refusal({ rules: clusterAddresses })).toContain(refused);
    expect(server.requests).toEqual([]);
  });

  it("by itself, of which no name is resolved", async () => {
    const url = server.url.replace("localhost", "127.0.0.1");
    expect(await refusal({ url, rules: clusterAddresses })).toContain(refused);
    expect(await refusal({ url: "https://[::1]:1", rules: clusterAddresses })).toContain(refused);
    expect(await refusal({ url: "https://169.254.169.254", rules: clusterAddresses })).toContain(refused);
    expect(await refusal({ url: "https://[fd00:ec2::254]", rules: clusterAddresses })).toContain(refused);
  });

  it("by the key set that an issuer elsewhere names", async () => {
    // The issuer's own address is let through here, as that of an issuer outside would be.
    const rules = {
      ...devAddresses,
      mayConnectTo: (address: string) => address.startsWith("127.") || address === "::1",
    };
    server.change({ keys: [key], discovery: { jwks_uri: "https://169.254.169.254/latest/meta-data" } });
    expect(await refusal({ rules })).toContain(`when asked for its key set, ${refused}`);
  });

  it("by a name that has it beside others, and by one that resolves to it when the connection is made", () => {
    const answers = [["203.0.113.7"], ["203.0.113.7", "127.0.0.1"], ["::ffff:169.254.169.254"]];
    const resolved = answers.map((addresses) => {
      const resolve = ((_name: string, _options: object, done: (error: null, found: object[]) => void) =>
        done(
          null,
          addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
        )) as unknown as typeof lookup;
      let outcome: unknown;
      lookupBy(clusterAddresses, resolve)("login.example.org", { all: true }, (error, found) => {
        outcome = error?.message ?? found;
      });
      return outcome;
    });
    expect(resolved).toEqual([
      [{ address: "203.0.113.7", family: 4 }],
      expect.stringContaining(refused),
      expect.stringContaining(refused),
    ]);
  });
});

it("a server whose certificate is of another authority is refused, and public authorities don't count where one is given", async () => {
  expect(await refusal({ certificateAuthority: other.certificateAuthority })).toMatch(
    /its certificate is not trusted \([A-Z_]+\)$/,
  );
});

it("a server that is not there is refused without saying why, which would tell which ports are open", async () => {
  const gone = await startIssuerServer();
  await gone.close();
  const without = "when asked for its discovery document, no connection to it could be made, or it broke";
  expect(await refusal({ url: gone.url })).toBe(without);
  server.change({ answer: (request) => Boolean(request.socket.destroy()) });
  expect(await refusal()).toBe(without);
});

it("a port that does not speak TLS is said so, and not where a status shows it", async () => {
  const plain = await startIssuerServer({ plain: true });
  const url = plain.url.replace("http:", "https:");
  const failure = await fetched({ url }).catch((error: unknown) => error);
  await plain.close();
  expect(failure).toMatchObject({
    message: "when asked for its discovery document, no connection to it could be made, or it broke",
    detail: expect.stringMatching(/^GET https:\/\/.*: ERR_SSL_WRONG_VERSION_NUMBER, the port does not speak TLS$/),
  });
});

it.each([
  ["does not answer", () => true],
  ["does not end its answer", (_request: unknown, response: ServerResponse) => response.write('{"issuer":')],
  [
    "does not say where its answer ends",
    (_request: unknown, response: ServerResponse) =>
      Boolean(response.socket?.write('HTTP/1.1 200 OK\r\n\r\n{"issuer":"https://login.example.org"}')),
  ],
])("a server that %s is given up with the reason of whoever waits", async (_name, answer) => {
  server.change({ answer });
  const over = new AbortController();
  const waiting = fetchIssuer(server.url, {
    rules: devAddresses,
    certificateAuthority: server.certificateAuthority,
    signal: over.signal,
  });
  const reason = new Error("late");
  setTimeout(() => over.abort(reason), 50);
  await expect(waiting).rejects.toBe(reason);
});
