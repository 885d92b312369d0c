{{/* What the operator may do where its objects are. */}}

{{- define "jsonplane.watchedRules" -}}
{{- $kinds := list "projects" "apiresources" "projectusers" "apikeys" "rootkeys" -}}
- apiGroups: [jsonplane.io]
  resources: [{{ join ", " $kinds }}]
  verbs: [get, list, watch]
- apiGroups: [jsonplane.io]
  resources: [projects/status, apiresources/status, projectusers/status, apikeys/status, rootkeys/status]
  verbs: [patch]
{{- if not .Values.operator.watchNamespaces }}
- apiGroups: [jsonplane.io]
  resources: [projects, apiresources, rootkeys]
  verbs: [patch, update]
{{- end }}
- apiGroups: [""]
  resources: [secrets]
  verbs: [get, list, watch, create, update, delete]
- apiGroups: [""]
  resources: [namespaces]
  verbs: [{{ ternary "get" "get, list, watch" (gt (len (default list .Values.operator.watchNamespaces)) 0) }}]
{{- if not .Values.operator.watchNamespaces }}
- apiGroups: [apiextensions.k8s.io]
  resources: [customresourcedefinitions]
  resourceNames: [{{ range $i, $kind := $kinds }}{{ if $i }}, {{ end }}{{ $kind }}.jsonplane.io{{ end }}]
  verbs: [get]
{{- end }}
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create, patch]
{{- if not .Values.operator.watchNamespaces }}
- nonResourceURLs: [/.well-known/openid-configuration, /openid/v1/jwks]
  verbs: [get]
{{- end }}
{{- end -}}

{{/* dict "root" $ "name" name of Role and binding "namespace" where "described" its labels and annotations, text */}}
{{- define "jsonplane.binding" -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: {{ .name }}
  namespace: {{ .namespace | toYaml }}
  {{- .described | nindent 2 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: {{ .name }}
subjects:
  - kind: ServiceAccount
    name: {{ include "jsonplane.serviceAccount" .root | toYaml }}
    namespace: {{ .root.Release.Namespace | toYaml }}
{{- end -}}
