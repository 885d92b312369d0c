// Store URLs: which servers each form names, and that a refusal never repeats a secret.

import { describe, expect, it } from "vitest";
import { InvalidRedisUrl, parseRedisUrl } from "../../../../core/redis/redis-url.ts";

const plain = { tls: false, credentials: {} };

const accepted: Readonly<Record<string, unknown>> = {
  "redis://localhost": { ...plain, kind: "standalone", server: { host: "localhost", port: 6379 }, db: 0 },
  "redis://127.0.0.1:7000/3": { ...plain, kind: "standalone", server: { host: "127.0.0.1", port: 7000 }, db: 3 },
  "redis://[::1]:7000": { ...plain, kind: "standalone", server: { host: "::1", port: 7000 }, db: 0 },
  "rediss://al:p%40ss%3A%2F@host": {
    kind: "standalone",
    tls: true,
    credentials: { username: "al", password: "p@ss:/" },
    server: { host: "host", port: 6379 },
    db: 0,
  },
  "redis://:secret@host": {
    ...plain,
    kind: "standalone",
    credentials: { password: "secret" },
    server: { host: "host", port: 6379 },
    db: 0,
  },
  "redis+cluster://a:1,b,[::1]:3": {
    ...plain,
    kind: "cluster",
    nodes: [
      { host: "a", port: 1 },
      { host: "b", port: 6379 },
      { host: "::1", port: 3 },
    ],
  },
  "rediss+sentinel://al:secret@a,b:1/main?db=2&sentinelUsername=watch&sentinelPassword=dog": {
    kind: "sentinel",
    tls: true,
    credentials: { username: "al", password: "secret" },
    sentinels: [
      { host: "a", port: 26_379 },
      { host: "b", port: 1 },
    ],
    sentinelCredentials: { username: "watch", password: "dog" },
    name: "main",
    db: 2,
  },
};

const refused: Readonly<Record<string, string>> = {
  "another scheme": "http://al:secret@host",
  "no host": "redis://",
  "several hosts of one server": "redis://al:secret@a,b",
  "a port that is none": "redis://al:secret@host:99999",
  "a database that is none": "redis://al:secret@host/first",
  "a database of a cluster": "redis+cluster://al:secret@a/1",
  "a sentinel URL without a name": "redis+sentinel://al:secret@a",
  "an unknown parameter": "redis+sentinel://al:secret@a/main?family=6",
  "bad percent-encoding": "redis://al:secret%zz@host",
  "a space": "redis://al:secret@ho st",
};

describe("a store URL", () => {
  for (const [url, target] of Object.entries(accepted)) {
    it(`names servers: ${url}`, () => expect(parseRedisUrl(url)).toEqual(target));
  }

  for (const [what, url] of Object.entries(refused)) {
    it(`is refused with ${what}, without a secret in the message`, () => {
      expect(() => parseRedisUrl(url)).toThrow(InvalidRedisUrl);
      expect(() => parseRedisUrl(url)).not.toThrow(/secret/);
    });
  }
});
