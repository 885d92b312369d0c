// Writes what the programs of the node read: containerd's, the pod network's, the kubelet's and
// CoreDNS' settings, the administrator's token, and the two kubeconfigs (from this machine, and
// within the node).

import { randomBytes } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { apiPort, type ClusterLayout, dnsService, podNetwork } from "./layout.ts";

export async function writeSettings(layout: ClusterLayout, networkPlugins: string): Promise<void> {
  const write = (name: string, text: string, mode = 0o644) => writeFile(join(layout.folder, name), text, { mode });
  const token = randomBytes(24).toString("hex");
  const authority = (await readFile(join(layout.folder, "certificates/ca.crt"))).toString("base64");
  await mkdir(join(layout.folder, "network"), { recursive: true });
  await write("tokens.csv", `${token},admin,admin,"system:masters"\n`, 0o600);
  await write("kubeconfig", kubeconfig(`https://127.0.0.1:${layout.port}`, authority, token), 0o600);
  await write("kubeconfig.node", kubeconfig(`https://${layout.nodeAddress}:${apiPort}`, authority, token), 0o600);
  await write("containerd.toml", containerdSettings(layout, networkPlugins));
  await write("network/10-jsonplane.conflist", networkSettings());
  await write("kubelet.yaml", kubeletSettings(layout));
  await write("resolv.conf", `nameserver ${layout.nodeAddress}\n`);
  await write(
    "Corefile",
    `.:53 {\n errors\n ready\n kubernetes cluster.local in-addr.arpa ip6.arpa {\n  kubeconfig ${join(layout.folder, "kubeconfig.node")}\n }\n cache 5\n}\n`,
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

function containerdSettings(layout: ClusterLayout, networkPlugins: string): string {
  // Without CAP_SYS_RESOURCE runc dies on a negative oom_score_adj: restrict_oom_score_adj.
  return `version = 2
root = "${layout.folder}/containerd"
state = "/run/containerd"
[grpc]
  address = "${layout.containerd}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/pause:1"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "${networkPlugins}"
    conf_dir = "${layout.folder}/network"
`;
}

function networkSettings(): string {
  const ipam = { type: "host-local", ranges: [[{ subnet: podNetwork }]], routes: [{ dst: "0.0.0.0/0" }] };
  const bridge = { type: "bridge", bridge: "pods", isGateway: true, ipMasq: true, hairpinMode: true, ipam };
  const plugins = [bridge, { type: "portmap", capabilities: { portMappings: true } }];
  return JSON.stringify({ cniVersion: "0.4.0", name: "jsonplane", plugins });
}

function kubeletSettings(layout: ClusterLayout): string {
  return JSON.stringify({
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    failCgroupV1: false,
    cgroupDriver: "cgroupfs",
    cgroupRoot: `/${layout.name}`,
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: join(layout.folder, "certificates/ca.crt") },
    },
    authorization: { mode: "Webhook" },
    containerRuntimeEndpoint: `unix://${layout.containerd}`,
    clusterDNS: [dnsService],
    clusterDomain: "cluster.local",
    evictionHard: { "memory.available": "100Mi", "nodefs.available": "1%" },
    failSwapOn: false,
    // The machine's own may lead into /run, which is another one here.
    resolvConf: join(layout.folder, "resolv.conf"),
  });
}
