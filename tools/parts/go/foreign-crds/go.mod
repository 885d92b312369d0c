module jsonplane.invalid/foreign-crds

go 1.24

require (
	github.com/prometheus-operator/prometheus-operator v0.85.0
	sigs.k8s.io/gateway-api v1.4.1
)
