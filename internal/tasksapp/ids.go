package tasksapp

import "math/rand/v2"

const idLength = 17

// characters are those of ids in Meteor: none that is easily mistaken.
const characters = "23456789ABCDEFGHJKLMNPQRSTWXYZabcdefghijkmnopqrstuvwxyz"

// randomID returns an id as Meteor makes them: with a seed, the one that Meteor gives to the first task that a method with
// this randomSeed inserts.
func randomID(seed []byte) string {
	fraction := rand.Float64
	if len(seed) > 0 { // an empty one is none
		fraction = newAlea(string(seed), "/collection/taskCollection").next
	}
	var id [idLength]byte
	for i := range id {
		id[i] = characters[int(fraction()*float64(len(characters)))]
	}
	return string(id[:])
}

// An alea is the random number generator of Johannes Baagøe (2010), which Meteor seeds with text.
type alea struct{ s0, s1, s2, c float64 }

func newAlea(seeds ...string) *alea {
	mash := mash(0xefc8249d)
	a := &alea{s0: mash.of(" "), s1: mash.of(" "), s2: mash.of(" "), c: 1}
	for _, seed := range seeds {
		for _, s := range []*float64{&a.s0, &a.s1, &a.s2} {
			if *s -= mash.of(seed); *s < 0 {
				*s++
			}
		}
	}
	return a
}

const perUint32 = 2.3283064365386963e-10 // 2^-32

// next returns a number in [0, 1).
func (a *alea) next() float64 {
	t := 2091639*a.s0 + a.c*perUint32
	a.s0, a.s1 = a.s1, a.s2
	a.c = float64(int32(t))
	a.s2 = t - a.c
	return a.s2
}

// A mash hashes texts, each together with all before it.
type mash float64

func (m *mash) of(text string) float64 {
	n := float64(*m)
	for _, r := range text {
		n += float64(r)
		h := 0.02519603282416938 * n
		n = float64(uint32(h))
		h -= n
		h *= n
		n = float64(uint32(h))
		h -= n
		n += h * (1 << 32)
	}
	*m = mash(n)
	return float64(uint32(uint64(n))) * perUint32
}
