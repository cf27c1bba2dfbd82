package meter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/ddpgate/ddpgate/internal/cgroup"
)

// A Docker is Docker's API, or what speaks like it.
type Docker struct {
	client *http.Client
	base   string
}

const usualSocket = "unix:///var/run/docker.sock"

// NewDocker returns the API at a host as DOCKER_HOST has it: unix:///PATH or tcp://HOST:PORT; empty is Docker's usual socket. It asks
// nothing yet.
func NewDocker(host string) (*Docker, error) {
	if host == "" {
		host = usualSocket
	}
	at, err := url.Parse(host)
	if err != nil {
		return nil, fmt.Errorf("docker host: %w", err)
	}
	transport := &http.Transport{DisableKeepAlives: true}
	d := &Docker{client: &http.Client{Timeout: 10 * time.Second, Transport: transport}, base: "http://" + at.Host}
	switch at.Scheme {
	case "unix":
		d.base = "http://docker"
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", at.Path)
		}
	case "tcp", "http":
	default:
		return nil, fmt.Errorf("docker host %q: want unix:///PATH or tcp://HOST:PORT", host)
	}
	return d, nil
}

// A Container is one that runs.
type Container struct {
	Name     string
	ID       string
	PID      int // of its first process, as this machine's kernel numbers it
	Started  string
	Restarts int
}

// Container finds a running container by its name or id. The error says what was looked for, and which containers run instead.
func (d *Docker) Container(ctx context.Context, name string) (Container, error) {
	var found struct {
		ID           string `json:"Id"`
		RestartCount int
		State        struct {
			Status    string
			Running   bool
			Pid       int
			StartedAt string
		}
	}
	status, err := d.get(ctx, "/containers/"+url.PathEscape(name)+"/json", &found)
	switch {
	case err != nil:
		return Container{}, fmt.Errorf("container %s: %w", name, err)
	case status == http.StatusNotFound:
		return Container{}, fmt.Errorf("no container %s; %s", name, d.running(ctx))
	case status != http.StatusOK:
		return Container{}, fmt.Errorf("container %s: docker answered %s", name, http.StatusText(status))
	case !found.State.Running || found.State.Pid <= 0:
		return Container{}, fmt.Errorf("container %s does not run, it is %s; %s", name, found.State.Status, d.running(ctx))
	}
	return Container{name, found.ID, found.State.Pid, found.State.StartedAt, found.RestartCount}, nil
}

// running says which containers there are.
func (d *Docker) running(ctx context.Context) string {
	var all []struct{ Names []string }
	if status, err := d.get(ctx, "/containers/json", &all); err != nil || status != http.StatusOK {
		return "which ones run is not known"
	}
	var names []string
	for _, c := range all {
		for _, n := range c.Names {
			names = append(names, strings.TrimPrefix(n, "/"))
		}
	}
	slices.Sort(names)
	return "those that run are " + some(names)
}

func (d *Docker) get(ctx context.Context, path string, answer any) (status int, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, d.base+path, nil)
	if err != nil {
		return 0, err
	}
	response, err := d.client.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return response.StatusCode, nil
	}
	return response.StatusCode, json.NewDecoder(http.MaxBytesReader(nil, response.Body, largestReply)).Decode(answer)
}

// Target returns how the container is metered: its first process with all below it and, where they can be read, its control groups,
// which have what runs beside these too.
func (c Container) Target(role string) (Target, error) {
	t := Target{Role: role, PID: c.PID}
	groups, err := cgroup.Of("/", c.PID)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return t, fmt.Errorf("container %s: its process %d is not on this machine", c.Name, c.PID)
	case err != nil:
		return t, nil // no control groups here
	}
	for _, g := range groups {
		if strings.Contains(g.Path, c.ID) { // else it is a group of others too
			t.Groups = append(t.Groups, g.Path)
		}
	}
	return t, nil
}

// Restarted says how a container is another one than before, empty where it is not.
func (c Container) Restarted(now Container, err error) string {
	switch {
	case err != nil:
		return fmt.Sprintf("the container went away during the run: %v", err)
	case now.ID != c.ID:
		return fmt.Sprintf("container %s was replaced during the run", c.Name)
	case now.PID != c.PID || now.Started != c.Started || now.Restarts != c.Restarts:
		return fmt.Sprintf("container %s was restarted during the run", c.Name)
	}
	return ""
}
