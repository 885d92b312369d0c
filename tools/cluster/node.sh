#!/bin/sh
# The node: the first process of its own process, mount and network namespaces. It runs a container
# runtime, a Kubernetes control plane, a kubelet and what belongs to them, and starts again what
# ends. When it is killed, everything in it is gone. Called by supervise.ts with everything it needs
# in the environment.
set -eu

mount --make-rslave /
mount -t proc proc /proc
mount -t tmpfs tmpfs /run
for path in /var/lib/kubelet /var/lib/cni /var/log/pods /var/log/containers; do
  mkdir -p "$FOLDER/node$path"
  mount --bind "$FOLDER/node$path" "$path"
done
mount --make-rshared /
ip link set lo up
until ip address add "$NODE_ADDRESS/30" dev eth0 2>/dev/null; do sleep 0.02; done
ip link set eth0 up
ip route add default via "$HOST_ADDRESS"
echo 1 >/proc/sys/net/ipv4/ip_forward
if [ -e /proc/sys/net/bridge/bridge-nf-call-iptables ]; then echo 1 >/proc/sys/net/bridge/bridge-nf-call-iptables; fi

# keep NAME COMMAND…: runs it again when it ends, in the background.
keep() {
  name=$1
  shift
  (
    while :; do
      "$@" >>"$FOLDER/log/$name.log" 2>&1 || echo "$name ended with code $?" >>"$FOLDER/log/$name.log"
      sleep 1
    done
  ) &
}

certificates=$FOLDER/certificates
admin=$FOLDER/kubeconfig.node
keep containerd containerd -c "$FOLDER/containerd.toml"
keep etcd "$ETCD" --data-dir "$FOLDER/etcd" --listen-client-urls http://127.0.0.1:2379 \
  --advertise-client-urls http://127.0.0.1:2379 --listen-peer-urls http://127.0.0.1:2380 --unsafe-no-fsync
keep kube-apiserver "$KUBE_APISERVER" --etcd-servers http://127.0.0.1:2379 \
  --secure-port "$API_PORT" --advertise-address "$NODE_ADDRESS" --cert-dir "$certificates" \
  --tls-cert-file "$certificates/server.crt" --tls-private-key-file "$certificates/server.key" \
  --client-ca-file "$certificates/ca.crt" --token-auth-file "$FOLDER/tokens.csv" --authorization-mode RBAC,Node \
  --service-account-key-file "$certificates/accounts.pub" --service-account-signing-key-file "$certificates/accounts.key" \
  --service-account-issuer https://kubernetes.default.svc --service-cluster-ip-range "$SERVICE_NETWORK" --allow-privileged \
  --kubelet-preferred-address-types InternalIP \
  --kubelet-client-certificate "$certificates/server.crt" --kubelet-client-key "$certificates/server.key" \
  --requestheader-client-ca-file "$certificates/front-ca.crt" --requestheader-allowed-names front-proxy \
  --requestheader-username-headers X-Remote-User --requestheader-group-headers X-Remote-Group \
  --requestheader-extra-headers-prefix X-Remote-Extra- --enable-aggregator-routing \
  --proxy-client-cert-file "$certificates/front.crt" --proxy-client-key-file "$certificates/front.key"

until [ -e "$FOLDER/api-ready" ]; do sleep 0.1; done
keep kube-controller-manager "$KUBE_CONTROLLER_MANAGER" --kubeconfig "$admin" --bind-address 127.0.0.1 \
  --service-account-private-key-file "$certificates/accounts.key" --root-ca-file "$certificates/ca.crt" \
  --use-service-account-credentials --leader-elect=false
keep kube-scheduler "$KUBE_SCHEDULER" --kubeconfig "$admin" --leader-elect=false --bind-address 127.0.0.1
keep kubelet "$KUBELET" --kubeconfig "$admin" --config "$FOLDER/kubelet.yaml" --hostname-override "$NODE_NAME" \
  --node-ip "$NODE_ADDRESS"
keep kube-proxy "$KUBE_PROXY" --kubeconfig "$admin" --hostname-override "$NODE_NAME" --bind-address "$NODE_ADDRESS" \
  --cluster-cidr "$POD_NETWORK" --conntrack-max-per-core 0
# It enforces NetworkPolicies. Until the node is registered, it ends and is started again. It lets
# packets out before kube-proxy refuses those to a Service without a ready pod: a route does that.
ip rule add iif pods to "$SERVICE_NETWORK" unreachable
keep kube-router "$KUBE_ROUTER" --run-firewall --run-router=false --run-service-proxy=false --enable-cni=false \
  --kubeconfig "$admin" --hostname-override "$NODE_NAME" --service-cluster-ip-range "$SERVICE_NETWORK" --health-port 0
keep coredns "$COREDNS" -conf "$FOLDER/Corefile"
if [ -n "${METRICS_SERVER:-}" ]; then
  keep metrics-server "$METRICS_SERVER" --kubeconfig "$admin" --authentication-kubeconfig "$admin" \
    --authorization-kubeconfig "$admin" --secure-port 4443 --cert-dir "$FOLDER/metrics-certificates" --kubelet-insecure-tls \
    --kubelet-preferred-address-types InternalIP --metric-resolution 15s
fi
wait
