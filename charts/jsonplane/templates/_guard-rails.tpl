{{/* Parts of guard-rails.yaml: how the rules are kept, and the CEL with which admission policies read them. */}}

{{/* The ConfigMap of the rules. */}}
{{- define "jsonplane.guardRails" -}}
{{- printf "%s-guard-rails" (include "jsonplane.fullname" .) -}}
{{- end -}}

{{/* Refuses what the operator would refuse: a default that is larger than the largest value beside it. */}}
{{- define "jsonplane.checkGuardRails" -}}
{{- $levels := merge (dict) .Values.guardRails.namespaces (dict "" .Values.guardRails.rules) -}}
{{- range $namespace, $rules := $levels -}}
{{- $where := ternary "guardRails.rules" (printf "guardRails.namespaces.%s" $namespace) (eq $namespace "") -}}
{{- range list "QuotaObjects" "QuotaBytes" "QuotaDocumentKeys" "RequestsPerSecond" "Burst" -}}
{{- $default := get $rules (printf "default%s" .) -}}
{{- $max := get $rules (printf "max%s" .) -}}
{{- if and $default $max (gt (int64 $default) (int64 $max)) -}}
{{- fail (printf "%s.default%s is larger than max%s beside it: make it smaller" $where . .) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Its data, as strings: Helm reads numbers as floats, and would write large ones with an exponent. */}}
{{- define "jsonplane.guardRailsData" -}}
{{- $data := dict "allowedHosts" (join "," .Values.operator.allowedHosts) -}}
{{- range $name, $value := .Values.guardRails.rules -}}
{{- $_ := set $data $name (kindIs "string" $value | ternary $value (printf "%d" (int64 $value))) -}}
{{- end -}}
{{- range $namespace, $rules := .Values.guardRails.namespaces -}}
{{- range $name, $value := $rules -}}
{{- $_ := set $data (printf "%s.%s" $namespace $name) (kindIs "string" $value | ternary $value (printf "%d" (int64 $value))) -}}
{{- end -}}
{{- end -}}
{{- toYaml $data -}}
{{- end -}}

{{/*
The rules as CEL writes a map. They are no parameter of the policies: an API server stops following parameters of a core kind for good once no binding
names them, as while the rules are switched off (kubernetes/kubernetes#130887).
*/}}
{{- define "jsonplane.rulesLiteral" -}}
{{- $members := list -}}
{{- range $key, $text := include "jsonplane.guardRailsData" . | fromYaml -}}
{{- $members = append $members (printf "'%s': '%s'" $key $text) -}}
{{- end -}}
{ {{- join ", " $members -}} }
{{- end -}}

{{/* A rule of the namespace, else of all, as an optional text. It has no mistake: values.schema.json refuses those. */}}
{{- define "jsonplane.rule" -}}
variables.rules[?(request.namespace + '.{{ . }}')].or(variables.rules[?'{{ . }}'])
{{- end -}}

{{/* A rule that is a number, as an optional one. */}}
{{- define "jsonplane.ruleNumber" -}}
{{ include "jsonplane.rule" . }}.optMap(text, int(text))
{{- end -}}

{{/* True if this part of the spec is unchanged: editing something else must not be refused for it. */}}
{{- define "jsonplane.unchanged" -}}
(oldObject != null && oldObject.spec{{ . }} == object.spec{{ . }})
{{- end -}}

{{/*
What all policies have in common. Every rule spares what is unchanged, so an operator that takes its finalizer away is not refused. dict "root" $ "resources" "[projects]"
*/}}
{{- define "jsonplane.policyBegin" -}}
failurePolicy: Fail
matchConstraints:
  resourceRules:
    - apiGroups: [jsonplane.io]
      apiVersions: ["*"]
      operations: [CREATE, UPDATE]
      resources: {{ .resources }}
matchConditions:
  - name: spec-or-annotations-change
    expression: >-
      oldObject == null || oldObject.spec != object.spec ||
      oldObject.metadata.?annotations != object.metadata.?annotations
  # The release's own namespace is the platform's: `helm test` declares a Project there.
  - name: namespaces-of-tenants
    expression: request.namespace != '{{ .root.Release.Namespace }}'
{{- end -}}

{{/* list of a part of the spec, the rule with its largest value, and what it is called */}}
{{- define "jsonplane.atMost" -}}
{{- $part := index . 0 -}}
{{- $rule := index . 1 -}}
- expression: >-
    object.spec{{ $part }}.orValue(0) <= variables.{{ $rule }} ||
    {{ include "jsonplane.unchanged" $part }}
  messageExpression: >-
    'The platform allows namespace "' + request.namespace + '" {{ index . 2 }} of at most ' + string(variables.{{ $rule }})
  reason: Forbidden
{{- end -}}

{{/*
Refuses the annotation by which a Project asks for what an earlier namespace or a backup has left, unless it was there before. While the
operator takes over all that it finds, as after a restore, nothing is refused.
*/}}
{{- define "jsonplane.takesOver" -}}
{{- $annotation := "annotations[?'jsonplane.io/adopt-data'].orValue('')" -}}
{{- if not .Values.operator.adoptData -}}
- expression: >-
    {{ include "jsonplane.rule" "adoptData" }}.orValue('Deny') == 'Allow' ||
    object.metadata.?{{ $annotation }} != 'true' ||
    (oldObject != null && oldObject.metadata.?{{ $annotation }} == 'true')
  messageExpression: >-
    'The platform does not let namespace "' + request.namespace + '" take over data of an earlier namespace: leave
    out the annotation jsonplane.io/adopt-data'
  reason: Forbidden
{{- end -}}
{{- end -}}

{{/* dict "root" $ "name" of the policy */}}
{{- define "jsonplane.policyBinding" -}}
{{- $namespaces := .root.Values.operator.watchNamespaces -}}
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: {{ .name }}
  {{- include "jsonplane.labelsAndAnnotations" (dict "root" .root "component" "operator") | nindent 2 }}
spec:
  policyName: {{ .name }}
  validationActions:
    {{- toYaml .root.Values.guardRails.validationActions | nindent 4 }}
  {{- with $namespaces }}
  matchResources:
    namespaceSelector:
      matchExpressions:
        - key: kubernetes.io/metadata.name
          operator: In
          values:
            {{- toYaml . | nindent 12 }}
  {{- end }}
{{- end -}}
