package tasksapp

import "fmt"

func connected(session string) *message {
	return messagef(`{"msg":"connected","session":%q}`, session)
}

func failed(version string) *message {
	return messagef(`{"msg":"failed","version":%q}`, version)
}

// errorMessage is the answer to what is no request; offending may be nil.
func errorMessage(reason string, offending []byte) *message {
	if offending == nil {
		return messagef(`{"msg":"error","reason":%q}`, reason)
	}
	return messagef(`{"msg":"error","reason":%q,"offendingMessage":%s}`, reason, offending)
}

// pong answers a ping; the id is raw JSON, or nil.
func pong(id []byte) *message {
	if id == nil {
		return messagef(`{"msg":"pong"}`)
	}
	return messagef(`{"msg":"pong","id":%s}`, id)
}

func ready(id []byte) *message { return messagef(`{"msg":"ready","subs":[%s]}`, quote(id)) }

// nosub says that a subscription is over; the id is raw JSON, or nil.
func nosub(id []byte) *message {
	if id == nil {
		return messagef(`{"msg":"nosub"}`)
	}
	return messagef(`{"msg":"nosub","id":%s}`, id)
}

func nosubUnknown(id, name []byte) *message {
	return messagef(`{"msg":"nosub","id":%s,"error":%s}`, quote(id), clientError(404, "Subscription '%s' not found", name))
}

// result answers a method; the value is raw JSON.
func result(id, value []byte) *message {
	return messagef(`{"msg":"result","id":%s,"result":%s}`, quote(id), value)
}

func resultUnknown(id, name []byte) *message {
	return messagef(`{"msg":"result","id":%s,"error":%s}`, quote(id), clientError(404, "Method '%s' not found", name))
}

// resultFailed answers a method that threw: the client does not learn what.
func resultFailed(id []byte) *message {
	return messagef(`{"msg":"result","id":%s,"error":%s}`, quote(id), clientError(500, "Internal server error"))
}

func updated(id []byte) *message { return messagef(`{"msg":"updated","methods":[%s]}`, quote(id)) }

func added(id string, fields []byte) *message {
	return messagef(`{"msg":"added","collection":"taskCollection","id":%s,"fields":%s}`, quote([]byte(id)), fields)
}

func removed(id string) *message {
	return messagef(`{"msg":"removed","collection":"taskCollection","id":%s}`, quote([]byte(id)))
}

// clientError is a Meteor.Error as JSON.
func clientError(code int, format string, args ...any) []byte {
	reason := fmt.Sprintf(format, args...)
	return fmt.Appendf(nil, `{"isClientSafe":true,"error":%d,"reason":%s,"message":%s,"errorType":"Meteor.Error"}`,
		code, quote([]byte(reason)), quote(fmt.Appendf(nil, "%s [%d]", reason, code)))
}
