package affinity

import (
	"strings"
	"testing"
)

func TestSplitValidate(t *testing.T) {
	for _, tt := range []struct {
		split Split
		want  []string
	}{
		{Split{App: CPUs{0}, Driver: CPUs{1}}, nil},
		{Split{App: CPUs{0, 2}, Driver: CPUs{3, 1}}, nil},
		{Split{App: CPUs{0}}, []string{"driver: names no CPU"}},
		{Split{}, []string{"app: names no CPU", "driver: names no CPU"}},
		{Split{App: CPUs{0, 0}, Driver: CPUs{-1, 1024}}, []string{
			"app: CPU 0 is named twice", "driver: CPU -1, must be from 0 to 1023", "driver: CPU 1024, must be from 0 to 1023",
		}},
		{Split{App: CPUs{0, 1}, Driver: CPUs{2, 1}}, []string{"driver has CPU 1, which is the app's: nothing is separate where they share one"}},
	} {
		got := ""
		if err := tt.split.Validate(); err != nil {
			got = err.Error()
		}
		if want := strings.Join(tt.want, "\n"); got != want {
			t.Errorf("%+v: got %q, want %q", tt.split, got, want)
		}
	}
}

// No choice works on any system.
func TestNoChoice(t *testing.T) {
	if err := (Split{}).Check(); err != nil {
		t.Errorf("check: %v", err)
	}
	if err := Thread(nil); err != nil {
		t.Errorf("thread: %v", err)
	}
	restore, err := Process(nil)
	if err != nil {
		t.Fatalf("process: %v", err)
	}
	if err := restore(); err != nil {
		t.Errorf("restore: %v", err)
	}
}
