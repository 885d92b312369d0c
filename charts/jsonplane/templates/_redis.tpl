{{/* Where Redis is, and how each program is told. */}}

{{- define "jsonplane.redisName" -}}
{{- printf "%s-redis" (include "jsonplane.fullname" .) -}}
{{- end -}}

{{/* Of the bundled Redis' users; the operator makes it. */}}
{{- define "jsonplane.redisSecret" -}}
{{- printf "%s-redis-users" (include "jsonplane.fullname" .) -}}
{{- end -}}

{{/* Not empty where the bundled Redis speaks TLS. */}}
{{- define "jsonplane.redisTls" -}}
{{- with .Values.redis.bundled }}{{ if and .enabled .tls.enabled }}yes{{ end }}{{ end -}}
{{- end -}}

{{/* Not empty where the operator makes the certificate of the bundled Redis: the name of its Secret. */}}
{{- define "jsonplane.redisOwnTlsSecret" -}}
{{- if and (include "jsonplane.redisTls" .) (not .Values.redis.bundled.tls.existingSecret.name) -}}
{{- printf "%s-redis-tls" (include "jsonplane.fullname" .) -}}
{{- end -}}
{{- end -}}

{{/* Of the bundled Redis' certificate, where it speaks TLS. */}}
{{- define "jsonplane.redisTlsSecret" -}}
{{- include "jsonplane.redisOwnTlsSecret" . | default .Values.redis.bundled.tls.existingSecret.name -}}
{{- end -}}

{{/* What programs trust Redis by, as the YAML of a `name` and a `key`; empty = what Node trusts. */}}
{{- define "jsonplane.redisCa" -}}
{{- $external := .Values.redis.external.caSecret -}}
{{- if include "jsonplane.redisTls" . -}}
{{- dict "name" (include "jsonplane.redisTlsSecret" .) "key" "ca.crt" | toYaml -}}
{{- else if and (not .Values.redis.bundled.enabled) $external.name -}}
{{- pick $external "name" "key" | toYaml -}}
{{- end -}}
{{- end -}}

{{/* Refuses what would leave the programs without a Redis, or with two. */}}
{{- define "jsonplane.checkRedis" -}}
{{- $external := .Values.redis.external -}}
{{- $named := or $external.url $external.existingSecret.name -}}
{{- if and .Values.redis.bundled.enabled $named -}}
{{- fail "redis.external names a Redis, and redis.bundled.enabled brings another one: set redis.bundled.enabled=false" -}}
{{- end -}}
{{- if and (not .Values.redis.bundled.enabled) (not $named) -}}
{{- fail "There is no Redis: set redis.external.existingSecret.name (a Secret with store URLs) or redis.external.url, or redis.bundled.enabled=true" -}}
{{- end -}}
{{- if .Values.redis.bundled.enabled -}}
{{- include "jsonplane.checkMemory" .Values.redis.bundled -}}
{{- end -}}
{{- if or (contains "@" (default "" $external.url)) (contains "sentinelPassword=" (default "" $external.url)) -}}
{{- fail "redis.external.url has a user or a password: values are no place for passwords. Put the URLs into a Secret and name it in redis.external.existingSecret.name" -}}
{{- end -}}
{{- if and $external.url $external.existingSecret.name -}}
{{- fail "redis.external.url and redis.external.existingSecret.name both name a Redis: keep one of them" -}}
{{- end -}}
{{- end -}}

{{/* Refuses a bundled Redis that is killed before it has used up its memory for data. */}}
{{- define "jsonplane.checkMemory" -}}
{{- $limit := toString (dig "limits" "memory" "" (default dict .resources)) -}}
{{- $available := include "jsonplane.bytes" $limit -}}
{{- if and $available (ge (float64 (include "jsonplane.bytes" .maxmemory)) (float64 $available)) -}}
{{- fail (printf "redis.bundled.maxmemory is %s, and redis.bundled.resources.limits.memory is %s: Redis would be killed before it refuses a write. Raise the limit to 1.5 to 2 times maxmemory, or lower maxmemory" .maxmemory $limit) -}}
{{- end -}}
{{- end -}}

{{/* Bytes of a quantity of Kubernetes (`1.5Gi`, `2G`, `1e9`), or of an amount of memory as Redis writes it (`640mb`); empty = it is neither. */}}
{{- define "jsonplane.bytes" -}}
{{- $number := regexFind "^[0-9]+([.][0-9]+)?([eE][+-]?[0-9]+)?" . -}}
{{- $factors := dict "" 1.0 "m" 1e-3 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "Ki" 1024.0 "Mi" 1048576.0 "Gi" 1073741824.0 "Ti" 1099511627776.0 "kb" 1024.0 "mb" 1048576.0 "gb" 1073741824.0 -}}
{{- $factor := get $factors (trimPrefix $number .) -}}
{{- if and $number $factor -}}
{{- mulf (float64 $number) $factor -}}
{{- end -}}
{{- end -}}

{{/* Where a Redis of one's own listens: the ports that are said, and those of the URL; with commas between. */}}
{{- define "jsonplane.redisPorts" -}}
{{- $external := .Values.redis.external -}}
{{- $ports := list -}}
{{- range $external.ports -}}
{{- $ports = append $ports (int .) -}}
{{- end -}}
{{- with $external.url -}}
{{- $usual := ternary 26379 6379 (contains "+sentinel:" .) -}}
{{- range regexReplaceAll "^[a-z+]+://([^/?]*).*$" . "${1}" | splitList "," -}}
{{- $ports = append $ports (regexFind "[0-9]+$" (regexFind ":[0-9]+$" .) | default $usual | int) -}}
{{- end -}}
{{- end -}}
{{- uniq $ports | join "," -}}
{{- end -}}

{{/* Environment variables of a program. dict "root" $ "program" "operator", "dataplane" or "backup" */}}
{{- define "jsonplane.redisEnv" -}}
{{- $external := .root.Values.redis.external -}}
{{- $tls := include "jsonplane.redisTls" .root -}}
- name: JSONPLANE_REDIS
{{- if .root.Values.redis.bundled.enabled }}
{{- if eq .program "operator" }}
  value: {{ ternary "rediss" "redis" (not (empty $tls)) }}://{{ include "jsonplane.redisName" .root }}.{{ .root.Release.Namespace }}.svc:6379
- name: JSONPLANE_REDIS_SECRET
  value: {{ include "jsonplane.redisSecret" .root }}
{{- with include "jsonplane.redisOwnTlsSecret" .root }}
- name: JSONPLANE_REDIS_TLS_SECRET
  value: {{ . }}
{{- end }}
{{- else }}
  valueFrom:
    secretKeyRef:
      name: {{ include "jsonplane.redisSecret" .root }}
      key: {{ .program }}{{ if $tls }}-tls{{ end }}-url
{{- end }}
{{- else if $external.url }}
  value: {{ $external.url | quote }}
{{- else }}
  valueFrom:
    secretKeyRef:
      name: {{ $external.existingSecret.name }}
      key: {{ get $external.existingSecret (printf "%sKey" .program) }}
{{- end }}
{{- with include "jsonplane.redisCaOf" . | fromYaml }}
- name: JSONPLANE_REDIS_CA_FILE
  value: /etc/jsonplane/redis-ca/{{ .key }}
{{- end }}
{{- end -}}

{{/* What a program reads from a mounted Secret: an operator that makes the certificate can't wait for it. dict as above */}}
{{- define "jsonplane.redisCaOf" -}}
{{- if not (and (eq .program "operator") (include "jsonplane.redisOwnTlsSecret" .root)) -}}
{{- include "jsonplane.redisCa" .root -}}
{{- end -}}
{{- end -}}

{{- define "jsonplane.redisCaMount" -}}
{{- if include "jsonplane.redisCaOf" . }}
- name: redis-ca
  mountPath: /etc/jsonplane/redis-ca
  readOnly: true
{{- end }}
{{- end -}}

{{- define "jsonplane.redisCaVolume" -}}
{{- with include "jsonplane.redisCaOf" . | fromYaml }}
- name: redis-ca
  secret:
    secretName: {{ .name }}
    items:
      - key: {{ .key }}
        path: {{ .key }}
{{- end }}
{{- end -}}
