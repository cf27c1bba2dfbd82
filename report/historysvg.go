package report

import (
	"io"

	"github.com/ddpgate/ddpgate/gate"
)

// HistorySVG writes the charts of a history as one picture, with what happened in words under each.
func HistorySVG(w io.Writer, key string, h *gate.History, o HistoryOptions) error {
	all, err := nightlies(h, o)
	if err != nil {
		return err
	}
	return sheet(w, plain(cut(called(h.Outcome)+" in the history of "+key+": "+h.Reason, mostText)), 1, all)
}

// HistorySVGFiles returns the charts of a history as a file each.
func HistorySVGFiles(h *gate.History, o HistoryOptions) ([]File, error) {
	all, err := nightlies(h, o)
	if err != nil {
		return nil, err
	}
	return pictureFiles(all)
}

// mostBelow is how many changes are written under a chart.
const mostBelow = 12

func nightlies(h *gate.History, o HistoryOptions) ([]pictureFile, error) {
	var all []pictureFile
	sections, _ := o.sections(h)
	for _, trends := range sections {
		var pictures []picture
		for _, t := range trends {
			c := newTrendChart(t, h)
			for _, line := range c.lines() {
				c.chart.Below = append(c.chart.Below, plain(line))
			}
			if n := len(c.chart.Below); n > mostBelow {
				c.chart.Below = append([]string{"the newest of " + plural(n, "change") + ":"}, c.chart.Below[n-mostBelow:]...)
			}
			var err error
			if pictures, err = c.draw(pictures); err != nil {
				return nil, err
			}
		}
		for _, p := range pictures {
			all = append(all, newPictureFile(trends[0].Scenario, p))
		}
	}
	return all, nil
}
