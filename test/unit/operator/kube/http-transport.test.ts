import { expect, test } from "vitest";
import { serverUrl } from "../../../../operator/kube/connect.ts";
import { type Credentials, createPools, defaultLimits } from "../../../../operator/kube/http-transport.ts";

const credentials: Credentials = {
  server: serverUrl("https://api.example.org"),
  headers: { authorization: "Bearer t-1" },
  tls: { ca: "CA" },
};

test("connections are kept over new tokens, and new for another authority, certificate or proxy", async () => {
  const pools = createPools(defaultLimits);
  const first = pools.of(credentials);
  expect(first).toBeDefined();
  expect(pools.of({ ...credentials, headers: { authorization: "Bearer t-2" } })).toBe(first);
  const others = [
    pools.of({ ...credentials, tls: { ca: "another CA" } }),
    pools.of({ ...credentials, tls: { ca: "CA", cert: "CERT", key: "KEY" } }),
    pools.of({ ...credentials, proxy: "http://proxy.example.org:3128" }),
  ];
  expect(new Set([first, ...others]).size).toBe(4);
  await pools.close();
  expect(pools.of(credentials)).toBe(undefined);
});
