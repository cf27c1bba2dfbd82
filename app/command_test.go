//go:build unix

package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// program writes a program for sh.
func program(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLookUp(t *testing.T) {
	dir := t.TempDir()
	inDir := program(t, dir+"/run", "")
	inBin := program(t, dir+"/bin/tool", "")
	second := program(t, dir+"/second/tool", "")
	shadowed := program(t, dir+"/second/run", "")
	if err := os.Mkdir(dir+"/bin/run", 0o755); err != nil { // a directory is no program
		t.Fatal(err)
	}
	path := "PATH=" + dir + "/bin:" + dir + "/second"
	tests := []struct {
		name, program string
		env           []string
		want          string
	}{
		{"from dir", "./run", nil, inDir},
		{"below dir", "bin/tool", nil, inBin},
		{"absolute", inDir, nil, inDir},
		{"in PATH", "tool", []string{path}, inBin},
		{"behind a directory", "run", []string{path}, shadowed},
		{"relative PATH", "tool", []string{"PATH=second"}, second},
		{"last PATH", "tool", []string{"PATH=/", path}, inBin},
		{"not in dir by itself", "run", []string{"PATH=/nowhere"}, ""},
		{"no PATH", "tool", nil, ""},
		{"no file", "./tool", []string{path}, ""},
		{"a directory", "./bin", nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := lookUp(tt.program, dir, tt.env)
			if got != tt.want || tt.want == "" && !errors.Is(err, ErrNotFound) {
				t.Errorf("got %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}

func TestResolveExpandsTmp(t *testing.T) {
	dir := t.TempDir()
	c := command{
		words: []string{"sh", "${tmp}/a:${tmp}", "${other}"},
		dir:   "${tmp}",
		env:   map[string]string{"DATA": "x${tmp}"},
	}
	s, err := c.resolve([]string{"PATH=" + os.Getenv("PATH"), "DATA=old", "KEPT=${tmp}"}, dir)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"sh", dir + "/a:" + dir, "${other}"}; !slices.Equal(s.Args, want) {
		t.Errorf("got words %q, want %q", s.Args, want)
	}
	if s.Dir != dir || s.Tmp != dir {
		t.Errorf("got dir %q and tmp %q, want %q", s.Dir, s.Tmp, dir)
	}
	want := []string{"PATH=" + os.Getenv("PATH"), "KEPT=${tmp}", "DATA=x" + dir, "PWD=" + dir}
	if diff := cmp.Diff(want, s.Env); diff != "" {
		t.Errorf("environment (-want +got):\n%s", diff)
	}
	if c.words[1] != "${tmp}/a:${tmp}" || c.env["DATA"] != "x${tmp}" {
		t.Errorf("the command was changed: %+v", c)
	}
}

func TestResolveVersion(t *testing.T) {
	dir := t.TempDir()
	program(t, dir+"/version", `echo "warning: old" >&2; echo; echo "v$N in $PWD"; echo more`)
	program(t, dir+"/quiet", "")
	program(t, dir+"/fails", "echo no repository >&2; exit 2")
	program(t, dir+"/hangs", "exec sleep 1000")
	config := func(name string) Config {
		return Config{Dir: dir, Env: map[string]string{"N": "7"}, Version: Version{Command: []string{"./" + name}}}
	}
	tests := []struct {
		name string
		c    Config
		want string
		says string
	}{
		{"none", Config{}, "", ""},
		{"text", Config{Version: Version{Text: "3.1"}}, "3.1", ""},
		{"command", config("version"), "v7 in " + dir, ""},
		{"prints nothing", config("quiet"), "", "printed nothing"},
		{"fails", config("fails"), "", "no repository"},
		{"not found", config("nothing"), "", "command not found"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.c.ResolveVersion(t.Context(), Options{})
			if got != tt.want || (err != nil) != (tt.says != "") {
				t.Fatalf("got %q, %v, want %q", got, err, tt.want)
			}
			if err != nil && !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %q, want %q in it", err, tt.says)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := config("hangs").ResolveVersion(ctx, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}
