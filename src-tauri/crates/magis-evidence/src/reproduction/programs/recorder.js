// Writes which functions of the project a process of Node enters, beside this file; Node loads it before all else.
try {
    const fs = require('node:fs');
    const path = require('node:path');
    const { Session } = require('node:inspector');
    const { syncBuiltinESMExports } = require('node:module');
    const children = require('node:child_process');
    const { threadId } = require('node:worker_threads');
    const place = path.join(__dirname, `${process.pid}-${threadId}.json`);
    const write = (record) => fs.writeFileSync(place, JSON.stringify(record));
    // Node's runner of tests starts a process for each file, unless it is told not to, and has no inspector itself.
    const isRunner = process.execArgv.includes('--test') && !process.execArgv.some((option) => option.includes('test-isolation'));
    let isWhole = true;

    /** Sees to it that what a function of an object is called with is looked at first. */
    const before = (object, name, look) => {
        const original = object[name];
        object[name] = function (...given) {
            look.apply(this, given);
            return original.apply(this, given);
        };
    };
    // A process with an environment of its own does not load this file.
    before(children.ChildProcess.prototype, 'spawn', (options) => {
        const pairs = (options && options.envPairs) || [];
        if (!pairs.some((pair) => pair.startsWith('NODE_OPTIONS=') && pair.includes(__filename))) isWhole = false;
    });
    for (const name of ['spawnSync', 'execFileSync', 'execSync']) {
        before(children, name, (...given) => {
            const env = given.map((one) => one && one.env).find(Boolean);
            if (env && !String(env.NODE_OPTIONS).includes(__filename)) isWhole = false;
        });
    }
    syncBuiltinESMExports();

    // It stays where a process does not come to its end: then nobody knows what it entered.
    write(isRunner ? [] : null);
    if (!isRunner) {
        const reached = reachedIn(fs.realpathSync(process.env.MAGIS_ROOT));
        reached.begin();
        // Whoever else counts what runs begins to count anew.
        before(Session.prototype, 'post', function (method) {
            if (this !== reached.session && String(method).startsWith('Profiler.')) isWhole = false;
        });
        process.once('exit', () => {
            reached.take(true);
            write((isWhole && reached.told()) || null);
        });
    } else {
        process.once('exit', () => write(isWhole ? [] : null));
    }
} catch {
    // What is not told is not known; the program goes on.
}
