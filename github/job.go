package github

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/sethvargo/go-githubactions"
)

// A Job is where this process runs, as GitHub says it.
type Job struct {
	Repository string // owner/name
	Event      string // what started the workflow, such as pull_request
	APIURL     string
	GraphQLURL string
	ServerURL  string
	RunURL     string // the workflow run's page; empty outside of a run
	Actor      string // who started it

	Pull Pull     // of an event of a pull request; its Number is 0 for every other
	Head Upstream // of a workflow_run event, of the run that came before
}

// A Pull is a pull request.
type Pull struct {
	Number         int
	Open           bool
	HeadSHA        string
	HeadRepository string // owner/name; empty where it was deleted
	HeadBranch     string
	BaseRepository string
	Labels         []string
}

// Fork says whether the pull request comes from another repository, so that its runs have a token that cannot write.
func (p Pull) Fork() bool { return p.HeadRepository != p.BaseRepository }

// An Upstream is the run that a workflow_run event is about: which commit it ran for, and from where.
type Upstream struct {
	Event      string
	SHA        string
	Repository string // owner/name of the head
	Branch     string
}

// ReadJob returns the job that the environment describes. An event file that is named and cannot be read is an error.
func ReadJob(env func(string) string) (Job, error) {
	context, err := githubactions.New(githubactions.WithGetenv(env)).Context()
	if err != nil {
		return Job{}, fmt.Errorf("event of the workflow: %w", err)
	}
	job := Job{
		Repository: context.Repository, Event: context.EventName, Actor: context.Actor,
		APIURL: context.APIURL, GraphQLURL: context.GraphqlURL, ServerURL: strings.TrimRight(context.ServerURL, "/"),
	}
	if context.RunID != 0 {
		job.RunURL = job.ServerURL + "/" + job.Repository + "/actions/runs/" + strconv.FormatInt(context.RunID, 10)
	}
	b, err := json.Marshal(context.Event)
	if err != nil {
		return Job{}, fmt.Errorf("event of the workflow: %w", err)
	}
	var e event
	if err := json.Unmarshal(b, &e); err != nil {
		return Job{}, fmt.Errorf("event of the workflow: %w", err)
	}
	if e.Pull != nil {
		job.Pull = e.Pull.pull()
	}
	if e.Run != nil {
		job.Head = Upstream{Event: e.Run.Event, SHA: e.Run.SHA, Repository: e.Run.Repository.Name, Branch: e.Run.Branch}
	}
	return job, nil
}

// ReadOnly says whether GitHub gives the job a token that cannot write, whatever the workflow asks for: pull requests from
// forks and those of Dependabot.
func (j Job) ReadOnly() bool {
	return j.Event == "pull_request" && (j.Pull.Fork() || j.Actor == "dependabot[bot]")
}

// event is what is needed of an event's payload.
type event struct {
	Pull *pullRequest `json:"pull_request"`
	Run  *struct {
		Event      string         `json:"event"`
		SHA        string         `json:"head_sha"`
		Branch     string         `json:"head_branch"`
		Repository repositoryName `json:"head_repository"`
	} `json:"workflow_run"`
}

type pullRequest struct {
	Number int    `json:"number"`
	State  string `json:"state"`
	Head   ref    `json:"head"`
	Base   ref    `json:"base"`
	Labels []struct {
		Name string `json:"name"`
	} `json:"labels"`
}

type ref struct {
	SHA        string         `json:"sha"`
	Ref        string         `json:"ref"`
	Repository repositoryName `json:"repo"`
}

type repositoryName struct {
	Name string `json:"full_name"`
}

func (p *pullRequest) pull() Pull {
	pull := Pull{
		Number: p.Number, Open: p.State == "open", HeadSHA: p.Head.SHA, HeadBranch: p.Head.Ref,
		HeadRepository: p.Head.Repository.Name, BaseRepository: p.Base.Repository.Name,
	}
	for _, l := range p.Labels {
		pull.Labels = append(pull.Labels, l.Name)
	}
	return pull
}
