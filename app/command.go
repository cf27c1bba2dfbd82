package app

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// tmpRef is replaced by the start's temporary directory.
const tmpRef = "${tmp}"

// A command is one that was configured, not yet looked up.
type command struct {
	words []string
	dir   string
	env   map[string]string
}

// wantsTmp tells whether the temporary directory is mentioned.
func (c command) wantsTmp() bool {
	mentions := func(s string) bool { return strings.Contains(s, tmpRef) }
	return mentions(c.dir) || slices.ContainsFunc(c.words, mentions) ||
		slices.ContainsFunc(slices.Collect(maps.Values(c.env)), mentions)
}

// resolve looks the program up and expands ${tmp}.
func (c command) resolve(environ []string, tmp string) (spec, error) {
	expand := func(s string) string { return strings.ReplaceAll(s, tmpRef, tmp) }
	s := spec{Tmp: tmp}
	for _, w := range c.words {
		s.Args = append(s.Args, expand(w))
	}
	var err error
	if s.Dir, err = filepath.Abs(expand(c.dir)); err != nil {
		return spec{}, err
	}
	if at, err := os.Stat(s.Dir); err != nil {
		return spec{}, fmt.Errorf("dir: %w", err)
	} else if !at.IsDir() {
		return spec{}, fmt.Errorf("dir: %s is not a directory", s.Dir)
	}
	over := map[string]string{"PWD": s.Dir}
	for k, v := range c.env {
		over[k] = expand(v)
	}
	s.Env = merge(environ, over)
	s.Path, err = lookUp(s.Args[0], s.Dir, s.Env)
	return s, err
}

// merge returns the environment with some variables set anew.
func merge(environ []string, over map[string]string) []string {
	var env []string
	for _, kv := range environ {
		if k, _, _ := strings.Cut(kv, "="); !hasKey(over, k) {
			env = append(env, kv)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(over)) {
		env = append(env, k+"="+over[k])
	}
	return env
}

func hasKey(m map[string]string, k string) bool {
	_, ok := m[k]
	return ok
}

// lookUp finds a program as a shell would that stands in dir and has env, unlike exec.LookPath, which goes by this
// process's own.
func lookUp(program, dir string, env []string) (string, error) {
	if strings.ContainsRune(program, '/') || strings.ContainsRune(program, filepath.Separator) {
		path := program
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		found, why := executable(path)
		if found == "" {
			return "", fmt.Errorf("%w: %s %s", ErrNotFound, path, why)
		}
		return found, nil
	}
	path := variable(env, "PATH")
	for _, d := range filepath.SplitList(path) {
		if !filepath.IsAbs(d) {
			d = filepath.Join(dir, d)
		}
		if found, _ := executable(filepath.Join(d, program)); found != "" {
			return found, nil
		}
	}
	return "", fmt.Errorf("%w: no %q in PATH (%s)", ErrNotFound, program, path)
}

func variable(env []string, name string) string {
	for _, kv := range slices.Backward(env) {
		if k, v, _ := strings.Cut(kv, "="); k == name || runtime.GOOS == "windows" && strings.EqualFold(k, name) {
			return v
		}
	}
	return ""
}

// executable returns the file to run for a path, or why there is none.
func executable(path string) (found, why string) {
	names := []string{path}
	if runtime.GOOS == "windows" {
		names = append(names, path+".exe", path+".cmd", path+".bat")
	}
	why = "does not exist"
	for _, name := range names {
		at, err := os.Stat(name)
		switch {
		case err != nil:
		case at.IsDir():
			why = "is a directory"
		case runtime.GOOS != "windows" && at.Mode()&0o111 == 0:
			why = "is not executable"
		default:
			return name, ""
		}
	}
	return "", why
}
