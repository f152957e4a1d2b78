// Which functions of a project run in this process, and which of their lines never do, by the precise coverage of V8.

/** Records what runs of the code in a folder: from `begin` on, as far as it is taken. */
function reachedIn(root) {
    const fs = require('node:fs');
    const path = require('node:path');
    const { Session } = require('node:inspector');
    const { fileURLToPath } = require('node:url');
    const session = new Session();
    const scripts = new Map();

    function post(method, options) {
        let told;
        session.post(method, options, (_, answer) => {
            told = answer;
        });
        return told;
    }

    function fileOf(url) {
        try {
            const file = url.startsWith('file:') ? fileURLToPath(url) : url;
            return file.startsWith(root + path.sep) && !file.includes('node_modules') ? file : undefined;
        } catch {
            return undefined;
        }
    }

    /** Returns a script with the text of its file, and how far that stands behind the begin of what runs; nowhere where the file was transformed first. */
    function scriptOf(id, url) {
        if (!scripts.has(id)) {
            const file = fileOf(url);
            const script = file && { file, text: textOf(file), functions: new Map() };
            if (script) script.shift = script.text === undefined ? -1 : sourceOf(id).indexOf(script.text);
            scripts.set(id, script);
        }
        return scripts.get(id);
    }

    function textOf(file) {
        try {
            return fs.readFileSync(file, 'utf8');
        } catch {
            return undefined;
        }
    }

    function sourceOf(id) {
        const source = post('Debugger.getScriptSource', { scriptId: id });
        return source ? source.scriptSource : '';
    }

    function add(script, { functionName, ranges }) {
        const [{ startOffset: start, endOffset: end, count }] = ranges;
        if (count === 0 || start < script.shift || (start === script.shift && end - start >= script.text.length - 1)) return;
        const key = `${start}:${end}`;
        const known = script.functions.get(key) || { name: functionName, start, ran: new Uint8Array(end - start) };
        script.functions.set(key, known);
        const ran = new Uint8Array(end - start);
        for (const range of ranges) ran.fill(range.count > 0 ? 1 : 0, range.startOffset - start, range.endOffset - start);
        ran.forEach((is, at) => {
            if (is) known.ran[at] = 1;
        });
    }

    function missedIn(text, ran, line) {
        const missed = [];
        let at = 0;
        text.split('\n').forEach((row, number) => {
            const parts = [...row].map((c, column) => [c, ran[at + column]]);
            const code = parts.filter(([c]) => !/[\s{}()[\];,]/.test(c));
            if (number > 0 && code.length > 0 && !/^\s*(\/\/|\/?\*)/.test(row) && code.every(([, is]) => !is)) missed.push(line + number);
            at += row.length + 1;
        });
        return missed;
    }

    return {
        session,

        begin() {
            session.connect();
            post('Profiler.enable');
            post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
        },

        /** Takes what ran since it was taken last, and drops it where it does not count. */
        take(counts) {
            const answer = post('Profiler.takePreciseCoverage');
            if (!counts || !answer) return;
            // Enabling it tells all scripts that there are.
            const isNew = answer.result.some(({ scriptId, url }) => !scripts.has(scriptId) && fileOf(url));
            if (isNew) post('Debugger.enable');
            for (const { scriptId, url, functions } of answer.result) {
                const script = scriptOf(scriptId, url);
                if (script && script.shift >= 0) functions.forEach((one) => add(script, one));
            }
            if (isNew) post('Debugger.disable');
        },

        /** Returns path, line, name and lines that never ran, of each function; nothing where code was transformed before it ran. */
        told() {
            const found = [];
            for (const { file, text, shift, functions } of [...scripts.values()].filter(Boolean)) {
                if (shift < 0) return undefined;
                const place = path.relative(root, file).split(path.sep).join('/');
                for (const { name, start, ran } of functions.values()) {
                    const at = start - shift;
                    const line = text.slice(0, at).split('\n').length;
                    found.push([place, line, name || '<anonymous>', missedIn(text.slice(at, at + ran.length), ran, line)]);
                }
            }
            return found.slice(0, 1000);
        },
    };
}
