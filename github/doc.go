// Package github is GitHub as a job sees it: the event that it runs for, its log and outputs, and the pull request's comment,
// labels and checks, and an issue that is kept. It knows strings, not gates.
//
// What a job is told by GitHub is believed where GitHub itself says it (the environment, the event, the API), and nothing of
// what a pull request brings along.
package github
