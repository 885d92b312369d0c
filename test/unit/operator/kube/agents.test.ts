import { expect, test } from "vitest";
import { createAgents, defaultPoolLimits } from "../../../../operator/kube/agents.ts";
import { type Credentials, serverUrl } from "../../../../operator/kube/credentials.ts";

const credentials: Credentials = {
  server: serverUrl("https://api.example.org"),
  headers: { authorization: "Bearer t-1" },
  tls: { ca: "CA" },
};

test("connections are kept over new tokens, and made anew for another authority, certificate or proxy", async () => {
  const agents = createAgents(defaultPoolLimits);
  const first = agents.of(credentials);
  expect(first).toBeDefined();
  expect(agents.of({ ...credentials, headers: { authorization: "Bearer t-2" } })).toBe(first);
  const others = [
    agents.of({ ...credentials, tls: { ca: "another CA" } }),
    agents.of({ ...credentials, tls: { ca: "CA", cert: "CERT", key: "KEY" } }),
    agents.of({ ...credentials, proxy: "http://proxy.example.org:3128" }),
  ];
  expect(new Set([first, ...others]).size).toBe(4);
  await agents.close();
  expect(agents.of(credentials)).toBe(undefined);
});
