#!/bin/sh
# Prints the Secrets of deploy/ha with new passwords:
#
#   sh deploy/ha/secrets.sh sentinel | kubectl create -f -
#   sh deploy/ha/secrets.sh cluster | kubectl create -f -
#
# redis-users in the namespace db: what Redis and the Sentinels read, and the password of
# jsonplane-admin, for people. jsonplane-redis in the namespace jsonplane-system: the URLs, as the
# chart wants them.
set -eu

password() { head -c 24 /dev/urandom | od -An -v -tx1 | tr -d ' \n'; }
# hosts LAST PORT: redis-0 to redis-LAST
hosts() {
  n=0 list=""
  while [ "$n" -le "$1" ]; do
    list="$list${list:+,}redis-$n.db.svc:$2"
    n=$((n + 1))
  done
  echo "$list"
}

operator=$(password) dataplane=$(password) backup=$(password) admin=$(password)
replica=$(password) sentinel=$(password) sentinels=$(password)

case "${1-}" in
  sentinel) scheme=rediss+sentinel at="$(hosts 2 26379)/main?sentinelPassword=$sentinels" ;;
  cluster) scheme=rediss+cluster at=$(hosts 5 6379) ;;
  *) echo "Usage: secrets.sh sentinel | cluster" >&2 && exit 2 ;;
esac
acl=$(sed -e "s/OPERATOR_PASSWORD/$operator/" -e "s/DATAPLANE_PASSWORD/$dataplane/" \
  -e "s/BACKUP_PASSWORD/$backup/" -e "s/ADMIN_PASSWORD/$admin/" \
  -e "s/REPLICA_PASSWORD/$replica/" -e "s/SENTINEL_PASSWORD/$sentinel/" \
  "$(dirname "$0")/users.acl")

cat <<END
apiVersion: v1
kind: Secret
metadata: { name: redis-users, namespace: db }
stringData:
  admin-password: $admin
  users.acl: |
$(echo "$acl" | sed 's/^/    /')
  replication.conf: |
    masteruser replica
    masterauth $replica
  sentinel.conf: |
    requirepass $sentinels
    sentinel sentinel-pass $sentinels
    sentinel auth-user main sentinel
    sentinel auth-pass main $sentinel
---
apiVersion: v1
kind: Secret
metadata: { name: jsonplane-redis, namespace: jsonplane-system }
stringData:
  operator-url: $scheme://jsonplane-operator:$operator@$at
  dataplane-url: $scheme://jsonplane-dataplane:$dataplane@$at
  backup-url: $scheme://jsonplane-backup:$backup@$at
END
