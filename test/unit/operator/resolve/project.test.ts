import { createSecretKey, randomBytes } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { generatedPasswordCost, type PasswordCost } from "../../../../core/password/hash-password.ts";
import { ApiFailure } from "../../../../operator/kube/api.ts";
import { nameLabel } from "../../../../operator/model/secret-names.ts";
import { resolveProject } from "../../../../operator/resolve/project.ts";
import { writeSecrets } from "../../../../operator/resolve/write-secrets.ts";
import { CredentialWorld } from "../../../support/fleet/credential-world.ts";
import { fakeHash } from "../../../support/fleet/fake-hash.ts";

const { project, keys, users, ...around } = new CredentialWorld().objects();
const hmacKey = createSecretKey(randomBytes(32));

let world: CredentialWorld;
/** Names of objects whose Secrets the API server refuses. */
let refused: Set<string>;
/** Those with a credential, and those whose Secrets were refused, as their statuses say. */
let holders: Set<string>;
let refusedBefore: ReadonlySet<string>;
let cheapHashes: number;
beforeEach(() => {
  world = new CredentialWorld();
  refused = new Set();
  holders = new Set();
  refusedBefore = new Set();
  cheapHashes = 0;
});

function named<O extends NonNullable<typeof keys>[number] | NonNullable<typeof users>[number]>(
  object: O | undefined,
  name: string,
): O {
  if (object === undefined) throw new Error("The world has none");
  const status = {
    ...(holders.has(name) && { secretName: name }),
    ...(refusedBefore.has(name) && { conditions: [{ reason: "SecretNotWritten" }] }),
  };
  return { ...object, metadata: { ...object.metadata, name, uid: name }, status } as O;
}

/** One pass that may write two objects' Secrets of each kind; statuses are written after it. */
async function pass(names: readonly string[], kind: "keys" | "users" = "keys") {
  const some = names.map((name) => (kind === "keys" ? named(keys[0], name) : named(users[0], name)));
  const resolution = await resolveProject(
    { ...around, project, keys: [], users: [], [kind]: some } as Parameters<typeof resolveProject>[0],
    undefined,
    {
      findSecret: world.secrets.find,
      random: randomBytes,
      now: world.now,
      async hashPassword(password, cost?: PasswordCost) {
        if (cost === generatedPasswordCost) cheapHashes += 1;
        return fakeHash(password);
      },
      baseUrl: "http://localhost/default/shop",
      hmacKey,
      restoresAll: false,
      ringAcknowledged: true,
      maxWritten: 2,
    },
  );
  const written = new Set<string>();
  const { resolved, refused: failures } = await writeSecrets(resolution, {
    async write(write) {
      const owner = write.labels[nameLabel] ?? "";
      if (refused.has(owner)) throw new ApiFailure(403, { reason: "Forbidden", message: "quota" });
      world.secrets.apply([write]);
      if (owner !== "shop") written.add(owner);
    },
    report: () => undefined,
  });
  const results = [...resolved.credentials[kind]];
  refusedBefore = new Set(
    results.flatMap(([name, { ok, ...rest }]) =>
      !ok && "refusal" in rest && rest.refusal.reason === "SecretNotWritten" ? [name] : [],
    ),
  );
  for (const name of written) holders.add(name);
  return { written: [...written], isDue: resolved.hasLaterWrites === true, failures: failures.length };
}

describe("many Secrets to write", () => {
  it("are written by several passes, each of which is due at once", async () => {
    expect(await pass(["a", "b", "c"])).toEqual({ written: ["a", "b"], isDue: true, failures: 0 });
    expect(await pass(["a", "b", "c"])).toEqual({ written: ["c"], isDue: false, failures: 0 });
  });

  it("of new users are hashed no sooner than they are written", async () => {
    expect(await pass(["a", "b", "c"], "users")).toMatchObject({ written: ["a", "b"], isDue: true });
    expect(cheapHashes).toBe(2);
    expect(await pass(["a", "b", "c"], "users")).toMatchObject({ written: ["c"], isDue: false });
  });

  it("make no pass due where all that were tried are refused, and the next pass tries others first", async () => {
    const names = ["a", "b", "c"];
    await pass([]);
    refused = new Set(["a", "b"]);
    expect(await pass(names)).toEqual({ written: [], isDue: false, failures: 2 });
    expect(await pass(names)).toEqual({ written: ["c"], isDue: true, failures: 1 });
    expect(await pass(names)).toEqual({ written: [], isDue: false, failures: 2 });
  });

  it("begin with those that replace a credential", async () => {
    await pass(["leaked"]);
    expect(holders).toEqual(new Set(["leaked"]));
    world.secrets.remove("leaked-api-key");
    expect((await pass(["a", "b", "leaked"])).written).toContain("leaked");
  });
});
