// Faults on demand, so that a gate can be shown a regression: each applies to every method call.
const { BLOCK_MS = '0', ALLOC_KB = '0' } = process.env;
const block = amount('BLOCK_MS', BLOCK_MS);
const alloc = amount('ALLOC_KB', ALLOC_KB);

function amount(name, text) {
  const n = Number(text);
  if (!(n >= 0)) throw new Error(`${name} is ${text}, want a number from 0 up`);
  return n;
}

let sum = 0; // keeps what is allocated from being optimised away

// misbehave holds the event loop for BLOCK_MS and makes ALLOC_KB of garbage in small objects.
export function misbehave() {
  const until = performance.now() + block;
  while (performance.now() < until);
  for (let kb = 0; kb < alloc; kb++) {
    sum += Array.from({ length: 64 }, (_, i) => ({ i })).length;
  }
}
