// Tries setTimeout as the arguments say: delay in ms, calls, and ms for all of them, three words a course. Prints what each call
// took, in ms, one JSON array a line. Runs on Node 6 and later.
'use strict';
var words = process.argv.slice(1).map(Number);

function now() {
  var t = process.hrtime();
  return t[0] * 1e3 + t[1] / 1e6;
}

function course(at) {
  if (at >= words.length) return;
  var took = [];
  var over = now() + words[at + 2];
  (function next() {
    if (took.length >= words[at + 1] || now() >= over) {
      console.log(JSON.stringify(took));
      return course(at + 3);
    }
    var start = now();
    setTimeout(function () {
      took.push(now() - start);
      next();
    }, words[at]);
  })();
}

course(0);
