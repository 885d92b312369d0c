// A certified OpenID provider as a program of its own: `node provider-process.mjs <JSON of
// ProviderOptions>`, which says its URL in a line once it listens. It takes any name, and asks
// neither for a password nor for consent. Everybody but `nameless` has a name to show too. It keeps
// all in memory, and has one key for ES256.

import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import Provider from "oidc-provider";

const { clients } = JSON.parse(process.argv[2]);
const clientOf = ({ clientId }) => clients.find(({ id }) => id === clientId);
const resource = "urn:jsonplane:api";

// The provider says that it runs without TLS, which is on purpose.
console.info = console.warn = () => undefined;

const server = createServer();
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const url = `http://127.0.0.1:${server.address().port}`;
const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });

const provider = new Provider(url, {
  clients: clients.map(({ id, redirectUris }) => ({
    client_id: id,
    redirect_uris: redirectUris,
    post_logout_redirect_uris: redirectUris,
    token_endpoint_auth_method: "none",
    grant_types: ["authorization_code", "refresh_token"],
    id_token_signed_response_alg: "ES256",
  })),
  jwks: { keys: [{ ...privateKey.export({ format: "jwk" }), kid: "one", use: "sig", alg: "ES256" }] },
  cookies: { keys: ["only for tests"] },
  claims: { profile: ["name"] },
  // With the scope `profile`, the name is in ID tokens.
  conformIdTokenClaims: false,
  findAccount: (_, id) => ({
    accountId: id,
    claims: () => ({ sub: id, ...(id !== "nameless" && { name: `The name of ${id}` }) }),
  }),
  clientBasedCORS: (_context, _origin, client) => clientOf(client).allowsOrigins !== false,
  issueRefreshToken: (_context, client) => clientOf(client).refreshTokens === true,
  rotateRefreshToken: true,
  async loadExistingGrant({ oidc: { client, session } }) {
    const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
    grant.addOIDCScope("openid profile");
    grant.addResourceScope(resource, "");
    await grant.save();
    return grant;
  },
  ttl: {
    // What is refreshed holds after the clock of an API has been put forward.
    AccessToken: ({ oidc }) => (oidc.params.grant_type === "refresh_token" ? 7_200 : 300),
    IdToken: 300,
    RefreshToken: 7_200,
    Grant: 7_200,
    Session: 7_200,
    Interaction: 600,
  },
  interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
  features: {
    // Its own pages ask for fonts of strangers.
    devInteractions: { enabled: false },
    rpInitiatedLogout: {
      logoutSource(context, logout) {
        context.body = page(`${logout}<button form="op.logoutForm" name="logout" value="yes">Sign out</button>`);
      },
    },
    revocation: { enabled: true },
    resourceIndicators: {
      enabled: true,
      // Clients without an audience of their own get an opaque access token.
      defaultResource: (_context, client) => (clientOf(client).audience === undefined ? undefined : resource),
      useGrantedResource: () => true,
      getResourceServerInfo: (_context, _resource, client) => ({
        scope: "",
        audience: clientOf(client).audience,
        accessTokenFormat: "jwt",
        jwt: { sign: { alg: "ES256" } },
      }),
    },
  },
});

const form = page('<form method="post"><label>Name <input name="login"></label><button>Sign in</button></form>');

function page(body) {
  return `<!doctype html><html lang="en"><title>Provider</title><link rel="icon" href="data:,">${body}</html>`;
}

async function interact(request, response) {
  if (request.method !== "POST") {
    response.setHeader("Content-Type", "text/html").end(form);
    return;
  }
  const body = new URLSearchParams(Buffer.concat(await Array.fromAsync(request)).toString());
  await provider.interactionFinished(request, response, { login: { accountId: body.get("login") } });
}

const answer = provider.callback();
server.on("request", (request, response) => {
  if (request.url.startsWith("/interaction/")) void interact(request, response);
  else answer(request, response);
});
process.stdout.write(`${url}\n`);
