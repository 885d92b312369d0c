import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { operatorNamespace, whyNoApiServer } from "../../../cli/api-server.ts";
import { ApiFailure, ApiUnreachable } from "../../../operator/kube/api.ts";
import { NoCluster } from "../../../operator/kube/connect.ts";

const monotonic = () => 0;
const pod = { KUBERNETES_SERVICE_HOST: "10.0.0.1", KUBERNETES_SERVICE_PORT: "443" };
let serviceAccount: string;

beforeEach(async () => {
  serviceAccount = await mkdtemp(join(tmpdir(), "jsonplane-account-"));
  for (const name of ["token", "ca.crt"]) await writeFile(join(serviceAccount, name), name);
  await writeFile(join(serviceAccount, "namespace"), "platform");
});

afterEach(() => rm(serviceAccount, { recursive: true }));

describe("the operator's namespace", () => {
  it("is its pod's", async () => {
    expect(await operatorNamespace({ environment: pod, monotonic, serviceAccount })).toBe("platform");
  });

  it("is jsonplane-system outside of a pod, and where a kubeconfig is named, whatever its context says", async () => {
    expect(await operatorNamespace({ environment: {}, monotonic, serviceAccount })).toBe("jsonplane-system");
    const named = { kubeconfig: "/nowhere/config", environment: pod, monotonic, serviceAccount };
    expect(await operatorNamespace(named)).toBe("jsonplane-system");
  });
});

describe("an API server that gives no answer", () => {
  it("is explained to whoever asked, and nothing else is", () => {
    expect(whyNoApiServer(new NoCluster("no cluster"))).toBe("There is no way to an API server: no cluster");
    expect(whyNoApiServer(new ApiUnreachable("cut"))).toBe("The API server can't be reached: cut");
    expect(whyNoApiServer(new ApiFailure(403, { message: "no right" }))).toBeUndefined();
  });
});
