// Writes which functions of the project a process of Node enters, beside this file; Node loads it before all else.
try {
    const fs = require('node:fs');
    const path = require('node:path');
    const { threadId } = require('node:worker_threads');
    const place = path.join(__dirname, `${process.pid}-${threadId}.json`);
    const write = (record) => fs.writeFileSync(place, JSON.stringify(record));
    // Node's runner of tests starts a process for each file, unless it is told not to, and has no inspector itself.
    const isRunner = process.execArgv.includes('--test') && !process.execArgv.some((option) => option.includes('test-isolation'));
    // It stays where a process does not come to its end: then nobody knows what it entered.
    write(isRunner ? [] : null);
    if (!isRunner) {
        const reached = reachedIn(fs.realpathSync(process.env.MAGIS_ROOT));
        reached.begin();
        process.once('exit', () => {
            reached.take(true);
            write(reached.told() || null);
        });
    }
} catch {
    // What is not told is not known; the program goes on.
}
