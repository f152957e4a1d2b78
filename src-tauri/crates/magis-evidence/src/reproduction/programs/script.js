// Runs a script that asserts what it wants. It is put into the project's folder, so that it loads files of the project by their paths, packages that are
// installed there, and the project itself under its own name, also where its manifest has no `exports`. The first argument is that folder.
'use strict';
const fs = require('node:fs');
const path = require('node:path');
const { pathToFileURL } = require('node:url');

const ROOT = fs.realpathSync(process.argv[2] || process.cwd());

/** The name of the project, where it is one that a package can have. */
function ownName() {
    try {
        const { name } = JSON.parse(fs.readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
        return typeof name === 'string' && /^(?:@[\w-][\w.-]*\/)?[\w-][\w.-]*$/.test(name) ? name : undefined;
    } catch {
        return undefined;
    }
}

const name = ownName();
if (name) {
    // A published version of the project may be installed there; it is not what is tested.
    const link = path.join(ROOT, 'node_modules', name);
    fs.rmSync(link, { recursive: true, force: true });
    fs.mkdirSync(path.dirname(link), { recursive: true });
    fs.symlinkSync(ROOT, link);
}
const script = path.join(ROOT, SCRIPT);
fs.copyFileSync(path.join(__dirname, SCRIPT), script);
import(pathToFileURL(script).href);
