{{/* Checks of CustomResourceDefinitions, before Helm changes anything. */}}

{{/*
Refuses an upgrade that changes a definition which somebody else applied, too: with server-side apply, as by Helm 4, Helm would meet a conflict when
other objects are changed already. Helm's own fields are those of the manager that has the annotation of the release. Helm 3 asks nobody. `helm template`,
and whatever renders with it, sees no cluster.
*/}}
{{- define "jsonplane.checkDefinitions" -}}
{{- if and .Release.IsUpgrade .Values.crds.enabled (not (hasPrefix "v3." .Capabilities.HelmVersion.Version)) -}}
{{- range $path, $_ := .Files.Glob "files/crds/*.yaml" -}}
{{- $next := $.Files.Get $path | fromYaml -}}
{{- $present := lookup "apiextensions.k8s.io/v1" "CustomResourceDefinition" "" $next.metadata.name -}}
{{- if and $present (ne (toJson $present.spec.versions) (toJson $next.spec.versions)) -}}
{{- $own := "helm" -}}
{{- $others := list -}}
{{- range $present.metadata.managedFields -}}
{{- if hasKey (dig "f:metadata" "f:annotations" (dict) .fieldsV1) "f:meta.helm.sh/release-name" -}}
{{- $own = .manager -}}
{{- else if hasKey (dig "f:spec" (dict) .fieldsV1) "f:versions" -}}
{{- $others = append $others .manager -}}
{{- end -}}
{{- end -}}
{{- with without $others $own -}}
{{- fail (printf "%s was applied by %s, and this chart changes it: Helm would refuse that halfway. Apply the definitions of this chart first: helm template %s CHART --show-only templates/crds.yaml | kubectl apply --server-side --field-manager=%s --force-conflicts -f -" $next.metadata.name (join ", " .) $.Release.Name $own) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
