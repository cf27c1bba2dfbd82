// Package ddp is a client of Meteor's DDP protocol, made for driving load: one goroutine a connection, no allocation for a
// message that nobody asked to keep, and an error that names its cause when a connection ends.
//
// A Conn is made by Dial and driven by Run, which reads messages and hands each one to a Handler in the order of the wire.
// The handler sends from within; it is also woken at a time of its choice. Nothing is reconnected and nothing is sent
// twice: in a measured session a lost connection is a result.
//
// The codecs (SockJS framing, messages, EJSON) serve both ends of the wire.
package ddp
