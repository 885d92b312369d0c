import { beforeEach, describe, expect, it } from "vitest";
import { ApiFailure } from "../../../../operator/kube/api.ts";
import { kindLabel, nameLabel } from "../../../../operator/model/secret-names.ts";
import type { SecretWrite } from "../../../../operator/resolve/resolution.ts";
import { writeSecrets } from "../../../../operator/resolve/write-secrets.ts";
import { CredentialWorld } from "../../../support/fleet/credential-world.ts";

let world: CredentialWorld;
let written: string[];
let reported: string[];
beforeEach(() => {
  world = new CredentialWorld();
  written = [];
  reported = [];
});

const quota = new ApiFailure(403, { reason: "Forbidden", message: "secrets: the API server answered 403 Forbidden" });

/** Lets whatever can happen happen. */
function settled(): Promise<unknown> {
  return new Promise((resolve) => setImmediate(resolve));
}

function depsWith(write: (write: SecretWrite) => Promise<void>) {
  return {
    write,
    report: ({ subject }: { readonly subject: { readonly name: string } }) => {
      reported.push(subject.name);
    },
  };
}

/** Says no once everything else that was begun is done. */
function refusing(name: string, error: Error = quota) {
  return depsWith(async (write) => {
    if (write.name === name) await settled().then(() => Promise.reject(error));
    written.push(write.name);
  });
}

describe("Secrets that are written", () => {
  it("change nothing of what was resolved, and are told of", async () => {
    const resolution = await world.reconcile();
    expect(await writeSecrets(resolution, refusing("none"))).toEqual({ resolved: resolution, refused: [] });
    expect(written.toSorted()).toEqual(resolution.writes.map(({ name }) => name).toSorted());
    expect(reported).toEqual(["ada", "ci"]);
  });

  it("and are refused cost their object its credential, and the others nothing", async () => {
    const resolution = await world.reconcile();
    const { resolved, refused } = await writeSecrets(resolution, refusing("ada-password"));
    expect(refused).toEqual([quota]);
    expect(written.toSorted()).toEqual(["ci-api-key", "shop-signing"]);
    expect(resolved.credentials.users.get("ada")).toMatchObject({ refusal: { reason: "SecretNotWritten" } });
    expect(resolved.credentials.keys).toEqual(resolution.credentials.keys);
    expect(resolved.signing).toEqual(resolution.signing);
    expect(reported).toEqual(["ci"]);
    expect([...resolved.statuses.keys()]).toEqual(["ci-1"]);
  });

  it("cost a Project only its ring where that is refused", async () => {
    const { resolved } = await writeSecrets(await world.reconcile(), refusing("shop-signing"));
    expect(resolved.signing).toMatchObject({ refusal: { reason: "SecretNotWritten" } });
    expect(resolved.credentials.keys.get("ci")).toMatchObject({ ok: true });
    expect(reported).toEqual(["ada", "ci"]);
  });

  it.each([
    ["the server is overloaded", new ApiFailure(429, { message: "" })],
    ["anything else happens", new Error("cut")],
  ])("end the run when %s, and what was done for others is told of", async (_, error) => {
    await expect(writeSecrets(await world.reconcile(), refusing("ada-password", error))).rejects.toBe(error);
    expect(written.toSorted()).toEqual(["ci-api-key", "shop-signing"]);
    expect(reported).toEqual(["ci"]);
  });
});

describe("Secrets of many objects", () => {
  const names = Array.from({ length: 40 }, (_, at) => `ada-${at}`);
  let underWay: Map<string, () => void>;
  let most: number;

  /** Each write waits until `underWay` ends it. */
  const waiting = depsWith(async ({ name }) => {
    await new Promise<void>((resolve) => {
      underWay.set(name, resolve);
      most = Math.max(most, underWay.size);
    });
    underWay.delete(name);
    written.push(name);
  });

  /** The writes of one user, for each of `names`. */
  async function ofMany() {
    const resolution = await world.reconcile();
    const [, ...rest] = resolution.writes;
    const ofUser = rest.filter(({ labels }) => labels[kindLabel] === "ProjectUser");
    const named = (write: SecretWrite, name: string): SecretWrite => {
      const labels = { ...write.labels, [nameLabel]: name };
      return { ...write, name: write.name.replace("ada", name), labels };
    };
    return { ...resolution, writes: names.flatMap((name) => ofUser.map((write) => named(write, name))) };
  }

  beforeEach(() => {
    underWay = new Map();
    most = 0;
  });

  it("are written eight at a time, and those of one object in their order", async () => {
    const done = writeSecrets(await ofMany(), waiting);
    await settled();
    while (written.length < 2 * names.length) {
      // The last that was begun ends first.
      [...underWay.values()].at(-1)?.();
      await settled();
    }
    expect((await done).refused).toEqual([]);
    expect(most).toBe(8);
    for (const name of names) {
      expect(written.indexOf(`${name}-user-hash`)).toBeGreaterThan(written.indexOf(`${name}-password`));
    }
  });

  it("are not begun after a failure, and the run ends once what was under way has", async () => {
    const cut = new Error("cut");
    let ended = false;
    const { write, report } = waiting;
    const done = writeSecrets(await ofMany(), {
      report,
      write: async (each) => {
        await write(each);
        if (each.name === "ada-3-password") throw cut;
      },
    }).finally(() => {
      ended = true;
    });
    done.catch(() => undefined);
    await settled();
    underWay.get("ada-3-password")?.();
    await settled();
    expect([underWay.size, ended]).toEqual([7, false]);
    for (const end of [...underWay.values()]) end();
    await expect(done).rejects.toBe(cut);
    expect(written).toHaveLength(8);
    expect(written.filter((name) => name.endsWith("-hash"))).toEqual([]);
  });
});
