//! Names that nothing defines.

use crate::path;
use magis_syntax::undefined_names;

fn check_change(name: &str, base: &str, new: &str, expected: &[&str]) {
    assert_eq!(undefined_names(&path(name), base, new), expected, "{base}\n---\n{new}");
}

fn check(name: &str, text: &str, expected: &[&str]) {
    check_change(name, "", text, expected);
}

#[test]
fn a_python_name_is_defined_where_a_scope_around_binds_it() {
    check("a.py", "def f():\n    return os.path.join('a')\n", &["os"]);
    check("a.py", "import os.path\ndef f():\n    return os.path.join('a')\n", &[]);
    check("a.py", "from a import b as c\nb, c\n", &["b"]);
    check("a.py", "def f():\n    x = 1\n\ndef g():\n    return x\n", &["x"]);
    check(
        "a.py",
        "def f():\n    x = 1\n    def g():\n        return x\n    return g\n",
        &[],
    );
    check("a.py", "def f():\n    return later\n\nlater = 1\n", &[]);
    check(
        "a.py",
        "class A:\n    x = 1\n    def f(self):\n        return x\n",
        &["x"],
    );
    check(
        "a.py",
        "class A:\n    x = 1\n    y = x\n    def f(self, z=x) -> x:\n        return z\n",
        &[],
    );
    check("a.py", "class A:\n    x = [1]\n    y = [a for a in x]\n", &[]);
    check(
        "a.py",
        "def f(a, b=1, *c, d: int = 2, **e):\n    return a, b, c, d, e\n",
        &[],
    );
    check("a.py", "[x for x in y if x]\n", &["y"]);
    check("a.py", "y = {a: b for a, (b, *c) in {}.items()}\na\n", &["a"]);
    check(
        "a.py",
        "if (n := len('a')) > 1:\n    n\nany((m := x) for x in [])\nm\n",
        &[],
    );
    check("a.py", "for i, (j, k) in []:\n    i, j, k\nelse:\n    i\n", &[]);
    check("a.py", "with open('a') as f, open('b') as (g, h):\n    f, g, h\n", &[]);
    check("a.py", "try:\n    1\nexcept (OSError, ValueError) as e:\n    e\n", &[]);
    check(
        "a.py",
        "def f():\n    global x\n    x = 1\n\ndef g():\n    return x\n",
        &[],
    );
    check("a.py", "f = lambda a, *b: (a, b, c)\n", &["c"]);
    check(
        "a.py",
        "match p:\n    case {'a': x, **rest}:\n        x, rest\n    case A(b=y) | [y, *_]:\n        y\n",
        &["p"],
    );
    check(
        "a.py",
        "def f[T](a: T) -> list[T]:\n    return a\n\nclass A[U]:\n    def g(self, a: U): ...\n",
        &[],
    );
    check("a.py", "f(key=1)\n", &["f"]);
    check("a.py", "print(f'{a} {1:{b}}')\n", &["a", "b"]);
    check("a.py", "@dec\ndef f(): ...\n", &["dec"]);
    check("a.py", "def f(x: typing.Any): ...\n", &["typing"]);
    check("a.py", "a.b.c = d\ne[g] = 1\n", &["a", "d", "e", "g"]);
    check("a.py", "x, (y, *z) = 1, 2\nx, y, z, __name__, _\n", &[]);
    check("a.py", "raise ValueeError('a') from None\n", &["ValueeError"]);
}

#[test]
fn nothing_is_undefined_where_names_come_from_unseen_places() {
    check("a.py", "from a import *\nx\n", &[]);
    check("a.py", "globals()['x'] = 1\nx\n", &[]);
    check("a.py", "exec('x = 1')\nx\n", &[]);
    check(
        "a.py",
        "try:\n    text = unicod\nexcept NameError:\n    text = str\n",
        &[],
    );
    check("a.py", "with pytest.raises(NameError):\n    x\n", &[]);
    check("a.py", "if new:\n    x  # noqa: F821\n", &["new"]);
    check("a.py", "def f(:\n    x\n", &[]);
    check("a.txt", "x\n", &[]);
    check("a.go", "package a\nfunc f() { g() }\n", &[]);
}

#[test]
fn only_what_the_change_brought_is_found() {
    check_change("a.py", "a\n", "a\nb\n", &["b"]);
    check_change("a.py", "import re\nre.sub\n", "re.sub\n", &["re"]);
    check_change("a.py", "a(\n", "a()\nb()\n", &["b"]);
    check_change("a.py", "from a import *\nb\n", "b, c\n", &["c"]);
}

#[test]
fn an_attribute_of_self_is_set_somewhere_or_undefined() {
    let class = "class A:\n    b = 1\n    def __init__(self):\n        self.a = 1\n    def f(self):\n        return ";
    check("a.py", &format!("{class}self.a, self.b, self.f\n"), &[]);
    check("a.py", &format!("{class}self.missing\n"), &["self.missing"]);
    check(
        "a.py",
        &format!("{class}self.c\n\n    def g(self):\n        self.c = 1\n"),
        &[],
    );
    check("a.py", &format!("{class}self.c\n\na = A()\na.c = 1\n"), &[]);
    check("a.py", &format!("{class}getattr(self, 'c', None) or self.c\n"), &[]);
    check(
        "a.py",
        &format!("{class}self.c\n\n    def __getattr__(self, n): ...\n"),
        &[],
    );
    check("a.py", &format!("{class}self.__class__\n"), &[]);
    check("a.py", "class A(B):\n    def f(self):\n        return self.c\n", &["B"]);
    check(
        "a.py",
        "class A(object):\n    def f(self):\n        return self.c\n",
        &["self.c"],
    );
    check("a.py", "class AMixin:\n    def f(self):\n        return self.c\n", &[]);
    check(
        "a.py",
        "class A:\n    def f(self):\n        return self.c\n\nclass B(A):\n    pass\n",
        &[],
    );
    check(
        "a.py",
        "class A:\n    @staticmethod\n    def f(self):\n        return self.c\n",
        &[],
    );
}

#[test]
fn a_script_names_what_it_declares_imports_or_the_platform_has() {
    check("a.js", "import a, {b as c} from 'x';\na(c, b);\n", &["b"]);
    check(
        "a.js",
        "import * as a from 'x';\nfunction f(p, {q, r: s = 1}, ...t) { return a(p, q, s, t, u); }\n",
        &["u"],
    );
    check(
        "a.js",
        "const x = require('x');\nexports.f = (y) => x(y, window.z, process.env, { w });\n",
        &["w"],
    );
    check(
        "a.js",
        "export function f() { const x = 1; }\nexport const g = () => x;\n",
        &["x"],
    );
    check(
        "a.js",
        "export const f = () => typeof other === 'undefined' ? 1 : console.log({ key: 1 }.key);\n",
        &[],
    );
    check(
        "a.js",
        "for (const [k, v] of []) { k(v); }\ntry {} catch ({ message }) { message; }\nexport default k;\n",
        &[],
    );
    check(
        "a.js",
        "export const a = <Foo bar={baz} />;\nexport const b = <div><Bar.Baz /></div>;\n",
        &["Foo", "baz", "Bar"],
    );
    check("a.js", "f();\n", &[]);
    check("a.js", "/* global foo, bar */\nexport default foo(bar);\n", &[]);
    check(
        "a.js",
        "export default function f() { label: for (;;) { break label; } }\n",
        &[],
    );
    check(
        "a.js",
        "export class A { #x = 1; m() { return this.#x + helper(); } }\nexport const b = new A();\n",
        &["helper"],
    );
    check(
        "a.ts",
        "import type { T } from 'x';\nenum E { A = 1, B = A }\nexport function f(this: T, a: T, b?: E): a is T { return g(a as T, b); }\n",
        &["g"],
    );
    check(
        "a.ts",
        "export type F = (x: number) => typeof y;\nexport interface I { [key: string]: F }\n",
        &[],
    );
    check(
        "a.ts",
        "declare const ambient: number;\nnamespace N { export const a = ambient; }\nexport default N.a;\n",
        &[],
    );
    check(
        "a.tsx",
        "export const A = ({ a }: Props) => <Bar a={a} c={d} />;\n",
        &["Bar", "d"],
    );
    check_change("a.js", "export default a;\n", "export default a(b);\n", &["b"]);
}

#[test]
fn a_rust_name_is_found_only_where_it_is_certain() {
    check("a.rs", "fn f(a: u8) -> u8 { let b = a; b + c }\n", &["c"]);
    check("a.rs", "fn f() { helper(1) }\n", &["helper"]);
    check("a.rs", "use a::{b, c as d};\nfn f() { b(d) }\n", &[]);
    check("a.rs", "use a::*;\nfn f() { b() }\n", &[]);
    check(
        "a.rs",
        "fn f() {}\nmod tests { use super::*; fn g() { f(); h() } }\nfn i() { j() }\n",
        &["j"],
    );
    check("a.rs", "fn f() { let x = vec![y]; println!(\"{x}\"); y }\n", &[]);
    check("a.rs", "make_functions!();\nfn f() { g() }\n", &[]);
    check(
        "a.rs",
        "fn f(o: Option<u8>) { if let Some(x) = o { x } else { match o { Some(n @ 1..) if n > 2 => n, other => other } } }\n",
        &[],
    );
    check(
        "a.rs",
        "fn f() { let g = |a, (b, c): (u8, u8)| a + b + c; for i in 0..1 { g(i, (i, i)); } drop(g) }\n",
        &[],
    );
    check(
        "a.rs",
        "struct S { a: u8 }\nimpl S { fn n(a: u8) -> Self { Self { a } } fn m(&self) -> u8 { let Self { a, .. } = self; *a + self.m() } }\n",
        &[],
    );
    check(
        "a.rs",
        "fn f() { 'outer: loop { break 'outer; } std::mem::take(x) }\n",
        &["x"],
    );
    check(
        "a.rs",
        "fn f() { fn inner() {} inner() }\nfn g() { inner() }\n",
        &["inner"],
    );
    check(
        "a.rs",
        "#[cfg(feature = \"x\")]\nfn f<const N: usize>(a: [u8; N]) -> impl Fn(u8) -> u8 { move |x| x + a[0] }\n",
        &[],
    );
}
