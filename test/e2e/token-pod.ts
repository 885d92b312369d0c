// A pod that calls the API with the token that Kubernetes projects into it for its ServiceAccount,
// as the guide for pods has it.

import type { Target } from "./target.ts";

/** What the API answered to one pod. */
export interface TokenAnswers {
  /** Status of a POST of an item. */
  readonly created: number;
  /** Body of `GET /whoami`. */
  readonly whoami: unknown;
}

const tokenPath = "/var/run/jsonplane/token";

const script = `
const { readFileSync } = require("node:fs");
const headers = { authorization: "bearer " + readFileSync("${tokenPath}", "utf8"), "content-type": "application/json" };
const url = process.env.URL_OF_PROJECT;
(async () => {
  const created = await fetch(url + "/api/items", { method: "POST", headers, body: '{"number":7}' });
  const whoami = await fetch(url + "/whoami", { headers });
  process.stdout.write(JSON.stringify({ created: created.status, whoami: await whoami.json() }));
})();`;

/** Runs such a pod to its end. The ServiceAccount is made too, in the Project's namespace. */
export async function answersToPodOf(
  target: Target,
  account: { readonly namespace: string; readonly name: string },
  audience: string,
): Promise<TokenAnswers> {
  const { namespace, name } = account;
  const pod = podOf(name, audience);
  await target.apply(
    JSON.stringify({ apiVersion: "v1", kind: "List", items: objects(target.to.image, account, audience) }),
  );
  await target.kubectl(
    ...["wait", `pod/${pod}`, "-n", namespace, "--for=jsonpath={.status.phase}=Succeeded", "--timeout=60s"],
  );
  const answers = JSON.parse(await target.kubectl("logs", pod, "-n", namespace)) as TokenAnswers;
  await target.kubectl("delete", "pod", pod, "-n", namespace, "--wait=true");
  return answers;
}

function podOf(account: string, audience: string): string {
  return `${account}-for-${audience}`;
}

function objects(
  image: string,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  audience: string,
): readonly unknown[] {
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { namespace, name } },
    {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { namespace, name: podOf(name, audience) },
      spec: {
        restartPolicy: "Never",
        serviceAccountName: name,
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
        containers: [
          {
            name: "caller",
            image,
            command: ["node", "-e", script],
            env: [{ name: "URL_OF_PROJECT", value: `http://jsonplane.jsonplane-system.svc/${namespace}/load` }],
            securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
            volumeMounts: [{ name: "token", mountPath: "/var/run/jsonplane", readOnly: true }],
          },
        ],
        volumes: [
          {
            name: "token",
            projected: { sources: [{ serviceAccountToken: { path: "token", audience, expirationSeconds: 600 } }] },
          },
        ],
      },
    },
  ];
}
