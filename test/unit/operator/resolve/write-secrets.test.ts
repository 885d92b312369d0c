import { beforeEach, describe, expect, it } from "vitest";
import { ApiFailure } from "../../../../operator/kube/api.ts";
import { writeSecrets } from "../../../../operator/resolve/write-secrets.ts";
import { CredentialWorld } from "../../../support/credential-world.ts";

let world: CredentialWorld;
let written: string[];
beforeEach(() => {
  world = new CredentialWorld();
  written = [];
});

const quota = new ApiFailure(403, { reason: "Forbidden", message: "secrets: the API server answered 403 Forbidden" });

function refusing(name: string, error: Error = quota) {
  return async (write: { readonly name: string }) => {
    if (write.name === name) throw error;
    written.push(write.name);
  };
}

describe("Secrets that are written", () => {
  it("change nothing of what was resolved", async () => {
    const resolution = await world.reconcile();
    expect(await writeSecrets(resolution, refusing("none"))).toEqual({ resolved: resolution, refused: [] });
    expect(written).toEqual(resolution.writes.map(({ name }) => name));
  });

  it("and are refused cost their object its credential, and the others nothing", async () => {
    const resolution = await world.reconcile();
    const { resolved, refused } = await writeSecrets(resolution, refusing("ada-password"));
    expect(refused).toEqual([quota]);
    expect(written).toEqual(["shop-signing", "ci-api-key", "ci-key-hash"]);
    expect(resolved.credentials.users.get("ada")).toMatchObject({ refusal: { reason: "SecretNotWritten" } });
    expect(resolved.credentials.keys).toEqual(resolution.credentials.keys);
    expect(resolved.signing).toEqual(resolution.signing);
    expect(resolved.events.map(({ subject }) => subject.name)).toEqual(["ci"]);
    expect([...resolved.statuses.keys()]).toEqual(["ci-1"]);
  });

  it("leave nothing sealed with a key that could not be kept", async () => {
    const { resolved } = await writeSecrets(await world.reconcile(), refusing("shop-signing"));
    expect(written).toEqual([]);
    expect(resolved.signing).toMatchObject({ refusal: { reason: "SecretNotWritten" } });
    expect([resolved.credentials.users.size, resolved.credentials.keys.size, resolved.events]).toEqual([0, 0, []]);
  });

  it.each([
    ["the server is overloaded", new ApiFailure(429, { message: "" })],
    ["anything else happens", new Error("cut")],
  ])("end the run when %s", async (_, error) => {
    await expect(writeSecrets(await world.reconcile(), refusing("ada-password", error))).rejects.toBe(error);
  });
});
