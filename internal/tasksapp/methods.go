package tasksapp

import (
	"errors"
	"strconv"
	"time"
)

// A call is what a method's body is given.
type call struct {
	argument []byte // raw JSON
	given    bool   // the argument is there and is not null
	seed     []byte // for the ids that are made; nil for random ones
}

var (
	errNoArgument = errors.New("no argument to take fields from")
	errSameID     = errors.New("a task with this id exists")
)

// A body does a method's work under the lock of tasks: it returns the result as JSON and the data messages of its writes.
type body func(t *tasks, c call) (result []byte, writes []*message, err error)

// bodyOf returns nil for a method that there is not.
func bodyOf(name string) body {
	switch name {
	case "insertTask":
		return insertTask
	case "removeTask":
		return removeTask
	case "removeAllTasks":
		return removeAllTasks
	case "fetchTasks":
		return fetchTasks
	}
	return nil
}

func insertTask(t *tasks, c call) ([]byte, []*message, error) {
	if !c.given {
		return nil, nil, errNoArgument
	}
	id := randomID(c.seed)
	if _, taken := t.byID[id]; taken {
		return nil, nil, errSameID
	}
	task := newTask(id, field(c.argument, "sessionId"), field(c.argument, "description"), time.Now())
	t.insert(task)
	return quote([]byte(id)), []*message{task.added}, nil
}

func removeTask(t *tasks, c call) ([]byte, []*message, error) {
	if !c.given {
		return nil, nil, errNoArgument
	}
	found := t.find(field(c.argument, "taskId"))
	if found == nil {
		return []byte("0"), nil, nil
	}
	return []byte("1"), []*message{t.remove(found)}, nil
}

func removeAllTasks(t *tasks, c call) ([]byte, []*message, error) {
	if !c.given {
		return nil, nil, errNoArgument
	}
	var writes []*message
	for _, task := range t.of(field(c.argument, "sessionId")) {
		writes = append(writes, t.remove(task))
	}
	return strconv.AppendInt(nil, int64(len(writes)), 10), writes, nil
}

func fetchTasks(t *tasks, _ call) ([]byte, []*message, error) { return t.list(), nil, nil }
