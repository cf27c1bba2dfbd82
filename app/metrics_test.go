package app

import (
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

func TestMetricsInYAML(t *testing.T) {
	for text, want := range map[string]Metrics{
		"http://h:9464/metrics\n":                   {URL: "http://h:9464/metrics"},
		"{url: http://h/m, cpu: a_total, ram: b}\n": {URL: "http://h/m", CPU: "a_total", RAM: "b"},
	} {
		var got Metrics
		if err := yaml.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("%s: got %+v, %v", text, got, err)
			continue
		}
		written, err := yaml.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		var back Metrics
		if err := yaml.Unmarshal(written, &back); err != nil || back != want {
			t.Errorf("%s: got %+v, %v after a round trip", written, back, err)
		}
	}
}

func TestElsewhere(t *testing.T) {
	const url = "http://h:3000"
	for _, tt := range []struct {
		c    Config
		want string
	}{
		{Config{URL: url, Metrics: Metrics{URL: "http://h/m"}}, ""},
		{Config{URL: url, Container: "c"}, ""},
		{Config{URL: url, Metrics: Metrics{URL: "h/m"}}, `metrics "h/m"`},
		{Config{URL: url, Metrics: Metrics{CPU: "x"}}, `metrics ""`},
		{Config{URL: url, Metrics: Metrics{URL: "http://h/m"}, Container: "c"}, "metrics: only"},
		{Config{URL: url, Metrics: Metrics{URL: "http://h/m"}, Command: []string{"x"}}, "metrics: only"},
		{Config{URL: url, Container: "c", Command: []string{"x"}}, "container: "},
		{Config{Container: "c"}, "url"},
		{Config{URL: url, Node: true}, "node: "},
	} {
		err := tt.c.Validate()
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: got %v, want %q", tt.c, err, tt.want)
		}
	}
}
