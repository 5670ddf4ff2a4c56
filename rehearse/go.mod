module github.com/batchwright/batchwright/rehearse

go 1.26.0

require (
	github.com/batchwright/batchwright v0.0.0
	k8s.io/api v0.36.2
	k8s.io/apimachinery v0.36.2
	k8s.io/client-go v0.36.2
	k8s.io/component-base v0.36.2
	sigs.k8s.io/controller-runtime v0.24.1
	sigs.k8s.io/jobset v0.12.0
	sigs.k8s.io/kueue v0.19.2
)

replace github.com/batchwright/batchwright => ../
