package kueueconfig_test

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/batchwright/batchwright/conformance/kueueconfig"
)

const (
	configuration = `apiVersion: v1
data:
  controller_manager_config.yaml: |
    apiVersion: config.kueue.x-k8s.io/v1beta2
    controller:
      groupKindConcurrency:
        Job.batch: 5
    featureGates:
      UnadmittedWorkloadsObservability: true
    integrations:
      frameworks:
      - batch/job
      - jobset.x-k8s.io/jobset
    kind: Configuration
    manageJobsWithoutQueueName: true
    managedJobsNamespaceSelector:
      matchExpressions:
      - key: team
        operator: Exists
    metrics:
      enableClusterQueueResources: true
    resources:
      excludeResourcePrefixes:
      - ephemeral-storage
    waitForPodsReady:
      recoveryTimeout: 15m
      timeout: 30m
    webhook:
      port: 9443
kind: ConfigMap
metadata:
  name: kueue-manager-config
  namespace: kueue-system
`
	team = `apiVersion: v1
kind: Namespace
metadata:
  labels:
    team: team-a
  name: team-a
---
ignored: true
`
)

func TestCheck(t *testing.T) {
	for _, test := range []struct {
		name, old, new string
		want           string // part of an error; "" for none at all
	}{
		{name: "nothing"},
		{"unknown field", "      port: 9443", "      ports: 9443", `unknown field "webhook.ports"`},
		{"unknown version", "v1beta2", "v1beta3", "no kind"},
		{"framework missing", "      - jobset.x-k8s.io/jobset\n", "", "lack Jobs or JobSets"},
		{"metrics off", "Resources: true", "Resources: false", "metrics of quota and usage are off"},
		{
			"unknown feature gate", "Observability: true", "Observability: true\n      Unadmitted: true",
			"unrecognized feature gate: Unadmitted",
		},
		{"feature gate off", "Observability: true", "Observability: false", "metrics of why workloads wait are off"},
		{"wrong duration", "recoveryTimeout: 15m", "recoveryTimeout: 15", "cannot unmarshal"},
		{
			"lost pods waited for as long as it takes", "recoveryTimeout: 15m", "recoveryTimeout: 0s",
			"waits for pods wrongly",
		},
		{
			"one team holds up the others", "      timeout: 30m\n", "      timeout: 30m\n      blockAdmission: true\n",
			"waits for pods wrongly",
		},
		{"other port", "9443", "9444", "differs from Kueue's defaults"},
		{
			"ephemeral storage counted", "      - ephemeral-storage\n", "      - ephemeral\n",
			"need one that is not counted",
		},
		{
			"accelerators not counted", "      - ephemeral-storage\n",
			"      - ephemeral-storage\n      - nvidia.com/\n", "need one that is not counted",
		},
		{"not managed", "QueueName: true", "QueueName: false", "not managed"},
		{
			"every namespace managed", "matchExpressions:\n      - key: team\n        operator: Exists",
			"matchLabels: {}", "jobs in kube-system are managed",
		},
		{"team not managed", "key: team\n", "key: tenant\n", "jobs in team-a are not managed"},
		{
			"not the ConfigMap that Kueue reads", "kueue-manager-config", "kueue-config",
			"does not read ConfigMap kueue-system/kueue-config",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			text := strings.Replace(configuration, test.old, test.new, 1)
			err := errors.Join(kueueconfig.Check(fstest.MapFS{
				"kubernetes/resource-flavors.yaml":           {},
				"kubernetes/system/kueue-configuration.yaml": {Data: []byte(text)},
				"kubernetes/teams/team-a.yaml":               {Data: []byte(team)},
			})...)
			switch {
			case test.want == "" && err != nil:
				t.Errorf("unexpected: %v", err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}
