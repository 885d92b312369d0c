// Which ports of an installation can be reached from where, asked by pods: a connection opens, or
// it is refused or not answered.

import { systemNamespace, type Target } from "./target.ts";

/** What a pod reaches. */
export interface Reached {
  /** Of the Service. */
  readonly api: boolean;
  /** The admin port of a replica. */
  readonly metrics: boolean;
  readonly redis: boolean;
}

/** Asks from a pod. */
export type AskFrom = () => Promise<Reached>;

/** `pod` may be `deploy/NAME`, which is one of its pods. */
export async function askerIn(target: Target, namespace: string, pod: string): Promise<AskFrom> {
  const selector = ["-n", systemNamespace, "-l", "app.kubernetes.io/component=dataplane"];
  const replica = await target.kubectl("get", "pods", ...selector, "-o", "jsonpath={.items[0].status.podIP}");
  const addresses = {
    api: ["jsonplane.jsonplane-system", 80],
    metrics: [replica, 9090],
    redis: ["jsonplane-redis.jsonplane-system", 6379],
  };
  const command = ["node", "-e", connecting, JSON.stringify(addresses)];
  return async () => JSON.parse(await target.kubectl("exec", pod, "-n", namespace, "--", ...command));
}

/** The same from a pod of its own, as a namespace of the standard `restricted` takes it. */
export async function startAsker(target: Target, namespace: string, name: string): Promise<AskFrom> {
  const { image } = target.to;
  const securityContext = { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } };
  const command = ["node", "-e", "setTimeout(() => {}, 3_600_000)"];
  const spec = {
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: 1,
    securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
    containers: [{ name, image, command, securityContext }],
  };
  const pod = { apiVersion: "v1", kind: "Pod", metadata: { name, namespace }, spec };
  await target.apply(JSON.stringify(pod));
  await target.kubectl("wait", `pod/${name}`, "-n", namespace, "--for=condition=Ready", "--timeout=60s");
  return await askerIn(target, namespace, name);
}

const connecting = `
const { connect } = require("node:net");
const opens = ([host, port]) => new Promise((resolve) => {
  const socket = connect({ host, port, timeout: 2_000 });
  const end = (opened) => { socket.destroy(); resolve(opened); };
  socket.on("connect", () => end(true)).on("error", () => end(false)).on("timeout", () => end(false));
});
(async () => {
  const reached = {};
  for (const [name, address] of Object.entries(JSON.parse(process.argv[1]))) reached[name] = await opens(address);
  process.stdout.write(JSON.stringify(reached));
})();`;
