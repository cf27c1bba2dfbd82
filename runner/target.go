package runner

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/ddpgate/ddpgate/app"
	"github.com/ddpgate/ddpgate/meter"
)

// roleTool is what only started the app.
const roleTool = "tool"

// agentToken is where the bearer token of an agent is found in the environment.
const agentToken = "DDPGATE_AGENT_TOKEN"

// targets says what is metered: each process that was started, the roles of what descends from the app, and an app that runs elsewhere.
func (s *seen) targets(ctx context.Context, arm Arm, a *app.App) ([]meter.Target, error) {
	c := arm.App
	found := processes(c, a)
	if m := c.Metrics; !m.IsZero() {
		token := inherited(arm.Options, agentToken)
		found = append(found, meter.Target{Role: roleApp, Endpoint: &meter.Endpoint{URL: m.URL, CPU: m.CPU, RAM: m.RAM, Token: token}})
	}
	if c.Container == "" {
		return found, nil
	}
	docker, err := meter.NewDocker(inherited(arm.Options, "DOCKER_HOST"))
	if err != nil {
		return nil, err
	}
	container, err := docker.Container(ctx, c.Container)
	if err != nil {
		return nil, err
	}
	own, err := container.Target(roleApp)
	if err != nil {
		return nil, err
	}
	s.anew = func(ctx context.Context) string { return container.Restarted(docker.Container(ctx, c.Container)) }
	for role, match := range c.Roles {
		found = append(found, meter.Target{Role: role, PID: own.PID, Match: match})
	}
	return append(found, own), nil
}

// processes are the targets that were started here.
func processes(c app.Config, a *app.App) []meter.Target {
	var found []meter.Target
	for _, p := range a.Processes() {
		own := meter.Target{Role: p.Role, PID: p.PID, Reaper: p.Reaper, Groups: p.Groups}
		if p.Role != roleApp {
			found = append(found, own)
			continue
		}
		parts := parts(c, p)
		if slices.ContainsFunc(parts, func(t meter.Target) bool { return t.Role == roleApp }) {
			own.Role = roleTool
		}
		found = append(append(found, own), parts...)
	}
	return found
}

// parts are the roles that what descends from the app has. Where the app proper is one of them, all else is the tool that started it.
func parts(c app.Config, p app.Process) []meter.Target {
	var found []meter.Target
	part := meter.Target{PID: p.PID, Reaper: p.Reaper}
	for _, role := range slices.Sorted(maps.Keys(c.Roles)) {
		part.Role, part.Match = role, c.Roles[role]
		found = append(found, part)
	}
	if p.Server == 0 || p.Server == p.PID || c.Roles[roleApp] != "" {
		return found
	}
	found = append(found, meter.Target{Role: roleApp, PID: p.PID, Reaper: p.Reaper, Process: p.Server})
	if c.Roles["db"] == "" { // the database that meteor run brings along
		found = append(found, meter.Target{Role: "db", PID: p.PID, Reaper: p.Reaper, Match: `(^|/)mongod( |$)`, Optional: true})
	}
	return found
}

// server returns the process that is the app proper, 0 for one that was not started here.
func server(a *app.App) int {
	for _, p := range a.Processes() {
		if p.Role == roleApp {
			return cmp.Or(p.Server, p.PID)
		}
	}
	return 0
}

// metered says how each process was metered, for the record.
func metered(targets []meter.Target, a *app.App) map[string]string {
	how := make(map[string]string)
	for _, t := range targets {
		switch {
		case t.Endpoint != nil:
			how[t.Role] = "endpoint " + t.Endpoint.URL
		case t.Role == roleApp && len(t.Groups) > 0:
			how[t.Role] = "control group"
		case t.Role == roleApp:
			how[t.Role] = "processes: a container's control groups cannot be read here"
		}
	}
	for _, p := range a.Processes() {
		how[p.Role] = "control group"
		if len(p.Groups) == 0 {
			how[p.Role] = "processes: " + p.Ungrouped
		}
	}
	return how
}
