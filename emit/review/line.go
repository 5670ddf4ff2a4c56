package review

// String words a line: what changed, from what to what, and the note.
func (l Line) String() string {
	s := l.Subject
	if l.What != "" {
		s += ": " + l.What
	}
	switch {
	case l.From != "" && l.To != "":
		s += ": " + l.From + " " + arrow + " " + l.To
	case l.To != "":
		s += ": added, " + l.To
	case l.From != "":
		s += ": removed, " + l.From
	default:
		s += " " + string(l.Op)
	}
	if l.Note != "" {
		s += " (" + l.Note + ")"
	}
	return s
}
