// Command boards draws the Grafana dashboards of a deploy folder, so that a person can
// look at them: it evaluates their queries with Prometheus over invented series of a
// platform with many teams, and writes a page for each board and number of teams.
//
//	boards FOLDER OUT TEAMS...
//
// With phases it draws them as they are after each phase of a demonstration, from the
// series that rehearse/cmd/demonstration-series prints:
//
//	boards phases FOLDER OUT SERIES
//
// With small it gives a picture few colors, so that its file is small:
//
//	boards small PICTURE
//
// The pages need page.js, the bundle of page.jsx, in OUT. The scripts run and phases do it
// all.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"

	"github.com/batchwright/batchwright/conformance/dashboards"
)

func main() {
	draw, args := drawBoards, os.Args[1:]
	if len(args) > 0 {
		switch args[0] {
		case "phases":
			draw, args = drawPhases, args[1:]
		case "small":
			draw, args = shrinkPicture, args[1:]
		}
	}
	if err := draw(args); err != nil {
		log.Fatal(err)
	}
}

// Times of the invented series. The end is a whole hour, so that pictures of two runs
// are the same.
var (
	seriesEnd   = time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)
	seriesBegin = seriesEnd.Add(-8 * time.Hour) // two hours before the boards begin
	boardBegin  = seriesEnd.Add(-6 * time.Hour)
)

const (
	scrapeInterval = 2 * time.Minute
	boardStep      = 4 * time.Minute
	pageWidth      = 1600 // pixels
)

// window is the time that a board shows.
type window struct {
	begin, end time.Time
	step       time.Duration
}

func drawBoards(args []string) error {
	if len(args) < 3 {
		return fmt.Errorf("%d arguments, want FOLDER OUT TEAMS", len(args))
	}
	boards := map[string][]byte{}
	cluster := ""
	files, err := filepath.Glob(filepath.Join(args[0], "dashboards/grafana/*.json"))
	if err != nil {
		return err
	}
	for _, file := range files {
		board := strings.TrimSuffix(filepath.Base(file), ".json")
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		fill, err := dashboards.GrafanaFiller(content)
		if err != nil {
			return fmt.Errorf("%s: %w", board, err)
		}
		if cluster, err = fill("$cluster"); err != nil {
			return fmt.Errorf("%s: %w", board, err)
		}
		boards[board] = content
	}
	for _, arg := range args[2:] {
		teams, err := strconv.Atoi(arg)
		if err != nil {
			return err
		}
		series, closeSeries, err := inventSeries(cluster, teams)
		if err != nil {
			return err
		}
		for board, content := range boards {
			page, err := drawBoard(content, series, window{boardBegin, seriesEnd, boardStep})
			if err != nil {
				return fmt.Errorf("%s: %w", board, err)
			}
			name := fmt.Sprintf("%s-%d.html", board, teams)
			if err := os.WriteFile(filepath.Join(args[1], name), page, 0o644); err != nil {
				return err
			}
		}
		if err := closeSeries(); err != nil {
			return err
		}
	}
	return nil
}

// gridPos is the place of a panel on Grafana's grid.
type gridPos struct{ X, Y, W, H int }

// entry is an entry of a dashboard: a panel, or a row, which holds its panels if it
// is folded.
type entry struct {
	Type, Title string
	Collapsed   bool
	GridPos     gridPos
	Panels      []json.RawMessage
	Targets     []struct {
		RefID, Expr, LegendFormat string
		Instant                   bool
	}
}

// page.jsx reads row, drawn and result.
type row struct {
	Title     string  `json:"title"`
	Collapsed bool    `json:"collapsed"`
	At        gridPos `json:"at"`
}

type drawn struct {
	Panel   json.RawMessage `json:"panel"`
	Results []result        `json:"results"`
}

type result struct {
	RefID  string            `json:"refId"`
	Legend string            `json:"legend"`
	Labels map[string]string `json:"labels"`
	Values []*float64        `json:"values"` // at each time of the board, nil for none
}

// MarshalJSON writes the names that Grafana uses.
func (g gridPos) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]int{"x": g.X, "y": g.Y, "w": g.W, "h": g.H})
}

// drawBoard returns the page of a dashboard.
func drawBoard(content []byte, series storage.Queryable, shown window) ([]byte, error) {
	var board struct{ Panels []json.RawMessage }
	if err := json.Unmarshal(content, &board); err != nil {
		return nil, err
	}
	fill, err := dashboards.GrafanaFiller(content)
	if err != nil {
		return nil, err
	}
	rows, panels, bottom := []row{}, []drawn{}, 0
	add := func(raw json.RawMessage) error {
		var e entry
		if err := json.Unmarshal(raw, &e); err != nil {
			return err
		}
		results, err := e.evaluate(series, fill, shown)
		if err != nil {
			return err
		}
		panels = append(panels, drawn{raw, results})
		bottom = max(bottom, e.GridPos.Y+e.GridPos.H)
		return nil
	}
	for _, raw := range board.Panels {
		var e entry
		if err := json.Unmarshal(raw, &e); err != nil {
			return nil, err
		}
		if e.Type != "row" {
			if err := add(raw); err != nil {
				return nil, err
			}
			continue
		}
		rows = append(rows, row{e.Title, e.Collapsed, e.GridPos})
		for _, inside := range e.Panels {
			if err := add(inside); err != nil {
				return nil, err
			}
		}
	}
	return drawPage(rows, panels, bottom, shown)
}

// drawPage returns a page of rows and panels that ends at a line of the grid.
func drawPage(rows []row, panels []drawn, bottom int, shown window) ([]byte, error) {
	var times []int64
	for at := shown.begin; !at.After(shown.end); at = at.Add(shown.step) {
		times = append(times, at.UnixMilli())
	}
	data, err := json.Marshal(map[string]any{
		"rows": rows, "panels": panels, "times": times, "width": pageWidth, "height": bottom * 38,
	})
	if err != nil {
		return nil, err
	}
	// json.Marshal escapes <, so the data cannot end the script.
	const page = "<!doctype html><meta charset=utf-8><link rel=stylesheet href=page.css>" +
		"<title>%d</title><body style=margin:0><div id=board></div>" +
		"<script>window.board=%s</script><script src=page.js></script>\n"
	return fmt.Appendf(nil, page, bottom*38, data), nil
}

// evaluate returns the results of the queries of a panel.
func (e entry) evaluate(series storage.Queryable, fill func(string) (string, error), shown window) ([]result, error) {
	results := []result{}
	for _, target := range e.Targets {
		expr, err := fill(target.Expr)
		if err != nil {
			return nil, err
		}
		found, err := evaluate(series, expr, target.Instant, shown)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", e.Title, expr, err)
		}
		for _, r := range found {
			r.RefID, r.Legend = target.RefID, target.LegendFormat
			results = append(results, r)
		}
	}
	return results, nil
}

// evaluate returns the results of a query at each time of a board, or at its end.
func evaluate(series storage.Queryable, expr string, instant bool, shown window) ([]result, error) {
	engine := promql.NewEngine(promql.EngineOpts{
		MaxSamples: 100_000_000, Timeout: 5 * time.Minute, LookbackDelta: 5 * time.Minute,
		Parser: parser.NewParser(parser.Options{}),
	})
	begin := shown.begin
	if instant {
		begin = shown.end
	}
	query, err := engine.NewRangeQuery(context.Background(), series, nil, expr, begin, shown.end, shown.step)
	if err != nil {
		return nil, err
	}
	defer query.Close()
	matrix, err := query.Exec(context.Background()).Matrix()
	if err != nil {
		return nil, err
	}
	var out []result
	for _, s := range matrix {
		r := result{Labels: s.Metric.Map(), Values: make([]*float64, shown.end.Sub(begin)/shown.step+1)}
		for _, point := range s.Floats {
			value := point.F
			if value != value { // JSON has no NaN
				continue
			}
			r.Values[time.UnixMilli(point.T).Sub(begin)/shown.step] = &value
		}
		out = append(out, r)
	}
	return out, nil
}
