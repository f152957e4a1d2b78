// Runs the steps of a check in one scope, statement by statement, and writes what each printed, gave or raised.
//
// Every record is one line on the standard output: the marker, a blank, JSON. What the steps print goes into the records. The first argument is the
// project's folder.
'use strict';
const fs = require('node:fs');
const path = require('node:path');
const util = require('node:util');
const vm = require('node:vm');
const { builtinModules, createRequire } = require('node:module');
const { pathToFileURL } = require('node:url');

const TASK = JSON.parse(TASK_TEXT);
const ROOT = fs.realpathSync(process.argv[2] || process.cwd());
const LIMIT = 20000;
// How long a promise, and what is still to come at the end, are waited for.
const PATIENCE = 4000;
// Where a package has its code when what its manifest names is not built.
const UNBUILT = ['./src/index.js', './src/index.mjs', './index.js', './index.mjs', './lib/index.js'];

const printed = { out: '', log: '' };
for (const [stream, key] of [[process.stdout, 'out'], [process.stderr, 'log']]) {
    stream.write = (chunk, encoding, done) => {
        printed[key] += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
        const then = typeof encoding === 'function' ? encoding : done;
        if (then) process.nextTick(then);
        return true;
    };
}

function write(record) {
    let rest = Buffer.from(`\n${TASK.marker} ${JSON.stringify(record)}\n`);
    while (rest.length > 0) {
        try {
            rest = rest.subarray(fs.writeSync(1, rest));
        } catch (error) {
            if (error.code !== 'EAGAIN') throw error;
        }
    }
}

function attempt(make) {
    try {
        return make();
    } catch {
        return undefined;
    }
}

/** Where the specifiers of the steps lead: the project by its own name, its files, what is installed in it. */
const modules = {
    manifest: attempt(() => JSON.parse(fs.readFileSync(path.join(ROOT, 'package.json'), 'utf8'))) || {},
    fromRoot: createRequire(path.join(ROOT, 'package.json')),
    loaded: new Map(),

    place(specifier) {
        const names = TASK.packages;
        const own = names.find((name) => specifier === name || specifier.startsWith(`${name}/`));
        const resolved = (wanted) => attempt(() => this.fromRoot.resolve(wanted));
        if (own) {
            const inner = specifier.slice(own.length);
            const exported = this.manifest.exports ? resolved(specifier) : undefined;
            const found = exported || resolved(`.${inner || '/'}`) || (inner ? undefined : UNBUILT.map(resolved).find(Boolean));
            if (found) return found;
        }
        if (specifier.startsWith('.')) return this.fromRoot.resolve(`./${specifier.replace(/^(?:\.\.?\/)+/, '').replace(/^\.\.?$/, '')}`);
        return this.fromRoot.resolve(specifier);
    },

    require(specifier) {
        return this.loaded.has(specifier) ? this.loaded.get(specifier) : this.fromRoot(this.place(specifier));
    },

    /** Modules that cannot be loaded at once when a step asks for them are loaded before. */
    async preload(source) {
        for (const [, , specifier] of source.matchAll(/\b(?:from|import|require\s*\(|import\s*\()\s*(['"])([^'"\n]+)\1/g)) {
            if (this.loaded.has(specifier) || builtinModules.includes(specifier.replace(/^node:/, ''))) continue;
            const place = attempt(() => this.place(specifier));
            if (place && this.isModule(place)) {
                try {
                    this.loaded.set(specifier, await import(pathToFileURL(place).href));
                } catch (error) {
                    this.loaded.delete(specifier);
                }
            }
        }
    },

    isModule(place) {
        if (/\.[cm]js$/.test(place)) return place.endsWith('.mjs');
        for (let folder = path.dirname(place); ; folder = path.dirname(folder)) {
            const manifest = attempt(() => JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8')));
            if (manifest) return manifest.type === 'module';
            if (folder === path.dirname(folder)) return false;
        }
    },

    /** What a default import of a module gives. */
    standard(specifier) {
        const found = this.require(specifier);
        const isModule = found && (found[Symbol.toStringTag] === 'Module' || found.__esModule);
        return isModule && 'default' in found ? found.default : found;
    },
};

const reached = reachedIn(ROOT);

/** Binds names that the steps use and never bind, as a reader of the issue would. */
const names = {
    bound: [],

    find(name) {
        for (const own of TASK.packages) {
            const camel = own.replace(/^@[^/]*\//, '').replace(/\.js$/, '').replace(/[-.](\w)/g, (_, c) => c.toUpperCase());
            const exported = attempt(() => modules.require(own));
            if (exported === undefined) continue;
            if (camel.toLowerCase() === name.toLowerCase()) return [`const ${name} = require('${own}');`, modules.standard(own)];
            if (Object.hasOwn(Object(exported), name)) return [`const { ${name} } = require('${own}');`, exported[name]];
        }
        if (builtinModules.includes(name)) return [`const ${name} = require('${name}');`, require(name)];
        return undefined;
    },

    bind(error) {
        const name = error instanceof ReferenceError && /^([\w$]+) is not defined$/.exec(error.message)?.[1];
        const found = name && this.find(name);
        if (!found) return false;
        this.bound.push(found[0]);
        globalThis[name] = found[1];
        return true;
    },
};

/** A statement in words that a scope of its own takes: no imports, no exports, names that may be bound anew. */
function plain(source) {
    const text = source.replace(/^export\s+(?:default\s+)?/, '').replace(/\bimport\s*\(/g, '__load(');
    const parts = /^import\s+(?:([\w$]+)\s*,?\s*)?(?:\*\s*as\s+([\w$]+)|\{([^}]*)\})?\s*(?:from\s*)?(['"])(.+?)\4\s*;?\s*$/s.exec(text);
    if (!parts) return text.replace(/^(?:const|let)\b/, 'var  ').replace(/^class\s+([\w$]+)/, 'var $1 = class $1');
    const [, standard, whole, some, , specifier] = parts;
    const module = JSON.stringify(specifier);
    const made = [];
    if (standard) made.push(`var ${standard} = __standard(${module});`);
    if (whole) made.push(`var ${whole} = require(${module});`);
    if (some !== undefined) made.push(`var {${some.replace(/\bas\b/g, ':')}} = require(${module});`);
    return made.join(' ') || `require(${module});`;
}

function compiled(source, statement, filename) {
    return new vm.Script(source, { filename, lineOffset: statement.line - 1 });
}

async function evaluate(statement, filename) {
    const source = plain(statement.source);
    let script;
    try {
        script = compiled(source, statement, filename);
    } catch (error) {
        if (!/\bawait\b/.test(source)) throw error;
        const binding = /^var\s+([\w$]+|\{[^=]*\}|\[[^=]*\])\s*=\s*(.*?);?\s*$/s.exec(source);
        const inner = binding ? `return (${binding[2]}\n)` : statement.shown ? `return (${source.replace(/;\s*$/, '')}\n)` : source;
        globalThis.__given = await compiled(`(async () => { ${inner} })()`, statement, filename).runInThisContext();
        script = compiled(binding ? `var ${binding[1]} = __given;` : '__given', statement, filename);
    }
    for (let tries = 0; ; tries++) {
        try {
            return await settled(script.runInThisContext());
        } catch (error) {
            if (tries > 8 || !names.bind(error)) throw error;
        }
    }
}

async function settled(value) {
    if (typeof value?.then !== 'function') return value;
    let timer;
    const late = new Promise((resolve) => {
        timer = setTimeout(() => resolve(value), PATIENCE);
    });
    try {
        // A value that is itself a promise is not waited for a second time.
        return await Promise.race([Promise.resolve(value), late.then((it) => ({ promise: it }))]);
    } finally {
        clearTimeout(timer);
    }
}

const ON_ONE_LINE = { depth: 20, maxArrayLength: 1000, maxStringLength: LIMIT, breakLength: Infinity, compact: true };

/** The ways to show a value: as a program prints it, on one line, as text, as JSON. */
function forms(value) {
    const made = {
        repr: attempt(() => util.inspect(value, ON_ONE_LINE)),
        inspect: attempt(() => util.inspect(value)),
        str: attempt(() => String(value)),
        json: attempt(() => JSON.stringify(value)),
        indented: attempt(() => JSON.stringify(value, null, 2)),
    };
    return Object.fromEntries(Object.entries(made).filter(([, text]) => typeof text === 'string').map(([key, text]) => [key, text.slice(0, LIMIT)]));
}

function isEqual(value, other) {
    if (util.isDeepStrictEqual(value, other)) return true;
    // Whether an object has a prototype is seldom what an issue is about.
    const bare = (it) => util.inspect(it, ON_ONE_LINE).replaceAll('[Object: null prototype] ', '');
    return typeof value === 'object' && typeof other === 'object' && attempt(() => bare(value) === bare(other)) === true;
}

/** Which of the texts the issue shows are, read as code, equal to the value. */
function equals(value) {
    if (typeof value === 'function') return [];
    const found = [];
    TASK.texts.forEach((text, at) => {
        if (!text.trim() || /^[A-Za-z_$][\w$]*$/.test(text.trim()) && !['undefined', 'null', 'true', 'false', 'NaN', 'Infinity'].includes(text.trim())) return;
        const script = attempt(() => new vm.Script(`(${text.trim().replace(/;$/, '')}\n)`, { filename: '<text>' }));
        if (script && attempt(() => isEqual(value, script.runInThisContext({ timeout: 1000 })))) found.push(at);
    });
    return found;
}

function told(error) {
    if (error === null || typeof error !== 'object' || typeof error.message !== 'string') return { kind: 'Error', message: attempt(() => util.inspect(error)) || '' };
    return { kind: String(error.name || error.constructor?.name || 'Error'), message: error.message };
}

/** The frames on the way to an exception that lie in the project. */
function traceOf(error) {
    const lines = attempt(() => String(error.stack).split('\n')) || [];
    return lines.filter((line) => /^\s+at /.test(line) && line.includes(ROOT) && !line.includes('node_modules')).map((line) => line.trim()).slice(0, 60).join('\n');
}

function loads(source) {
    return /^import\b/.test(source) || /^(?:const|let|var)\b[^=]*=\s*require\s*\([^()]*\)(?:\.[\w$]+)*\s*;?\s*$/s.test(source);
}

let astray;
process.on('unhandledRejection', (error) => {
    astray = { error };
});
process.on('uncaughtException', (error) => {
    astray = { error };
});

async function run(step, at, statement) {
    const filename = `<step ${step + 1}>`;
    Object.assign(printed, { out: '', log: '' });
    astray = undefined;
    let value, raised;
    const counts = !loads(statement.source);
    try {
        value = await evaluate(statement, filename);
        if (statement.binds) value = new vm.Script(statement.binds).runInThisContext();
    } catch (error) {
        raised = { error };
    }
    await new Promise((resolve) => setImmediate(resolve));
    raised = raised || astray;
    reached.take(counts);
    const record = { step, statement: at, line: statement.line, last_line: statement.last_line, assertion: statement.asserts, unshown: [], forms: {}, equals: [], raised: null, trace: '' };
    if (raised) {
        record.raised = told(raised.error);
        record.trace = traceOf(raised.error);
    } else if (statement.binds) {
        record.forms = value === undefined ? {} : Object.fromEntries(Object.entries(forms(value)).map(([form, text]) => [`bound_${form}`, text]));
        record.equals = equals(value);
    } else if (statement.shown && !(value === undefined && printed.out)) {
        const { out, log } = printed;
        record.forms = forms(value);
        record.equals = equals(value);
        Object.assign(printed, { out, log });
    }
    reached.take(false);
    return Object.assign(record, { printed: printed.out.slice(0, LIMIT), logged: printed.log.slice(0, LIMIT) });
}

async function main() {
    reached.begin();
    Object.assign(globalThis, { require: (specifier) => modules.require(specifier), __standard: (specifier) => modules.standard(specifier), __load: async (specifier) => modules.require(specifier), module: { exports: {} }, exports: {} });
    globalThis.require.resolve = (specifier) => modules.place(specifier);
    for (const statements of TASK.steps) for (const { source } of statements) await modules.preload(source);
    for (const name of TASK.packages) await modules.preload(`from '${name}'`);
    reached.take(false);
    let last;
    for (const [step, statements] of TASK.steps.entries()) {
        for (const [at, statement] of statements.entries()) {
            if (last) write(last);
            last = await run(step, at, statement);
        }
    }
    // What is still to come is printed by the last statement.
    let isOver = false;
    const end = () => {
        if (isOver) return;
        isOver = true;
        reached.take(true);
        if (last) {
            last.printed = printed.out.slice(0, LIMIT);
            if (astray && !last.raised) Object.assign(last, { raised: told(astray.error), trace: traceOf(astray.error) });
            write(last);
        }
        write({ end: true, imports: [...new Set(names.bound)], reached: reached.told() || [] });
        process.reallyExit(0);
    };
    process.on('beforeExit', end);
    setTimeout(end, PATIENCE).unref();
}

main();
