package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb"

	"github.com/batchwright/batchwright/conformance/dashboards"
)

// played is what rehearse/cmd/demonstration-series prints.
type played struct {
	Phases []struct {
		Name    string
		At      int64 // seconds since the start
		Figures []figure
	}
	Series []struct {
		Labels map[string]string
		Points [][2]float64 // seconds since the start, and value
	}
}

// figure is a number that a chart must show after a phase.
type figure struct {
	Board, Section, Chart, Series string
	Value                         float64
}

// phaseCharts are the charts in the picture of a phase, besides those of its figures, by
// the titles that they have on the boards.
var phaseCharts = []string{
	"Nominal quota", "Reserved quota", "Quota in use", "Requested quota", "Active workloads", "Pending workloads",
	"Inactive ClusterQueues", "Nodes not ready", "Reserved quota by ClusterQueue", "Pending workloads by ClusterQueue",
	"Accelerators by model", "Accelerators requested and busy",
}

// phaseStep is the time between two points of a chart.
const phaseStep = time.Minute

// demonstrationBegin is the time at which a demonstration begins. It is a whole hour, so
// that pictures of two runs are the same.
var demonstrationBegin = time.Date(2026, 1, 15, 9, 0, 0, 0, time.UTC)

// drawPhases draws a page for each phase, and returns an error if a chart does not show the
// number that the folder's DEMONSTRATION.md lists.
func drawPhases(args []string) error {
	if len(args) != 3 {
		return fmt.Errorf("%d arguments, want FOLDER OUT SERIES", len(args))
	}
	content, err := os.ReadFile(args[2])
	if err != nil {
		return err
	}
	var demonstration played
	if err := json.Unmarshal(content, &demonstration); err != nil {
		return err
	}
	series, err := demonstration.store()
	if err != nil {
		return err
	}
	boards, err := readBoards(args[0])
	if err != nil {
		return err
	}
	for i, phase := range demonstration.Phases {
		end := demonstrationBegin.Add(time.Duration(phase.At) * time.Second).Truncate(phaseStep)
		page, err := drawPhase(boards, series, window{demonstrationBegin, end, phaseStep}, phase.Figures)
		if err != nil {
			return fmt.Errorf("phase %s: %w", phase.Name, err)
		}
		name := fmt.Sprintf("%d-%s.html", i+1, phase.Name)
		if err := os.WriteFile(filepath.Join(args[1], name), page, 0o644); err != nil {
			return err
		}
	}
	return series.Close()
}

// sample is a value of a series.
type sample struct {
	of    labels.Labels
	value float64
}

// store returns the series in a database, which lies in a temporary directory.
func (p *played) store() (*tsdb.DB, error) {
	dir, err := os.MkdirTemp("", "phases")
	if err != nil {
		return nil, err
	}
	options := tsdb.DefaultOptions()
	options.RetentionDuration = 0
	db, err := tsdb.Open(dir, nil, nil, options, nil)
	if err != nil {
		return nil, err
	}
	// The database accepts samples in the order of their times.
	samples := map[float64][]sample{}
	for _, s := range p.Series {
		for _, point := range s.Points {
			samples[point[0]] = append(samples[point[0]], sample{labels.FromMap(s.Labels), point[1]})
		}
	}
	for _, seconds := range slices.Sorted(maps.Keys(samples)) {
		at := demonstrationBegin.Add(time.Duration(seconds) * time.Second).UnixMilli()
		appender := db.Appender(context.Background())
		for _, s := range samples[seconds] {
			if _, err := appender.Append(0, s.of, at, s.value); err != nil {
				return nil, err
			}
		}
		if err := appender.Commit(); err != nil {
			return nil, err
		}
	}
	return db, nil
}

// board is a dashboard of a folder.
type board struct {
	title  string
	fill   func(query string) (string, error)
	panels []json.RawMessage // in their order, also those of folded rows
}

// readBoards reads the dashboards for administrators in a folder. The one with the figures
// at a glance is first.
func readBoards(folder string) ([]board, error) {
	files, err := filepath.Glob(filepath.Join(folder, "dashboards/grafana/*.json"))
	if err != nil {
		return nil, err
	}
	slices.Reverse(files)
	var boards []board
	for _, file := range files {
		if filepath.Base(file) == "team.json" {
			continue
		}
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var read struct {
			Title  string
			Panels []json.RawMessage
		}
		if err := json.Unmarshal(content, &read); err != nil {
			return nil, err
		}
		b := board{title: read.Title}
		if b.fill, err = dashboards.GrafanaFiller(content); err != nil {
			return nil, err
		}
		for _, raw := range read.Panels {
			var e entry
			if err := json.Unmarshal(raw, &e); err != nil {
				return nil, err
			}
			if e.Type != "row" {
				b.panels = append(b.panels, raw)
			}
			b.panels = append(b.panels, e.Panels...)
		}
		boards = append(boards, b)
	}
	return boards, nil
}

// drawPhase returns the page of a phase: the charts of all boards, placed anew.
func drawPhase(boards []board, series storage.Queryable, shown window, figures []figure) ([]byte, error) {
	rows, panels, line := []row{}, []drawn{}, 0
	missing := slices.Clone(figures)
	for _, b := range boards {
		rows = append(rows, row{Title: b.title, At: gridPos{0, line, 24, 1}})
		x, height := 0, 0
		line++
		for _, raw := range b.panels {
			var e entry
			if err := json.Unmarshal(raw, &e); err != nil {
				return nil, err
			}
			isFigure := func(f figure) bool { return f.Board == b.title && f.Chart == e.Title }
			if !slices.Contains(phaseCharts, e.Title) && !slices.ContainsFunc(figures, isFigure) {
				continue
			}
			results, err := e.evaluate(series, b.fill, shown)
			if err != nil {
				return nil, err
			}
			for _, f := range figures {
				if isFigure(f) && f.shownIn(results) {
					missing = slices.DeleteFunc(missing, func(m figure) bool { return m == f })
				}
			}
			w, h := e.GridPos.W, 7
			if w == 24 {
				w = 12
			}
			if w < 12 {
				h = e.GridPos.H
			}
			if x+w > 24 {
				x, line, height = 0, line+height, 0
			}
			placed, err := place(raw, gridPos{x, line, w, h})
			if err != nil {
				return nil, err
			}
			panels = append(panels, drawn{placed, results})
			x, height = x+w, max(height, h)
		}
		line += height
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("no chart shows %+v", missing)
	}
	return drawPage(rows, panels, line, shown)
}

// shownIn reports whether the last values of results are a figure. A figure that has a
// series is about the query or the reason of this name.
func (f figure) shownIn(results []result) bool {
	sum := 0.0
	for _, r := range results {
		named := f.Series == "" || strings.Contains(r.Legend, f.Series)
		for _, value := range r.Labels {
			named = named || value == f.Series
		}
		if last := r.Values[len(r.Values)-1]; named && last != nil {
			sum += *last
		}
	}
	return math.Abs(sum-f.Value) < 0.2 // increase() extrapolates
}

// place returns a panel at another place.
func place(raw json.RawMessage, at gridPos) (json.RawMessage, error) {
	var panel map[string]json.RawMessage
	if err := json.Unmarshal(raw, &panel); err != nil {
		return nil, err
	}
	var err error
	if panel["gridPos"], err = json.Marshal(at); err != nil {
		return nil, err
	}
	return json.Marshal(panel)
}
