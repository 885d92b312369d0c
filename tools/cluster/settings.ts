// Writes what the programs of the node read: containerd's, the pod network's, the kubelet's and CoreDNS' settings, the
// administrator's token, and the two kubeconfigs (from this machine, and within the node).

import { randomBytes } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { apiPort, type ClusterPlace, dnsService, podNetwork } from "./layout.ts";

export async function writeSettings(place: ClusterPlace, networkPlugins: string): Promise<void> {
  const write = (name: string, text: string, mode = 0o644) => writeFile(join(place.folder, name), text, { mode });
  const token = randomBytes(24).toString("hex");
  const authority = (await readFile(join(place.folder, "certificates/ca.crt"))).toString("base64");
  await mkdir(join(place.folder, "network"), { recursive: true });
  await write("tokens.csv", `${token},admin,admin,"system:masters"\n`, 0o600);
  await write("kubeconfig", kubeconfig(`https://127.0.0.1:${place.port}`, authority, token), 0o600);
  await write("kubeconfig.node", kubeconfig(`https://${place.nodeAddress}:${apiPort}`, authority, token), 0o600);
  await write("containerd.toml", containerdSettings(place, networkPlugins));
  await write("network/10-jsonplane.conflist", networkSettings());
  await write("kubelet.yaml", kubeletSettings(place));
  await write("resolv.conf", `nameserver ${place.nodeAddress}\n`);
  await write(
    "Corefile",
    `.:53 {\n errors\n ready\n kubernetes cluster.local in-addr.arpa ip6.arpa {\n  kubeconfig ${join(place.folder, "kubeconfig.node")}\n }\n cache 5\n}\n`,
  );
}

function kubeconfig(server: string, authority: string, token: string): string {
  return `apiVersion: v1
kind: Config
clusters: [{name: jsonplane, cluster: {server: "${server}", certificate-authority-data: ${authority}}}]
users: [{name: admin, user: {token: ${token}}}]
contexts: [{name: jsonplane, context: {cluster: jsonplane, user: admin}}]
current-context: jsonplane
`;
}

function containerdSettings(place: ClusterPlace, networkPlugins: string): string {
  // Without CAP_SYS_RESOURCE runc dies on a negative oom_score_adj: restrict_oom_score_adj.
  return `version = 2
root = "${place.folder}/containerd"
state = "/run/containerd"
[grpc]
  address = "${place.containerd}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/pause:1"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "${networkPlugins}"
    conf_dir = "${place.folder}/network"
`;
}

function networkSettings(): string {
  const ipam = { type: "host-local", ranges: [[{ subnet: podNetwork }]], routes: [{ dst: "0.0.0.0/0" }] };
  const bridge = { type: "bridge", bridge: "pods", isGateway: true, ipMasq: true, hairpinMode: true, ipam };
  const plugins = [bridge, { type: "portmap", capabilities: { portMappings: true } }];
  return JSON.stringify({ cniVersion: "0.4.0", name: "jsonplane", plugins });
}

function kubeletSettings(place: ClusterPlace): string {
  return JSON.stringify({
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    failCgroupV1: false,
    cgroupDriver: "cgroupfs",
    cgroupRoot: `/${place.name}`,
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: join(place.folder, "certificates/ca.crt") },
    },
    authorization: { mode: "Webhook" },
    containerRuntimeEndpoint: `unix://${place.containerd}`,
    clusterDNS: [dnsService],
    clusterDomain: "cluster.local",
    evictionHard: { "memory.available": "100Mi", "nodefs.available": "1%" },
    failSwapOn: false,
    // The machine's own may lead into /run, which is another one here.
    resolvConf: join(place.folder, "resolv.conf"),
  });
}
