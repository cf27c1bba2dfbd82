package report

import (
	"context"
	_ "embed"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

//go:embed testdata/look.js
var look string

// seen is what look.js finds on a page.
type seen struct {
	Charts   int      `json:"charts"`   // that take up room
	Overflow int      `json:"overflow"` // px by which the page is wider than the window
	Texts    int      `json:"texts"`    // pieces of text whose contrast was computed
	Faint    []string `json:"faint"`    // text under 4.5 to 1
	Paper    string   `json:"paper"`    // colour under the page
	Cut      []string `json:"cut"`      // text of charts that lies outside of them
	Headline bool     `json:"headline"` // the verdict is seen without scrolling
}

// watched keeps what a page asked for and complained of.
type watched struct {
	sync.Mutex
	requests, complaints []string
}

func (w *watched) hear(event any) {
	w.Lock()
	defer w.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		w.requests = append(w.requests, e.Request.URL)
	case *runtime.EventConsoleAPICalled:
		w.complaints = append(w.complaints, fmt.Sprintf("console %s", e.Type))
	case *runtime.EventExceptionThrown:
		w.complaints = append(w.complaints, e.ExceptionDetails.Text)
	case *log.EventEntryAdded:
		w.complaints = append(w.complaints, e.Entry.Text+" "+e.Entry.URL)
	}
}

// browser starts Chromium and returns a context with a tab of it.
func browser(t *testing.T) context.Context {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("no chromium on this machine, so that no browser looks at the page; .ci/run installs it, or says that it cannot")
	}
	ctx, stop := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(ctx, chromedp.WithAllocatorOptions(
		chromedp.ExecPath(path), chromedp.UserDataDir(t.TempDir()), chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true)))
	t.Cleanup(cancel)
	return ctx
}

// TestInBrowser looks at pages in Chromium, on a phone and on a desktop, light and dark.
func TestInBrowser(t *testing.T) {
	ctx := browser(t)
	heard := new(watched)
	if err := chromedp.Listen(ctx, heard.hear); err != nil {
		t.Fatal(err)
	}
	for _, enable := range []error{enabled(chromedp.Call(ctx, network.Enable, network.EnableParams{})), enabled(chromedp.Call(ctx, log.Enable, cdp.Empty{}))} {
		if enable != nil {
			t.Fatal(enable)
		}
	}
	pages := make(map[string][]byte)
	for name, c := range map[string]Comparison{"regression": drawable(t, regressed()), "inconclusive": undecided(), "died": died(), "unjudged": unjudged(), "hostile": hostile()} {
		pages[name] = in(t, "html", c)
	}
	for _, name := range []string{"eventful", "creeping", "hostile"} {
		pages["history-"+name] = historyIn(t, "html", histories(t)[name])
	}
	for name, page := range pages {
		file := filepath.Join(t.TempDir(), name+".html")
		if err := os.WriteFile(file, page, 0o644); err != nil {
			t.Fatal(err)
		}
		address := (&url.URL{Scheme: "file", Path: file}).String()
		papers := make(map[string]bool)
		for _, width := range []int64{360, 1280} {
			for _, scheme := range []string{"light", "dark"} {
				got := lookAt(t, ctx, address, width, scheme)
				papers[got.Paper] = true
				where := fmt.Sprintf("%s, %d px, %s", name, width, scheme)
				if want := strings.Count(string(page), "<svg "); got.Charts != want {
					t.Errorf("%s: %d charts are seen, want %d", where, got.Charts, want)
				}
				if got.Overflow > 0 {
					t.Errorf("%s: the page is %d px wider than the window", where, got.Overflow)
				}
				if got.Texts < 50 || len(got.Faint) > 0 {
					t.Errorf("%s: of %d texts these are faint: %q", where, got.Texts, got.Faint)
				}
				if len(got.Cut) > 0 {
					t.Errorf("%s: charts cut %q", where, got.Cut)
				}
				if !got.Headline {
					t.Errorf("%s: the verdict is not seen at once", where)
				}
			}
		}
		if len(papers) != 2 {
			t.Errorf("%s: the page is on %v, want light and dark", name, papers)
		}
	}
	heard.Lock()
	defer heard.Unlock()
	for _, asked := range heard.requests {
		if !strings.HasPrefix(asked, "file://") && !strings.HasPrefix(asked, "data:") {
			t.Errorf("a page asked for %s", asked)
		}
	}
	if len(heard.requests) < len(pages)*4 {
		t.Errorf("only %d requests were heard: the test is deaf", len(heard.requests))
	}
	if len(heard.complaints) > 0 {
		t.Errorf("the console says %q", heard.complaints)
	}
}

func enabled[T any](_ T, err error) error { return err }

// lookAt opens a page and measures it.
func lookAt(t *testing.T, ctx context.Context, address string, width int64, scheme string) seen {
	t.Helper()
	_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	if err == nil {
		err = chromedp.Do(ctx, chromedp.EmulateViewport(width, 800), chromedp.Navigate(address))
	}
	if err != nil {
		t.Fatal(err)
	}
	got, err := chromedp.Run(ctx, chromedp.Evaluate[seen](look))
	if err != nil {
		t.Fatal(err)
	}
	return got
}
