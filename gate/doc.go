// Package gate judges measurements: two records, or the two arms of one, against a policy.
//
// It is pure. It opens no file, reads no clock and draws no random number. A regression is a value
// that it returns; an error means that the two sides cannot be compared at all.
//
// The run is the unit: one run gives one number per metric. Changes are differences of logarithms, so that twice as slow
// and half as slow are equally far from no change.
package gate
