{{/* Parts of pods that the workloads share. All of them meet the Pod Security Standard "restricted". */}}

{{/* A list of maps, the last of which wins: `merge` would take 0 and false for absent. */}}
{{- define "jsonplane.podSecurityContext" -}}
{{- $context := dict "runAsNonRoot" true "seccompProfile" (dict "type" "RuntimeDefault") -}}
{{- range . -}}
{{- range $name, $value := default dict . -}}
{{- $_ := set $context $name $value -}}
{{- end -}}
{{- end -}}
{{- toYaml $context -}}
{{- end -}}

{{- define "jsonplane.containerSecurityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{/* dict "root" $ "values" .Values.operator "component" "operator" "port" 9090 (absent = no metrics) */}}
{{- define "jsonplane.podMetadata" -}}
{{- /* Without versions: a pod is made anew when something of it changes, and not with every release of the chart. */}}
labels:
  {{- include "jsonplane.selectorLabels" . | nindent 2 }}
  app.kubernetes.io/part-of: jsonplane
  {{- with include "jsonplane.furtherLabels" (list .values.podLabels .root.Values.commonLabels) }}
  {{- . | nindent 2 }}
  {{- end }}
{{- $scraping := dict }}
{{- if and .port .root.Values.metrics.scrapeAnnotations (not (include "jsonplane.tokenSecret" .root)) }}
{{- $scraping = dict "prometheus.io/scrape" "true" "prometheus.io/port" (toString .port) "prometheus.io/path" "/metrics" }}
{{- end }}
{{- with merge (dict) (default dict .annotations) (default dict .values.podAnnotations) $scraping }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Where pods run: over nodes and zones, as far as it goes, and as the values say. dict as above. */}}
{{- define "jsonplane.placement" -}}
topologySpreadConstraints:
  {{- with .values.topologySpreadConstraints }}
  {{- range . }}
  {{- $selector := dict "labelSelector" (dict "matchLabels" (include "jsonplane.selectorLabels" $ | fromYaml)) }}
  - {{ merge (dict) . (ternary (dict) $selector (hasKey . "labelSelector")) | toYaml | nindent 4 | trim }}
  {{- end }}
  {{- else }}
  {{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "jsonplane.selectorLabels" $ | nindent 8 }}
    matchLabelKeys: [pod-template-hash]
  {{- end }}
  {{- end }}
{{- include "jsonplane.nodeChoice" . }}
{{- end -}}

{{- define "jsonplane.nodeChoice" -}}
{{- with .values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Not empty where `env` has the variable `name`. */}}
{{- define "jsonplane.hasEnv" -}}
{{- $wanted := .name }}
{{- range .env }}
{{- if eq .name $wanted }}yes{{ end }}
{{- end }}
{{- end -}}

{{/*
Values of a workload, and `youngHeap`: MiB of each half of the heap for new objects, of which by itself Node would take up to 64 on a large
machine, three times. Node takes half of its memory for the heap by itself. Nothing where no limit says how much there is, nor where extraEnv says it: a name may stand in `env` once.
*/}}
{{- define "jsonplane.heapEnv" -}}
{{- if and .heapPercent ((.resources).limits).memory (not (include "jsonplane.hasEnv" (dict "env" .extraEnv "name" "NODE_OPTIONS"))) }}
- name: NODE_OPTIONS
  value: --max-old-space-size-percentage={{ .heapPercent }} --max-semi-space-size={{ .youngHeap }}
{{- end }}
{{- end -}}

{{/* Not empty where the operator makes the token of metrics: the name of its Secret. */}}
{{- define "jsonplane.ownTokenSecret" -}}
{{- with .Values.metrics.tokenSecret -}}
{{- if and .enabled (not .name) -}}
{{- printf "%s-admin-token" (include "jsonplane.fullname" $) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Where the token of metrics is, as the YAML of a `name` and a `key`; empty = none is required. */}}
{{- define "jsonplane.tokenSecret" -}}
{{- $own := include "jsonplane.ownTokenSecret" . -}}
{{- if $own -}}
{{- dict "name" $own "key" "token" | toYaml -}}
{{- else if .Values.metrics.tokenSecret.enabled -}}
{{- pick .Values.metrics.tokenSecret "name" "key" | toYaml -}}
{{- end -}}
{{- end -}}

{{/* What a program mounts: an operator that makes the Secret can't wait for it. dict "root" $ "program" "operator" or "dataplane" */}}
{{- define "jsonplane.tokenOf" -}}
{{- if not (and (eq .program "operator") (include "jsonplane.ownTokenSecret" .root)) -}}
{{- include "jsonplane.tokenSecret" .root -}}
{{- end -}}
{{- end -}}

{{/* dict as above */}}
{{- define "jsonplane.tokenArgument" -}}
{{- if include "jsonplane.tokenOf" . }}
- --admin-token-file=/etc/jsonplane/metrics-token/token
{{- else if include "jsonplane.ownTokenSecret" .root }}
- --admin-token-secret={{ include "jsonplane.ownTokenSecret" .root }}
{{- end }}
{{- end -}}

{{- define "jsonplane.tokenMount" -}}
{{- if include "jsonplane.tokenOf" . }}
- name: metrics-token
  mountPath: /etc/jsonplane/metrics-token
  readOnly: true
{{- end }}
{{- end -}}

{{- define "jsonplane.tokenVolume" -}}
{{- with include "jsonplane.tokenOf" . | fromYaml }}
- name: metrics-token
  secret:
    secretName: {{ .name | toYaml }}
    items:
      - key: {{ .key | toYaml }}
        path: token
{{- end }}
{{- end -}}
