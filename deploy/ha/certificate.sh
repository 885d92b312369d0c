#!/bin/sh
# Prints the Secrets of a new certificate for the servers of deploy/ha, valid for ten years, which
# openssl makes:
#
#   sh deploy/ha/certificate.sh | kubectl create -f -
#
# redis-tls in the namespace db: the certificate and its key. redis-ca in the namespace
# jsonplane-system: the certificate again. Its own key signed it, and it signs nothing else, so that
# who trusts it trusts these servers alone.
set -eu
umask 077
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

cat >"$folder/openssl.cnf" <<END
[req]
prompt = no
distinguished_name = name
x509_extensions = extensions
[name]
CN = redis.db.svc
[extensions]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth, clientAuth
subjectAltName = DNS:redis-0.db.svc, DNS:redis-1.db.svc, DNS:redis-2.db.svc, DNS:redis-3.db.svc, DNS:redis-4.db.svc, DNS:redis-5.db.svc
END
openssl ecparam -name prime256v1 -genkey -noout -out "$folder/key"
openssl req -x509 -new -sha256 -days 3650 -config "$folder/openssl.cnf" -key "$folder/key" -out "$folder/crt"
# indented FILE: as lines of a YAML text.
indented() { sed 's/^/    /' "$folder/$1"; }

cat <<END
apiVersion: v1
kind: Secret
metadata: { name: redis-tls, namespace: db }
type: kubernetes.io/tls
stringData:
  tls.crt: |
$(indented crt)
  tls.key: |
$(indented key)
  ca.crt: |
$(indented crt)
---
apiVersion: v1
kind: Secret
metadata: { name: redis-ca, namespace: jsonplane-system }
stringData:
  ca.crt: |
$(indented crt)
END
