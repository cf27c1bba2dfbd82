package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/ddpgate/ddpgate/internal/nearest"
)

// misread says what is wrong with a command line, with the nearest known word for one that is not known.
func misread(err error) error {
	var parse *kong.ParseError
	if !errors.As(err, &parse) || len(parse.Context.Path) == 0 {
		return err
	}
	node := parse.Context.Path[0].Node()
	if selected := parse.Context.Selected(); selected != nil {
		node = selected
	}
	text := parse.Error()
	if word, found := strings.CutPrefix(text, "unknown flag "); found {
		word, _, _ = strings.Cut(word, ",")
		return unknownWord("flag", word, flagsOf(node), node)
	}
	if word, found := strings.CutPrefix(text, "unexpected argument "); found && len(node.Children) > 0 {
		word, _, _ = strings.Cut(word, ",")
		return unknownWord("command", word, commandsOf(node), node)
	}
	return err
}

// unknownWord names the nearest of the known words, or where they are all explained: there may be many.
func unknownWord(what, word string, known []string, node *kong.Node) error {
	if nearest.Word(word, known) != "" || len(known) < 12 {
		return nearest.Unknown(what, word, known)
	}
	return fmt.Errorf("unknown %s %q, see: %s --help", what, word, node.FullPath())
}

func flagsOf(node *kong.Node) []string {
	var names []string
	for _, group := range node.AllFlags(true) {
		for _, f := range group {
			names = append(names, "--"+f.Name)
		}
	}
	return names
}

func commandsOf(node *kong.Node) []string {
	var names []string
	for _, child := range node.Children {
		if child.Type == kong.CommandNode {
			names = append(names, child.Name)
		}
	}
	return names
}
