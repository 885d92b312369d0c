// Backups: to a volume or a bucket, with as few rights as they need, and a restore that never runs
// by itself.

import { beforeAll, expect, it } from "vitest";
import { findHelm } from "../../tools/parts/helm.ts";
import { objectsIn, render } from "../support/chart/helm.ts";

let helm: string;

beforeAll(async () => {
  helm = await findHelm(process.env);
});

interface Container {
  readonly args: readonly string[];
  readonly env: readonly {
    readonly name: string;
    readonly valueFrom?: { readonly secretKeyRef: { readonly name: string; readonly key: string } };
  }[];
  readonly volumeMounts?: readonly { readonly name: string; readonly readOnly?: boolean }[];
}

interface CronJob {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly suspend?: boolean;
    readonly concurrencyPolicy: string;
    readonly jobTemplate: {
      readonly spec: {
        readonly template: {
          readonly spec: {
            readonly automountServiceAccountToken: boolean;
            readonly containers: readonly [Container];
            readonly volumes?: readonly { readonly name: string; readonly persistentVolumeClaim?: object }[];
          };
        };
      };
    };
  };
}

const volume = ["--set=backup.enabled=true,backup.existingClaim=mine"];
const bucket = [
  "--set=backup.bucket.name=bucket,backup.bucket.prefix=p/q,backup.bucket.existingSecret.name=s,backup.bucket.ports={9000}",
];

async function backups(...args: readonly string[]) {
  const { code, text, complaint } = await render(helm, [...volume, ...args]);
  expect([code, complaint]).toEqual([0, ""]);
  const objects = objectsIn(text);
  const jobs = (objects as unknown as readonly CronJob[]).filter(({ kind }) => kind === "CronJob");
  const podOf = (name: string) =>
    jobs.find(({ metadata }) => metadata.name === `jsonplane-${name}`)?.spec.jobTemplate.spec.template.spec;
  return { jobs, podOf, text };
}

it("nothing of backups is there unless they are switched on", async () => {
  const { text } = await render(helm);
  expect(text).not.toMatch(/kind: CronJob|backup-max-age/);
});

it("the operator says that backups are late only where all are backed up, for it knows of no others", async () => {
  expect((await backups()).text).toContain("--backup-max-age=26h");
  expect((await backups("--set=backup.projects={shop/*}")).text).not.toContain("--backup-max-age");
});

it("a restore never runs by itself, and no pod of either has a token for the API server", async () => {
  const { jobs, podOf } = await backups();
  expect(jobs.map(({ metadata, spec }) => [metadata.name, spec.suspend === true, spec.concurrencyPolicy])).toEqual([
    ["jsonplane-backup", false, "Forbid"],
    ["jsonplane-restore", true, "Forbid"],
  ]);
  for (const name of ["backup", "restore"]) expect(podOf(name)?.automountServiceAccountToken).toBe(false);
});

it("a backup gets the Redis user that can only read, and no key ring; a restore gets the data plane's", async () => {
  const { podOf } = await backups();
  const given = (name: string) => {
    const [{ env, volumeMounts = [] }] = podOf(name)?.containers ?? [{ env: [] }];
    const redis = env.find((variable) => variable.name === "JSONPLANE_REDIS")?.valueFrom?.secretKeyRef.key;
    return [redis, volumeMounts.map((mount) => [mount.name, mount.readOnly])];
  };
  expect(given("backup")).toEqual([
    "backup-tls-url",
    [
      ["redis-ca", true],
      ["backups", false],
    ],
  ]);
  expect(given("restore")).toEqual([
    "dataplane-tls-url",
    [
      ["redis-ca", true],
      ["backups", true],
      ["keyring", true],
    ],
  ]);
});

it("a bucket takes the place of the volume, with its credentials from a Secret and its port open", async () => {
  const { podOf, text } = await backups(...bucket);
  const [{ args, env }] = podOf("backup")?.containers ?? [{ args: [], env: [] }];
  expect(podOf("backup")?.volumes).toEqual([expect.objectContaining({ name: "redis-ca" })]);
  expect(args[1]).toBe("s3://bucket/p/q");
  expect(env).toContainEqual({
    name: "JSONPLANE_S3_SECRET_ACCESS_KEY",
    valueFrom: { secretKeyRef: { name: "s", key: "secret-access-key" } },
  });
  const policy = objectsIn(text).find(
    ({ kind, metadata }) => kind === "NetworkPolicy" && (metadata as { name: string }).name === "jsonplane-backup",
  );
  expect(JSON.stringify(policy)).toContain('{"ports":[{"port":9000}]}');
});

it.each([
  ["a bucket without credentials", ["--set=backup.bucket.name=bucket"], "backup.bucket.existingSecret.name"],
  ["no place at all", [], "backup.existingClaim, or a bucket in backup.bucket.name"],
])("%s is refused with the value to set", async (_what, args, why) => {
  const { code, complaint } = await render(helm, ["--set=backup.enabled=true", ...args]);
  expect([code, complaint]).toEqual([1, expect.stringContaining(why)]);
});
