import { describe, expect, it } from "vitest";
import type { Secret } from "../../../../core/manifests/object.ts";
import { createSecretCache } from "../../../../operator/secrets/secret-cache.ts";

function secret(resourceVersion: string, bytes = 0): Secret {
  const metadata = { name: "given", namespace: "default", resourceVersion };
  return { kind: "Secret", metadata, type: "Opaque", data: new Map([["pw", Buffer.alloc(bytes)]]) };
}

const kibibyte = 1024;

describe("cached Secrets", () => {
  it("are found in the version that was read, and in no other", () => {
    const remembered = createSecretCache(100 * kibibyte);
    remembered.put("default/given", secret("7"));
    expect(remembered.get("default/given", "7")).toEqual(secret("7"));
    expect(remembered.get("default/given", "8")).toBeUndefined();
    expect(remembered.get("other/given", "7")).toBeUndefined();
    remembered.put("default/given", secret("8"));
    expect(remembered.get("default/given", "7")).toBeUndefined();
  });

  it("give way when they take too much room, the one that nobody asked for longest first", () => {
    const remembered = createSecretCache(35 * kibibyte);
    for (const place of ["a", "b", "c"]) remembered.put(place, secret("1", 10 * kibibyte));
    remembered.get("a", "1");
    remembered.put("d", secret("1", 10 * kibibyte));
    const there = ["a", "b", "c", "d"].filter((place) => remembered.get(place, "1") !== undefined);
    expect(there).toEqual(["a", "c", "d"]);
  });

  it("do not take room twice when they are read again, and none once dropped", () => {
    const remembered = createSecretCache(35 * kibibyte);
    for (let version = 0; version < 20; version += 1) remembered.put("a", secret(String(version), 10 * kibibyte));
    remembered.drop("a");
    remembered.drop("a");
    for (const place of ["b", "c", "d"]) remembered.put(place, secret("1", 10 * kibibyte));
    expect(["b", "c", "d"].every((place) => remembered.get(place, "1") !== undefined)).toBe(true);
  });

  it("larger than all room are not kept", () => {
    const remembered = createSecretCache(5 * kibibyte);
    remembered.put("a", secret("1", 10 * kibibyte));
    expect(remembered.get("a", "1")).toBeUndefined();
  });
});
