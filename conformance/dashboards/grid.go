package dashboards

import "fmt"

// A rectangle is the place of a panel.
type rectangle struct {
	title      string
	x, y, w, h int
}

func (r rectangle) within(columns int) []error {
	if r.x < 0 || r.y < 0 || r.w <= 0 || r.h <= 0 || r.x+r.w > columns {
		return []error{
			fmt.Errorf("panel %q at x %d, width %d does not fit into %d columns", r.title, r.x, r.w, columns),
		}
	}
	return nil
}

func overlaps(placed []rectangle) []error {
	var errs []error
	for i, a := range placed {
		for _, b := range placed[:i] {
			if a.x < b.x+b.w && b.x < a.x+a.w && a.y < b.y+b.h && b.y < a.y+a.h {
				errs = append(errs, fmt.Errorf("panels %q and %q overlap", b.title, a.title))
			}
		}
	}
	return errs
}
