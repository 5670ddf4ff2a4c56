package documents_test

import "strconv"

// blueprintPart is a part of the blueprint in docs/concepts.md, and what it becomes.
type blueprintPart struct {
	class         string
	code, objects []string
}

func blueprintParts() []blueprintPart {
	return []blueprintPart{
		{"green", []string{
			`hardware: l4: machine: "g2-standard-24"`,
			`capacity: "l4-spot": {`,
			`  hardware: "l4", consumption: spot: {}`,
			`  maxNodes: 8`,
			`}`,
		}, []string{"Node pool and ResourceFlavor l4-spot", "0 to 8 Spot nodes, 2 L4 GPUs each"}},
		{"purple", []string{
			`tiers: batch: {`,
			`  priority: 10, default: true`,
			`  capacity: ["l4-spot"]`,
			`}`,
		}, []string{"PriorityClass batch", "value 10"}},
		{"blue", []string{
			`cohorts: lab: {}`,
		}, []string{"Cohort lab"}},
		{"orange", []string{
			`teams: [string]: {`,
			`  cohort: "lab"`,
			`  quota: batch: "l4-spot": {`,
			`    accelerators: 8, borrow: 4`,
			`  }`,
			`}`,
			`teams: {vision: {}, speech: {}}`,
		}, []string{"Namespaces vision and speech", "each with a LocalQueue and a ClusterQueue:",
			"nominalQuota 8, borrowingLimit 4"}},
	}
}

// drawBlueprint shows what the parts of the blueprint in docs/concepts.md become.
func drawBlueprint() *picture {
	p := &picture{width: 720, height: 436, title: "What the parts of a blueprint become in the cluster"}
	const left, leftWidth, right, rightWidth = 16, 310, 404, 300
	p.write("title outside", left, 30, "platform.cue")
	p.write("title outside", right, 30, "GKE cluster research")
	p.write("note middle", (left+leftWidth+right)/2, 30, "becomes")
	y := 44
	for _, part := range blueprintParts() {
		height := 17*len(part.code) + 14
		p.rectangle(part.class, left, y, leftWidth, height)
		p.write("code", left+12, y+20, part.code...)
		p.box(part.class, right, y, rightWidth, height, part.objects...)
		p.arrow(left+leftWidth+6, y+height/2, right-6, y+height/2)
		y += height + 10
	}
	return p
}

// drawLife shows the states of a job.
func drawLife() *picture {
	p := &picture{width: 720, height: 236}
	p.title = "The states of a job: waits, admitted, runs, ends; evicted jobs wait again"
	const width, height, gap, top = 122, 74, 20, 92
	x := 15
	for i, state := range []struct {
		class string
		lines []string
		see   []string
	}{
		{"plain", []string{"Submitted", "a Job in a", "LocalQueue"}, []string{"the API server", "checks it"}},
		{"blue", []string{"Waits", "for quota, by", "priority and age"}, []string{"Suspended,", "no pods"}},
		{"purple", []string{"Admitted", "the quota is", "reserved"}, []string{"pods Pending,", "nodes start"}},
		{"green", []string{"Runs", "all pods, on one", "capacity"}, []string{"pods Running"}},
		{"plain", []string{"Ends", "the quota", "is free"}, []string{"Complete", "or Failed"}},
	} {
		p.box(state.class, x, top, width, height, state.lines...)
		p.write("note middle", x+width/2, top+height+22, state.see...)
		if i > 0 {
			p.arrow(x-gap, top+height/2, x-2, top+height/2)
		}
		x += width + gap
	}
	waits, admitted, runs := 15+width+gap+width/2, 15+2*(width+gap)+width/2, 15+3*(width+gap)+width/2
	p.arrow(runs, top, runs, 36, waits-20, 36, waits-20, top-2)
	p.write("note middle", (runs+waits)/2, 28, "evicted: another job needs its quota, or its nodes are gone")
	p.arrow(admitted, top, admitted, 70, waits+20, 70, waits+20, top-2)
	p.write("note middle", (admitted+waits)/2+10, 62, "not all ready in 30 min")
	return p
}

// drawReclaim shows the rehearsal "reclaim" in docs/concepts.md over time.
func drawReclaim() *picture {
	p := &picture{width: 720, height: 316}
	p.title = "vision borrows 4 GPUs from speech for two hours, and gives them back"
	const left, hour, top, lane = 130, 71, 58, 40
	p.write("title outside", 16, 30, "16 GPUs, 8 guaranteed to each team; each job uses 4")
	at := func(hours int) int { return left + hours*hour }
	for hours := range 9 {
		p.line("dashed", at(hours), top-8, at(hours), top+4*lane)
		p.write("note middle", at(hours), top+5*lane+26, strconv.Itoa(hours)+" h")
	}
	for i, label := range [][]string{
		{"guarantee", "of vision"}, {"guarantee", "of speech"},
	} {
		y := top + 2*i*lane
		p.line("line", left-10, y+2, left-10, y+2*lane-4)
		p.write("outside small end", left-18, y+lane-4, label...)
	}
	p.write("outside small end", left-18, top+4*lane+24, "waits")
	for _, job := range []struct {
		class          string
		lane, from, to int
		label          string
	}{
		{"blue", 0, 0, 4, "vision 1"},
		{"blue", 1, 0, 4, "vision 2"},
		{"blue borrowed", 3, 0, 2, "vision 3, borrows"},
		{"orange", 2, 1, 5, "speech 1"},
		{"orange", 3, 2, 6, "speech 2"},
		{"dashed", 4, 2, 4, "vision 3 waits"},
		{"blue", 0, 4, 8, "vision 3 starts again"},
	} {
		x, y := at(job.from)+2, top+job.lane*lane+3
		p.rectangle(job.class, x, y, (job.to-job.from)*hour-4, lane-8)
		style := "small middle"
		if job.class == "dashed" {
			style = "outside small middle"
		}
		p.write(style, x+(job.to-job.from)*hour/2-2, y+21, job.label)
	}
	p.write("note", at(4)+10, top+4*lane+16, "At 2 h, speech 2 fits the guarantee of speech:")
	p.write("note", at(4)+10, top+4*lane+32, "Kueue evicts vision 3, which borrows.")
	return p
}
