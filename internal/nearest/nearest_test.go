package nearest

import "testing"

func TestWord(t *testing.T) {
	known := []string{"tasks-reactive", "tasks-nonreactive", "connect", "fanout", "idle", "ok"}
	for _, tt := range []struct{ got, want string }{
		{"task-reactive", "tasks-reactive"},
		{"tasks-nonreactiv", "tasks-nonreactive"},
		{"Connect", "connect"},
		{"conn", "connect"},
		{"fan-out", "fanout"},
		{"zebra", ""},
		{"", "ok"[:0]},
	} {
		if got := Word(tt.got, known); got != tt.want {
			t.Errorf("Word(%q) = %q, want %q", tt.got, got, tt.want)
		}
	}
}

func TestUnknown(t *testing.T) {
	known := []string{"raw", "idle"}
	for _, tt := range []struct{ got, want string }{
		{"idel", `unknown scenario "idel", did you mean "idle"?`},
		{"zebra", `unknown scenario "zebra", known are: idle, raw`},
	} {
		if got := Unknown("scenario", tt.got, known).Error(); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}
