// Package app is the app under test and its services: start, wait until ready, stop, and leave nothing behind.
//
// A program that calls Start must call Guard first thing in main, a test in TestMain.
package app

import "time"

// A Config says what the app is and how it is started. Of Command and URL at least one is set; a URL without a
// command is an app that runs already and is only checked.
type Config struct {
	// Command starts the app: the program and its arguments. A program with a slash is looked for from Dir, any other in PATH.
	Command []string `yaml:"command,omitempty"`
	// Dir is where Command and Version.Command run, relative to the working directory; empty is the working directory.
	Dir string `yaml:"dir,omitempty"`
	// Env is added to the environment of the app, and of Reset, over what Options.Environ has.
	Env map[string]string `yaml:"env,omitempty"`
	// URL is where the app answers HTTP.
	URL string `yaml:"url,omitempty"`
	// Ready is how long the app, each service and the reset may take; 0 is DefaultReady.
	Ready time.Duration `yaml:"ready,omitempty"`
	// Roles maps a role to a regular expression: processes below the app whose name or command line matches are measured
	// under that role.
	Roles map[string]string `yaml:"roles,omitempty"`
	// Services are started before the app, in order, and stopped after it.
	Services []Service `yaml:"services,omitempty"`
	// Reset is a command that runs to its end when the services are ready and before the app starts, in the working directory.
	Reset []string `yaml:"reset,omitempty"`
	// Headers are sent with each connection to URL, such as a staging site's cookie: a header's name to the name of the
	// environment variable that holds its value, which is written nowhere.
	Headers map[string]string `yaml:"headers,omitempty"`
	// CA is a file of certificates, in PEM form, that are trusted at URL besides the system's.
	CA string `yaml:"ca,omitempty"`
	// Container is the name of a container that runs at URL already, which is metered by Docker's API; empty for none.
	Container string `yaml:"container,omitempty"`
	// Metrics is where an app that runs elsewhere tells its own figures.
	Metrics Metrics `yaml:"metrics,omitempty"`
	// Node is whether the app's Node is to tell of itself: collections, event loop, heap.
	Node bool `yaml:"node,omitempty"`
	// Version names the build under test.
	Version Version `yaml:"version,omitempty"`
}

// DefaultReady is how long an app may take to get ready where Config.Ready is 0.
const DefaultReady = 2 * time.Minute

// A Service is a process that the app needs, such as a database. It stays in the foreground: when its process ends, it has died.
type Service struct {
	// Name is the role that it is measured under.
	Name string `yaml:"name"`
	// Command starts it: the program and its arguments.
	Command []string `yaml:"command"`
	// Dir is where Command runs, relative to the working directory; empty is the working directory.
	Dir string `yaml:"dir,omitempty"`
	// Env is added to its environment, over what Options.Environ has.
	Env map[string]string `yaml:"env,omitempty"`
	// Ready is what tells that it is ready: tcp:PORT or tcp:HOST:PORT once something listens there, an http or https
	// URL once it answers, or empty: at once.
	Ready string `yaml:"ready,omitempty"`
}
