{{/* Names and labels that all templates share, and whether they can be. */}}

{{/* Refuses that a default was taken away: null as a value does so, and --reuse-values with a chart that has further values. */}}
{{- define "jsonplane.checkValues" -}}
{{- range $path := include "jsonplane.neededValues" . | splitList " " -}}
{{- $at := $.Values -}}
{{- $found := true -}}
{{- range splitList "." $path -}}
{{- $group := ternary $at dict (kindIs "map" $at) -}}
{{- $found = hasKey $group . -}}
{{- $at = get $group . -}}
{{- end -}}
{{- if or (not $found) (kindIs "invalid" $at) -}}
{{- fail (printf "%s has no value: give it one, or take the line out; with helm upgrade, use --reset-then-reuse-values" $path) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "jsonplane.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "jsonplane.fullname" -}}
{{- $name := include "jsonplane.name" . -}}
{{- if .Values.fullnameOverride -}}
{{- $name = .Values.fullnameOverride -}}
{{- else if contains $name .Release.Name -}}
{{- $name = .Release.Name -}}
{{- else -}}
{{- $name = printf "%s-%s" .Release.Name $name -}}
{{- end -}}
{{- regexReplaceAll "-+$" (trunc 40 $name) "" -}}
{{- end -}}

{{/* Refuses what the API server would refuse when half of the objects are there. */}}
{{- define "jsonplane.checkNames" -}}
{{- $name := include "jsonplane.fullname" . -}}
{{- if not (regexMatch "^[a-z][-a-z0-9]*$" $name) -}}
{{- fail (printf "Objects would be called %s, but a Service's name begins with a letter and has no dot: set fullnameOverride" $name) -}}
{{- end -}}
{{- end -}}

{{/*
Refuses a second release in one namespace: both would have one Lease and one key ring. `helm template`, and whatever renders with it, sees
no cluster, and refuses nothing. An upgrade is not refused: the release that was there first must go on upgrading.
*/}}
{{- define "jsonplane.checkReleases" -}}
{{- if .Release.IsInstall -}}
{{- range (lookup "apps/v1" "Deployment" .Release.Namespace "").items -}}
{{- $labels := default dict .metadata.labels -}}
{{- $isOperator := and (eq (get $labels "app.kubernetes.io/part-of") "jsonplane") (eq (get $labels "app.kubernetes.io/component") "operator") -}}
{{- $release := get $labels "app.kubernetes.io/instance" -}}
{{- if and $isOperator (ne $release $.Release.Name) -}}
{{- fail (printf "The release %s of jsonplane is in the namespace %s already: install into another namespace" $release $.Release.Namespace) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Where releases of several namespaces meet. No namespace has a dot in its name, so that no two read alike. */}}
{{- define "jsonplane.clusterName" -}}
{{- printf "%s.%s" .Release.Namespace (include "jsonplane.fullname" .) -}}
{{- end -}}

{{/* The Secret of the key ring, which the operator makes. */}}
{{- define "jsonplane.keyringSecret" -}}jsonplane-keyring{{- end -}}

{{/* dict "root" $ "component" "operator" */}}
{{- define "jsonplane.selectorLabels" -}}
app.kubernetes.io/name: {{ include "jsonplane.name" .root | toYaml }}
app.kubernetes.io/instance: {{ .root.Release.Name | toYaml }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{/* Labels that values bring. A list of maps, the first of which wins. */}}
{{- define "jsonplane.furtherLabels" -}}
{{- $labels := dict -}}
{{- range . -}}
{{- $labels = merge $labels (default dict .) -}}
{{- end -}}
{{- range list "name" "instance" "component" "part-of" "version" "managed-by" -}}
{{- if hasKey $labels (printf "app.kubernetes.io/%s" .) -}}
{{- fail (printf "app.kubernetes.io/%s is the chart's own: take it out of commonLabels, podLabels and labels" .) -}}
{{- end -}}
{{- end -}}
{{- with $labels -}}
{{- toYaml . -}}
{{- end -}}
{{- end -}}

{{/* dict "root" $ "component" "operator" "more" labels of the values, for this object alone */}}
{{- define "jsonplane.labels" -}}
{{ include "jsonplane.selectorLabels" . }}
app.kubernetes.io/part-of: jsonplane
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- with include "jsonplane.furtherLabels" (list .more .root.Values.commonLabels) }}
{{ . }}
{{- end }}
{{- end -}}

{{/* Labels and annotations of an object. dict as of labels; "annotations" annotations of the values, for this object alone */}}
{{- define "jsonplane.labelsAndAnnotations" -}}
labels:
  {{- include "jsonplane.labels" . | nindent 2 }}
{{- with merge (dict) (default dict .annotations) (default dict .root.Values.commonAnnotations) }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "jsonplane.serviceAccount" -}}
{{- $account := .Values.operator.serviceAccount -}}
{{- if not (or $account.create $account.name) -}}
{{- fail "operator.serviceAccount.create is false: set operator.serviceAccount.name to an existing ServiceAccount" -}}
{{- end -}}
{{- default (printf "%s-operator" (include "jsonplane.fullname" .)) $account.name -}}
{{- end -}}

{{/*
dict "root" $ "image" .Values.image "tag" "the one without a tag" "pinned" name of the annotation in which a released chart has the image with its
digest: it is used where the values name the same repository and tag
*/}}
{{- define "jsonplane.image" -}}
{{- if not (or .image.digest .image.tag .tag) -}}
{{- fail (printf "The image %s has neither tag nor digest" .image.repository) -}}
{{- end -}}
{{- $name := printf "%s:%s" .image.repository (default .tag .image.tag) -}}
{{- $pinned := "" -}}
{{- with .root.Chart.Annotations -}}
{{- $pinned = index . $.pinned | default "" -}}
{{- end -}}
{{- if .image.digest -}}
{{- printf "%s@%s" .image.repository .image.digest -}}
{{- else if hasPrefix (print $name "@") $pinned -}}
{{- $pinned -}}
{{- else -}}
{{- $name -}}
{{- end -}}
{{- end -}}

{{- define "jsonplane.hostOfURL" -}}
{{- if hasPrefix "*" . -}}
{{- fail (printf "%s is no host of a URL: set publicURL, or name another host first" .) -}}
{{- end -}}
{{- . -}}
{{- end -}}

{{- define "jsonplane.publicURL" -}}
{{- if .Values.publicURL -}}
{{- .Values.publicURL | trimSuffix "/" -}}
{{- else if and .Values.ingress.enabled .Values.ingress.hosts -}}
{{- printf "%s://%s" (ternary "https" "http" (gt (len .Values.ingress.tls) 0)) (include "jsonplane.hostOfURL" (first .Values.ingress.hosts)) -}}
{{- else if and .Values.httpRoute.enabled .Values.httpRoute.hostnames -}}
{{- printf "https://%s" (include "jsonplane.hostOfURL" (first .Values.httpRoute.hostnames)) -}}
{{- else -}}
{{- include "jsonplane.serviceURL" . -}}
{{- end -}}
{{- end -}}

{{- define "jsonplane.serviceURL" -}}
{{- $port := int .Values.dataplane.service.port -}}
{{- printf "http://%s.%s.svc%s" (include "jsonplane.fullname" .) .Release.Namespace (ternary "" (printf ":%d" $port) (eq $port 80)) -}}
{{- end -}}
