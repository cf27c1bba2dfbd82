package gate

import (
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

func TestPolicyYAML(t *testing.T) {
	var p Policy
	text := `
confidence: 0.95
thresholds: {time: 5%, cpu_seconds: 0.07, "session.wait.p50": "10 %"}
accept: [{scenario: tasks-reactive, metric: ram, change: 12%, reason: "driver upgrade", until: 2027-03-01}]
inconclusive: warn
strict: true
`
	if err := yaml.UnmarshalWithOptions([]byte(text), &p, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	if p.Confidence != 0.95 || p.Thresholds["time"] != 0.05 || p.Thresholds["cpu_seconds"] != 0.07 || p.Thresholds["session.wait.p50"] != 0.1 {
		t.Errorf("got %+v", p)
	}
	if len(p.Accept) != 1 || p.Accept[0].Change != 0.12 || p.Accept[0].Until != "2027-03-01" || !p.Warns() || !p.Strict {
		t.Errorf("got %+v", p)
	}
	if err := p.Validate(); err != nil {
		t.Error(err)
	}
}

// All faults are told at once, and unknown words get the nearest known one.
func TestPolicyValidate(t *testing.T) {
	if err := (Policy{}).Validate(); err != nil {
		t.Errorf("the default policy: %v", err)
	}
	p := Policy{
		Confidence:   1,
		Thresholds:   map[string]Percent{"cpu_second": 0.05, "time": -0.05, "host.steal": 0.1},
		Accept:       []Acceptance{{Metric: "rams", Change: 0, Until: "tomorrow"}},
		Inconclusive: "fial",
		Looks:        Looks{Min: 5, Max: 3},
	}
	err := p.Validate()
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		"confidence is 1", `unknown metric "cpu_second", did you mean "cpu_seconds"?`, "time is -5%", "host.steal is never gated",
		`accept[0]: unknown metric "rams", did you mean "ram"?`, "change is 0%", "reason is missing", `until is "tomorrow"`,
		`unknown choice "fial", did you mean "fail"?`, "looks from 5 to 3 runs",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in:\n%v", want, err)
		}
	}
	if _, err := Judge(oneArm(quiet(1, 3)), oneArm(quiet(1, 3)), p); err == nil {
		t.Error("Judge took a policy that makes no sense")
	}
}

func FuzzParsePercent(f *testing.F) {
	for _, s := range []string{"5%", "0.05", " 12.5 % ", "-1%", "NaN", "", "%", "1e400"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := ParsePercent(s)
		if err != nil {
			return
		}
		back, err := ParsePercent(p.String())
		if err != nil || !(abs(float64(back-p)) <= 1e-5*abs(float64(p))) {
			t.Errorf("%q is %v, written %s, read back as %v, %v", s, float64(p), p, float64(back), err)
		}
	})
}

func abs(v float64) float64 { return max(v, -v) }
