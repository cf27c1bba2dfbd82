// Runs in the app's process before the app, by NODE_OPTIONS=--require, and appends a line of JSON twice a second to a file of its own. Node
// 14 and later; what a version lacks is left out.
'use strict';
(function () {
  var dir = process.env.DDPGATE_NODE;
  var threads = require('worker_threads');
  if (!dir || !threads.isMainThread) return;
  var fs = require('fs');
  var path = require('path');
  var v8 = require('v8');
  var hooks = require('perf_hooks');
  var file;
  try {
    file = fs.openSync(path.join(dir, process.pid + '.jsonl'), 'a');
  } catch (e) {
    return;
  }
  var resolution = 10; // ms between looks at the loop, which the histogram counts as delay
  var kinds = {}; // their numbers changed with V8's
  kinds[hooks.constants.NODE_PERFORMANCE_GC_MINOR] = 'minor';
  kinds[hooks.constants.NODE_PERFORMANCE_GC_MAJOR] = 'major';
  kinds[hooks.constants.NODE_PERFORMANCE_GC_INCREMENTAL] = 'incremental';
  kinds[hooks.constants.NODE_PERFORMANCE_GC_WEAKCB] = 'weak';
  var loop = hooks.monitorEventLoopDelay({ resolution: resolution });
  var utilization = hooks.performance.eventLoopUtilization;
  var before = utilization ? utilization.call(hooks.performance) : null;
  var gc = {};
  var since = Date.now();

  function collected(list) {
    list.getEntries().forEach(function (entry) {
      var code = entry.detail && entry.detail.kind !== undefined ? entry.detail.kind : entry.kind;
      var kind = kinds[code] || 'minor';
      var sum = gc[kind] || (gc[kind] = [0, 0]); // total and longest, ms
      sum[0] += entry.duration;
      sum[1] = Math.max(sum[1], entry.duration);
    });
  }

  function report() {
    var now = Date.now();
    if (now <= since) return;
    var delays = [];
    for (var p = 2; p <= 100 && loop.max > 0; p += 2) {
      delays.push(Math.max(0, Math.round(loop.percentile(p) / 1e3 - resolution * 1e3) / 1e3));
    }
    loop.reset();
    var line = { from: since, to: now, parent: process.ppid, heap: v8.getHeapStatistics().used_heap_size, gc: gc, delays: delays };
    if (before) {
      var after = utilization.call(hooks.performance);
      line.used = utilization.call(hooks.performance, after, before).utilization;
      before = after;
    }
    gc = {};
    since = now;
    try {
      fs.writeSync(file, JSON.stringify(line) + '\n');
    } catch (e) {
      clearInterval(timer);
    }
  }

  new hooks.PerformanceObserver(collected).observe({ entryTypes: ['gc'] });
  loop.enable();
  var timer = setInterval(report, 500);
  timer.unref();
  process.on('exit', report);
})();
