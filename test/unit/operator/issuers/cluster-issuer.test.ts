// What the operator takes of the API server's word about this cluster's issuer.

import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { fetchClusterIssuer } from "../../../../operator/issuers/fetch-issuer.ts";
import { fakeApiClient } from "../../../support/fake-api/fake-api-client.ts";
import { publicJwk } from "../../../support/oidc/issuer-server.ts";

const issuer = "https://kubernetes.default.svc";

/** Of an API server that has this key set. */
async function fetched(keySet: RequestListener) {
  const server = createServer((request, response) => {
    if (request.url === "/openid/v1/jwks") keySet(request, response);
    else response.end(JSON.stringify({ issuer, jwks_uri: "https://192.0.2.1/elsewhere" }));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const api = fakeApiClient({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  onTestFinished(async () => {
    await api.close();
    server.closeAllConnections();
    server.close();
  });
  return await fetchClusterIssuer(api, new AbortController().signal);
}

it("its key set is read from the API server itself, wherever the discovery document says that it is", async () => {
  const set = JSON.stringify({ keys: [publicJwk("one")] });
  const found = await fetched((_request, response) => void response.end(set));
  expect(found).toMatchObject({ url: issuer, keys: [{ kid: "one" }] });
});

it("a refusal says which path it is of", async () => {
  const refusing: RequestListener = (_request, response) => void response.writeHead(403).end("{}");
  await expect(fetched(refusing)).rejects.toThrow("answered GET /openid/v1/jwks with status 403");
});
