package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/ddpgate/ddpgate/fleet"
)

// template reads the SAM template. Its tags, such as !Ref, are left out: what they stand on remains.
func template(t *testing.T) map[string]any {
	t.Helper()
	text, err := os.ReadFile("template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := yaml.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// at returns what stands at a path.
func at(t *testing.T, from any, path ...string) any {
	t.Helper()
	for i, name := range path {
		fields, ok := from.(map[string]any)
		if !ok || fields[name] == nil {
			t.Fatalf("the template has no %s", strings.Join(path[:i+1], "."))
		}
		from = fields[name]
	}
	return from
}

// What the template deploys is what the plan counts on, and an event that fails is not delivered again.
func TestTemplateIsWhatThePlanCountsOn(t *testing.T) {
	doc := template(t)
	limits := new(fleet.Function).Limits()
	if got := at(t, doc, "Parameters", "Memory", "Default"); got != uint64(limits.Memory) {
		t.Errorf("memory is %v, want %d", got, limits.Memory)
	}
	worker := at(t, doc, "Resources", "Worker", "Properties")
	for field, want := range map[string]any{
		"Handler": "bootstrap", "Runtime": "provided.al2023", "Timeout": uint64(limits.Length.Seconds()), "CodeUri": "worker.zip",
	} {
		if got := at(t, worker, field); got != want {
			t.Errorf("%s is %v, want %v", field, got, want)
		}
	}
	if got := at(t, worker, "EventInvokeConfig", "MaximumRetryAttempts"); got != uint64(0) {
		t.Errorf("an event is tried again %v times", got)
	}
	if got := at(t, worker, "Environment", "Variables", "ALLOWED_TARGETS"); got != "AllowedTargets" {
		t.Errorf("ALLOWED_TARGETS is %v", got)
	}
	if at(t, doc, "Parameters", "AllowedTargets", "AllowedPattern") == "" {
		t.Error("any text may be deployed as the targets")
	}
}

// Nobody is allowed more than it takes: no action and no resource by a bare star, and no action that was not thought of here.
func TestTemplateAllowsLittle(t *testing.T) {
	allowed := []string{"lambda:InvokeFunction", "logs:CreateLogStream", "logs:PutLogEvents", "s3:GetObject", "s3:ListBucket", "s3:PutObject", "sts:AssumeRole"}
	seen := make(map[string]bool)
	var look func(v any)
	look = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, each := range v {
				look(each)
			}
		case map[string]any:
			if v["Effect"] == "Allow" {
				for _, action := range list(v["Action"]) {
					seen[action] = true
					if !slices.Contains(allowed, action) {
						t.Errorf("%s is allowed", action)
					}
				}
				for _, resource := range list(v["Resource"]) {
					if resource == "*" {
						t.Errorf("%v is allowed on everything", v["Action"])
					}
				}
			}
			for _, each := range v {
				look(each)
			}
		}
	}
	look(template(t)["Resources"])
	if len(seen) != len(allowed) {
		t.Errorf("the template allows %v, and the list here has %v", seen, allowed)
	}
}

// list returns the texts of one or several.
func list(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		var all []string
		for _, each := range v {
			all = append(all, list(each)...)
		}
		return all
	}
	return nil
}
