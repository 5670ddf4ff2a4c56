package kubernetes

import (
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"

	"github.com/batchwright/batchwright/compiler/ir"
)

// baselineCapabilities are the capabilities that containers may add under the
// baseline Pod Security Standard (Kubernetes documentation: "Pod Security
// Standards").
var baselineCapabilities = []string{
	"AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP",
	"SETGID", "SETPCAP", "SETUID", "SYS_CHROOT",
}

// reach lists the parts of a node that pods of the platform's teams may use.
type reach struct {
	network   bool
	libraries []string // folders, read-only
	devices   []string // folders
	lock      bool     // locking memory

	// daemons are the images of containers that may tune the node's kernel. Such a
	// container mounts the folders in kernel and adds capabilities.
	daemons, kernel, capabilities []string
}

func reachOf(p *ir.Platform) reach {
	var r reach
	r.network = slices.ContainsFunc(p.Workloads, func(w ir.Workload) bool { return w.HostNetwork })
	has := func(ways ...ir.GPUDirect) bool {
		return p.AnyCapacity(func(c ir.Capacity) bool { return slices.Contains(ways, c.GPUDirect) })
	}
	if has(ir.RDMA) {
		r.libraries = append(r.libraries, ir.HostGIB)
	}
	if has(ir.RDMA, ir.TCPX, ir.TCPXO) {
		r.libraries = append(r.libraries, ir.HostNVIDIA)
	}
	r.lock = has(ir.RDMA, ir.TCPX)
	if has(ir.TCPXO) {
		r.devices = append(r.devices, ir.HostApertures)
		r.daemons = append(r.daemons, p.Images.Copy(ir.TCPXODaemon))
	}
	if has(ir.TCPX) {
		r.daemons = append(r.daemons, p.Images.Copy(ir.TCPXDaemon))
	}
	if r.daemons != nil {
		r.kernel, r.capabilities = []string{"/sys", "/proc/sys"}, []string{"NET_ADMIN"}
	}
	return r
}

// podsKeepOffTheNode returns the policy that replaces the baseline Pod Security
// Standard in namespaces that cannot enforce it. It refuses the same things, except
// those that some pods need from their nodes. Without it, whoever may submit a job
// there could take over a node and everything that others run on it.
func podsKeepOffTheNode(p *ir.Platform) *admissionv1.ValidatingAdmissionPolicy {
	r := reachOf(p)
	policy := teamPolicy(p, "pods-keep-off-the-node", admissionRule("", "v1", "pods"))
	// Check pods only on creation: an existing pod was admitted then, and ending a
	// pod updates it.
	policy.Spec.MatchConstraints.ResourceRules[0].Operations = []admissionv1.OperationType{admissionv1.Create}
	policy.Spec.Variables = []admissionv1.Variable{
		{Name: "containers", Expression: "object.spec.containers + object.spec.?initContainers.orValue([])"},
		{Name: "folders", Expression: "object.spec.?volumes.orValue([]).filter(v, has(v.hostPath))"},
	}
	add := func(expression, message string) { refuseUnless(policy, expression, message, "") }
	message := "pods must not share the processes of their node: remove hostPID and hostIPC"
	shared := "!object.spec.?hostPID.orValue(false) && !object.spec.?hostIPC.orValue(false)\n"
	if !r.network {
		message = "pods must not share the processes, network or ports of their node: " +
			"remove hostPID, hostIPC, hostNetwork and hostPort"
		shared += "&& !object.spec.?hostNetwork.orValue(false)\n" +
			"&& variables.containers.all(c, c.?ports.orValue([]).all(p, p.?hostPort.orValue(0) == 0))\n"
	}
	add(shared, message)
	add("variables.containers.all(c, !c.?securityContext.?privileged.orValue(false)\n"+
		"&& c.?securityContext.?procMount.orValue('Default') == 'Default'\n"+
		"&& c.?securityContext.?seccompProfile.?type.orValue('') != 'Unconfined'\n"+
		"&& c.?securityContext.?appArmorProfile.?type.orValue('') != 'Unconfined')\n"+
		"&& object.spec.?securityContext.?seccompProfile.?type.orValue('') != 'Unconfined'\n"+
		"&& object.spec.?securityContext.?appArmorProfile.?type.orValue('') != 'Unconfined'\n",
		"containers must be neither privileged nor unconfined: remove privileged, procMount, "+
			"and every seccompProfile and appArmorProfile of type Unconfined")
	capabilities := baselineCapabilities
	if r.lock {
		capabilities = append(slices.Clone(capabilities), "IPC_LOCK")
	}
	allowed := "k in " + celList(capabilities)
	if r.daemons != nil {
		allowed += "\n|| k in " + celList(r.capabilities) + " && c.image in " + celList(r.daemons)
	}
	add("variables.containers.all(c, c.?securityContext.?capabilities.?add.orValue([]).all(k,\n"+allowed+"))\n",
		"containers must not add other capabilities than "+strings.Join(capabilities, ", ")+
			": remove the others from securityContext.capabilities.add")

	folders := slices.Concat(r.libraries, r.devices, r.kernel)
	if folders == nil {
		add("variables.folders == []", "pods must not mount folders of their node: remove the volumes with hostPath")
	} else {
		add("variables.folders.all(v, v.hostPath.path in\n"+celList(folders)+")\n",
			"pods must not mount other folders of their node than "+strings.Join(folders, ", ")+
				": remove the other volumes with hostPath")
	}
	if r.libraries != nil {
		add("variables.containers.all(c, c.?volumeMounts.orValue([]).all(m, m.?readOnly.orValue(false)\n"+
			"|| !variables.folders.exists(v, v.name == m.name && v.hostPath.path in "+celList(r.libraries)+")))\n",
			"containers must mount "+strings.Join(r.libraries, " and ")+
				" read-only, because other pods use them too: set readOnly")
	}
	if r.daemons != nil {
		add("variables.containers.all(c, c.image in "+celList(r.daemons)+" || c.?volumeMounts.orValue([]).all(m,\n"+
			"!variables.folders.exists(v, v.name == m.name && v.hostPath.path in "+celList(r.kernel)+")))\n",
			"containers must not mount "+strings.Join(r.kernel, " and ")+
				": only the daemon of GPUDirect may, so remove the volumeMounts")
	}
	return policy
}

// celList returns a CEL list of strings. None of the words may contain a quote.
func celList(words []string) string {
	if len(words) == 0 {
		return "[]"
	}
	return "['" + strings.Join(words, "', '") + "']"
}
