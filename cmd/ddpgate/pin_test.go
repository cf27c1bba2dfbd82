package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ddpgate/ddpgate/baseline"
	"github.com/ddpgate/ddpgate/record"
)

// TestAPromotionOutlivesTheNightsThatRan: what asked for the pin before a promotion and is saved after it does not bring the old pin back.
func TestAPromotionOutlivesTheNightsThatRan(t *testing.T) {
	promoted := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		began time.Duration // after the promotion
		base  string
		want  string
	}{
		"it was measuring":                        {-time.Hour, "P0", "build-1"},
		"it was building":                         {20 * time.Minute, "P0", "build-1"},
		"the next night, held against what it is": {15 * time.Hour, "build-1", "build-1"},
		"a later night, held against another":     {15 * time.Hour, "P9", "P9"},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKeeper(t)
			save := func(base, head string, began time.Time) baseline.Entry {
				rec := pairs(1)
				rec.Created, rec.Apps[record.Base], rec.Apps[record.Head] = began, record.App{Version: base}, record.App{Version: head}
				e, err := k.store.Save(t.Context(), "main", rec, began.Add(2*time.Hour))
				if err != nil {
					t.Fatal(err)
				}
				return e
			}
			first := save("P0", "build-1", promoted.AddDate(0, 0, -1))
			if _, err := k.store.Promote(t.Context(), "main", first.ID, promoted); err != nil {
				t.Fatal(err)
			}
			began := promoted.Add(tc.began)
			for i := range 2 { // however many there are
				save(tc.base, fmt.Sprint("build-", 2+i), began.Add(time.Duration(i)*time.Minute))
			}
			if code := k.do("baseline", "pin", "main"); code != exitPass || strings.TrimSpace(k.said.String()) != tc.want {
				t.Errorf("exit code %d, got %q, want %s", code, k.said.String(), tc.want)
			}
		})
	}
}
