// Package export makes a trace of what a cluster with Kueue has done. The Workloads of the
// cluster go in, as "kubectl get workloads --all-namespaces -o json" prints them, and the
// jobs that have finished come out, as lines that package trace reads.
//
// Only what the columns name leaves the package: the pods of Workloads can contain secrets.
package export

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/trace"
)

// Jobs are the jobs of one or more exports. The zero Jobs is empty and ready for use.
type Jobs struct {
	rows []row
	// Omitted counts the Workloads that are no line, by the reason.
	Omitted map[Reason]int

	seen map[types.UID]bool // the Workloads that are lines
}

// Reason says why a Workload is no line, in words for the user.
type Reason string

// The reasons.
const (
	Unfinished Reason = "not finished"
	Unrun      Reason = "finished without quota"
	Backwards  Reason = "finished before the admission"
	Repeated   Reason = "in the files before"
)

// Reasons returns all reasons in the order in which they are printed.
func Reasons() []Reason { return []Reason{Unfinished, Unrun, Backwards, Repeated} }

// Len returns the number of jobs.
func (j *Jobs) Len() int { return len(j.rows) }

// row is a line of the trace.
type row struct {
	submitted   time.Time
	seconds     int64
	team, tier  string
	name        string // orders jobs of one second
	pods        int64
	accelerator int64
	cpu, memory resource.Quantity
}

// ErrNoWorkloads marks the error about a text that is JSON, but contains no Workloads.
var ErrNoWorkloads = errors.New("no Workloads of Kueue")

// Read adds the jobs of an export: a List of Workloads, or one Workload, of the API versions
// v1beta1 and v1beta2, whose fields here are the same. Fields that are unknown are
// ignored, because a cluster can have a newer Kueue. A Workload of an earlier export counts
// once. An error names the line of the text, unless the file cannot be read.
func (j *Jobs) Read(in io.Reader) error {
	if j.Omitted == nil {
		j.Omitted, j.seen = map[Reason]int{}, map[types.UID]bool{}
	}
	lines := &lineCounter{in: bufio.NewReader(in)}
	decoder := json.NewDecoder(lines)
	err := j.readObject(decoder)
	if err == nil {
		if _, more := decoder.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("text follows the JSON")
		}
	}
	if err == nil {
		return nil
	}
	if errors.As(err, new(*fs.PathError)) {
		return err
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		if lines.bytes == 0 {
			return errors.New("the file is empty")
		}
		return fmt.Errorf("line %d: the JSON ends too early: the file was cut off", lines.lineOf(lines.bytes))
	}
	return fmt.Errorf("line %d: %w", lines.lineOf(decoder.InputOffset()), err)
}

// readObject reads a List or a Workload. It keeps only one item in memory.
func (j *Jobs) readObject(decoder *json.Decoder) error {
	start, err := decoder.Token()
	if err != nil {
		return err
	}
	if start != json.Delim('{') {
		return fmt.Errorf("%w: a JSON object is expected", ErrNoWorkloads)
	}
	whole, listed := map[string]json.RawMessage{}, false
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return err
		}
		if key != "items" {
			var value json.RawMessage
			if err := decoder.Decode(&value); err != nil {
				return err
			}
			whole[key.(string)] = value
			continue
		}
		listed = true
		if err := j.readItems(decoder); err != nil {
			return err
		}
	}
	if _, err := decoder.Token(); err != nil || listed {
		return err
	}
	text, err := json.Marshal(whole)
	if err != nil {
		return err
	}
	return j.add(text)
}

// readItems reads the array of a List.
func (j *Jobs) readItems(decoder *json.Decoder) error {
	start, err := decoder.Token()
	if err != nil {
		return err
	}
	if start != json.Delim('[') {
		return fmt.Errorf("%w: items is no list", ErrNoWorkloads)
	}
	for decoder.More() {
		var item json.RawMessage
		if err := decoder.Decode(&item); err != nil {
			return err
		}
		if err := j.add(item); err != nil {
			return err
		}
	}
	_, err = decoder.Token()
	return err
}

// add adds the job of a Workload, or counts why it is none.
func (j *Jobs) add(text json.RawMessage) error {
	var kind metav1.TypeMeta
	if err := json.Unmarshal(text, &kind); err != nil {
		return err
	}
	group, version, _ := strings.Cut(kind.APIVersion, "/")
	want := kueue.SchemeGroupVersion.Group
	switch {
	case kind.Kind != "Workload" || group != want:
		return fmt.Errorf("%w: an object has the kind %q of %q", ErrNoWorkloads, kind.Kind, kind.APIVersion)
	case version != "v1beta1" && version != "v1beta2":
		return fmt.Errorf("the API version %s of a Workload is unknown, want v1beta1 or v1beta2", kind.APIVersion)
	}
	w := &kueue.Workload{}
	if err := json.Unmarshal(text, w); err != nil {
		return err
	}
	r, reason := rowOf(w)
	if reason == "" && j.seen[w.UID] {
		reason = Repeated
	}
	if reason != "" {
		j.Omitted[reason]++
		return nil
	}
	j.rows = append(j.rows, r)
	if w.UID != "" {
		j.seen[w.UID] = true
	}
	return nil
}

// rowOf returns the line of a Workload, or why it is none.
//
// A job runs from the last moment at which it was admitted and, if Kueue watches the pods,
// all its pods were ready. What it did before an eviction is not counted: most jobs do it
// again.
func rowOf(w *kueue.Workload) (row, Reason) {
	finished := meta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadFinished)
	if finished == nil || finished.Status != metav1.ConditionTrue {
		return row{}, Unfinished
	}
	admitted := meta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadAdmitted)
	if admitted == nil || admitted.Status != metav1.ConditionTrue || w.Status.Admission == nil {
		return row{}, Unrun
	}
	started := admitted.LastTransitionTime.Time
	if ready := meta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadPodsReady); ready != nil &&
		ready.Status == metav1.ConditionTrue && ready.LastTransitionTime.After(started) &&
		!finished.LastTransitionTime.Before(&ready.LastTransitionTime) {
		started = ready.LastTransitionTime.Time
	}
	ran := finished.LastTransitionTime.Sub(started)
	if ran < 0 || admitted.LastTransitionTime.Before(&w.CreationTimestamp) {
		return row{}, Backwards
	}
	out := row{
		submitted: w.CreationTimestamp.UTC(), seconds: max(1, int64(ran.Seconds())),
		team: w.Namespace, tier: tierOf(w), name: w.Name,
	}
	out.count(w.Status.Admission.PodSetAssignments)
	return out, ""
}

// tierOf returns the tier of a Workload: the name of its LocalQueue, without what the
// folders of batchwright write before the tier.
func tierOf(w *kueue.Workload) string {
	return strings.TrimPrefix(string(w.Spec.QueueName), ir.LocalQueuePrefix+w.Namespace+"-")
}

// count sets the pods and the amounts of all pods together. If the accelerators cannot be
// divided evenly among all pods, it counts only the pods that have some. If these are
// unlike, their number becomes the greatest common divisor of both.
func (r *row) count(sets []kueue.PodSetAssignment) {
	r.addUp(sets)
	if r.accelerator%max(1, r.pods) == 0 {
		return
	}
	r.addUp(slices.DeleteFunc(slices.Clone(sets), func(s kueue.PodSetAssignment) bool {
		return acceleratorsOf(s.ResourceUsage) == 0
	}))
	for a, b := r.accelerator, r.pods; ; a, b = b, a%b { // Euclid's algorithm
		if b == 0 {
			r.pods = a
			return
		}
	}
}

func (r *row) addUp(sets []kueue.PodSetAssignment) {
	r.pods, r.accelerator, r.cpu, r.memory = 0, 0, resource.Quantity{}, resource.Quantity{}
	for _, s := range sets {
		if s.Count != nil {
			r.pods += int64(*s.Count)
		}
		r.accelerator += acceleratorsOf(s.ResourceUsage)
		r.cpu.Add(s.ResourceUsage[corev1.ResourceCPU])
		r.memory.Add(s.ResourceUsage[corev1.ResourceMemory])
	}
	r.pods = max(1, r.pods)
}

func acceleratorsOf(usage corev1.ResourceList) int64 {
	gpus, chips := usage[ir.GPU], usage[ir.TPU]
	return gpus.Value() + chips.Value()
}

// Write writes the trace, by time of submission, then by namespace and name.
func (j *Jobs) Write(out io.Writer) error {
	slices.SortFunc(j.rows, func(a, b row) int {
		return cmp.Or(a.submitted.Compare(b.submitted), cmp.Compare(a.team, b.team), cmp.Compare(a.name, b.name))
	})
	w := csv.NewWriter(out)
	header := []string{}
	for c := range trace.Memory + 1 {
		header = append(header, c.String())
	}
	if err := w.Write(header); err != nil {
		return err
	}
	for _, r := range j.rows {
		cpu := strconv.FormatFloat(float64(r.cpu.MilliValue())/1000, 'f', -1, 64)
		if err := w.Write([]string{
			r.submitted.Format(time.RFC3339), strconv.FormatInt(r.seconds, 10), r.team, r.tier,
			strconv.FormatInt(r.pods, 10), strconv.FormatInt(r.accelerator, 10), cpu, r.memory.String(),
		}); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

// lineCounter counts the lines of what is read.
type lineCounter struct {
	in    io.Reader
	bytes int64
	ends  []int64 // offsets of the ends of lines
}

// Read implements io.Reader.
func (l *lineCounter) Read(p []byte) (int, error) {
	n, err := l.in.Read(p)
	for rest, at := p[:n], l.bytes; ; {
		i := bytes.IndexByte(rest, '\n')
		if i < 0 {
			break
		}
		at += int64(i) + 1
		l.ends = append(l.ends, at)
		rest = rest[i+1:]
	}
	l.bytes += int64(n)
	return n, err
}

// lineOf returns the line of an offset, from 1.
func (l *lineCounter) lineOf(offset int64) int {
	i, _ := slices.BinarySearch(l.ends, offset+1)
	return i + 1
}
