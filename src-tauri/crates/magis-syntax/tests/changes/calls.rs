//! Calls that do not fit.

use crate::path;
use magis_syntax::misfit_calls;

fn check_change(name: &str, base: &str, new: &str, expected: &[(&str, &str)]) {
    let found = misfit_calls(&path(name), base, new);
    let found: Vec<_> = found
        .iter()
        .map(|misfit| (misfit.callee.as_str(), misfit.why.as_str()))
        .collect();
    assert_eq!(found, expected, "{base}\n---\n{new}");
}

fn check(name: &str, text: &str, expected: &[(&str, &str)]) {
    check_change(name, "", text, expected);
}

#[test]
fn a_python_function_takes_what_its_head_says() {
    let two = "def f(a, b): ...\n";
    check(
        "a.py",
        &format!("{two}f(1, 2)\nf(1, b=2)\nf(*x)\nf(1, **x)\nf(b=1, a=2)\n"),
        &[],
    );
    check(
        "a.py",
        &format!("{two}f(1, 2, 3)\n"),
        &[("f", "3 arguments, and it takes 2")],
    );
    check("a.py", &format!("{two}f(1)\n"), &[("f", "1 argument, and it takes 2")]);
    check("a.py", &format!("{two}f()\n"), &[("f", "no arguments, and it takes 2")]);
    check(
        "a.py",
        &format!("{two}f(1, c=2)\n"),
        &[("f", "a keyword `c` that it does not take")],
    );
    check("a.py", &format!("{two}f(b=2)\n"), &[("f", "no value for `a`")]);
    check("a.py", &format!("{two}f(1, a=2)\n"), &[("f", "two values for `a`")]);
    check(
        "a.py",
        "def f(): ...\nf(1)\n",
        &[("f", "1 argument, and it takes none")],
    );
    check(
        "a.py",
        "def f(a, b=1): ...\nf(1)\nf(1, 2, 3)\n",
        &[("f", "3 arguments, and it takes 1 to 2")],
    );
    check(
        "a.py",
        "def f(a, *, b): ...\nf(1, b=2)\nf(1)\n",
        &[("f", "no value for `b`")],
    );
    check(
        "a.py",
        "def f(a, /, b): ...\nf(1, b=2)\nf(a=1, b=2)\n",
        &[("f", "a keyword `a` that it does not take")],
    );
    check("a.py", "def f(a): ...\nf(x for x in y)\n", &[]);
}

#[test]
fn what_may_take_anything_fits() {
    check("a.py", "def f(*a): ...\nf(1, 2)\n", &[]);
    check("a.py", "def f(**a): ...\nf(b=2)\n", &[]);
    check("a.py", "@d\ndef f(): ...\nf(1)\n", &[]);
    check("a.py", "def f(): ...\ndef f(a): ...\nf(1, 2)\n", &[]);
    check("a.py", "def f(): ...\nf = g(f)\nf(1)\n", &[]);
    check("a.py", "def f(): ...\ndef g(f):\n    f(1)\n", &[]);
    check("a.py", "from a import *\ndef f(): ...\nf(1)\n", &[]);
}

#[test]
fn what_is_meant_to_go_wrong_is_no_misfit() {
    let one = "def f(a): ...\n";
    check("a.py", &format!("{one}with pytest.raises(TypeError):\n    f()\n"), &[]);
    check(
        "a.py",
        &format!("{one}self.assertRaises(TypeError, lambda: f())\n"),
        &[],
    );
    check(
        "a.py",
        &format!("{one}try:\n    f()\nexcept TypeError:\n    pass\n"),
        &[],
    );
    check("a.py", &format!("{one}f( \\\n  1)\n"), &[]);
    let open = "class A:\n    def f(self):\n        raise NotImplementedError\n    def g(self):\n        self.f(1)\n";
    check("a.py", open, &[]);
}

#[test]
fn methods_and_constructors_take_self_unseen() {
    let class = "class A:\n    def __init__(self, a): ...\n    def f(self, b): ...\n    @staticmethod\n    def s(c): ...\n    @classmethod\n    def k(cls, d):\n        cls.k(1, 2)\n    def g(self):\n        ";
    check(
        "a.py",
        &format!("{class}self.f(1); self.s(1); self.k(1); A(1)\n"),
        &[("cls.k", "2 arguments, and it takes 1")],
    );
    let with = |call: &str, callee: &str, why: &str| {
        check(
            "a.py",
            &format!("{class}{call}\n").replace("cls.k(1, 2)", "..."),
            &[(callee, why)],
        );
    };
    with("self.f()", "self.f", "no arguments, and it takes 1");
    with("self.s(1, 2)", "self.s", "2 arguments, and it takes 1");
    with("self.k()", "self.k", "no arguments, and it takes 1");
    with("A()", "A", "no arguments, and it takes 1");
    with("A(b=1)", "A", "a keyword `b` that it does not take");
    check(
        "a.py",
        "class A: ...\nA(1)\n",
        &[("A", "1 argument, and it takes none")],
    );
    check("a.py", "class A(B): ...\nA(1)\n", &[]);
    check(
        "a.py",
        "class B:\n    def __init__(self): ...\nclass A(B): ...\nA(1)\n",
        &[("A", "1 argument, and it takes none")],
    );
    check("a.py", "@d\nclass A: ...\nA(1)\n", &[]);
    check("a.py", "class A(metaclass=M): ...\nA(1)\n", &[]);
    check(
        "a.py",
        "class A:\n    def f(self): ...\n    def g(self):\n        self.f(1)\nclass B(A):\n    def f(self, a): ...\n",
        &[],
    );
    check(
        "a.py",
        "class A:\n    def f(self): ...\n    def g(self):\n        self.f = h\n        self.f(1)\n",
        &[],
    );
    check(
        "a.py",
        "class A:\n    @property\n    def f(self): ...\n    def g(self):\n        self.f(1)\n",
        &[],
    );
}

#[test]
fn a_rust_function_takes_exactly_what_it_says() {
    let two = "fn f(a: u8, b: u8) {}\n";
    check("a.rs", &format!("{two}fn g() {{ f(1, 2); other(1); x.f(1) }}\n"), &[]);
    check(
        "a.rs",
        &format!("{two}fn g() {{ f(1) }}\n"),
        &[("f", "1 argument, and it takes 2")],
    );
    check("a.rs", &format!("{two}fn g(f: fn()) {{ f() }}\n"), &[]);
    check(
        "a.rs",
        "#[cfg(a)]\nfn f() {}\n#[cfg(b)]\nfn f(a: u8) {}\nfn g() { f(1, 2) }\n",
        &[],
    );
    check(
        "a.rs",
        "struct A;\nimpl A { fn n(a: u8) -> A { A } fn m(&self, b: u8) { Self::n(); self.m(1, 2); self.m(1) } }\n",
        &[
            ("Self::n", "no arguments, and it takes 1"),
            ("self.m", "2 arguments, and it takes 1"),
        ],
    );
    check(
        "a.rs",
        "impl A { fn m(&self) { self.m(1) } }\nimpl B { fn m(&self, a: u8) {} }\n",
        &[],
    );
}

#[test]
fn a_typescript_function_takes_exactly_what_its_plain_parameters_say() {
    let two = "export function f(a: string, { b }: B, c: number) {}\n";
    check(
        "a.ts",
        &format!("{two}f('a', b, /* c */ 1);\nf<B>('a', b, 1);\nf(...x);\nother(1);\nx.f(1);\n"),
        &[],
    );
    check(
        "a.ts",
        &format!("{two}f('a', b);\n"),
        &[("f", "2 arguments, and it takes 3")],
    );
    check(
        "a.tsx",
        &format!("{two}export const a = <A b={{f('a', b, 1, 2)}} />;\n"),
        &[("f", "4 arguments, and it takes 3")],
    );
    check(
        "a.ts",
        "async function f() {}\nexport const g = () => f(1);\n",
        &[("f", "1 argument, and it takes none")],
    );
    check(
        "a.ts",
        "export const f = (a: string | null): A => a;\nconst g = a => f();\ng(1, 2);\n",
        &[
            ("f", "no arguments, and it takes 1"),
            ("g", "2 arguments, and it takes 1"),
        ],
    );
}

#[test]
fn a_typescript_function_that_may_take_fewer_or_more_fits() {
    let fits = |definition: &str, call: &str| check("a.ts", &format!("export {{}};\n{definition}\n{call}\n"), &[]);
    fits("function f(a: string, b?: string) {}", "f();");
    fits("function f(a: string, b = 1) {}", "f();");
    fits("function f(...a: string[]) {}", "f(1, 2);");
    fits("function f(this: A, a: string) {}", "f(1, 2);");
    fits(
        "function f(a: string): void;\nfunction f(a: any, b?: any) {}",
        "f(1, 2, 3);",
    );
    fits("declare function f(a: string): void;", "f();");
    fits("let f = (a: string) => a;", "f();");
    fits("const f: F = (a: string) => a;", "f(1, 2);");
    fits("const f = wrap((a: string) => a);", "f(1, 2);");
    fits("function f(a: string) {}", "export const g = (f: F) => f();");
    fits("if (x) {\n  function f(a: string) {}\n}", "f();");
    fits("function f(a: string) {}", "// @ts-expect-error\nf();");
    fits("function f(a: string) {}", "expectError(f());");
    fits("// @ts-nocheck\nfunction f(a: string) {}", "f();");
    fits("function f(a: void) {}", "f();");
    fits("function f(a: string | void) {}", "f();");
    // A name may stand for `void`, too; an argument too many is wrong all the same.
    fits("function f(a: A) {}", "f();");
    check(
        "a.ts",
        "export function f(a: A) {}\nf(1, 2);\n",
        &[("f", "2 arguments, and it takes 1")],
    );
}

#[test]
fn a_script_calls_a_class_with_new_and_a_function_with_any_number_of_arguments() {
    let wrong = [("A", "no `new`, and it is a class")];
    check("a.js", "export class A {}\nA(1);\n", &wrong);
    check(
        "a.js",
        "class A extends B {}\nmodule.exports = () => A(...x);\n",
        &wrong,
    );
    check("a.ts", "export abstract class A<T> {}\nA<string>();\n", &wrong);
    check(
        "a.js",
        "export class A {}\nnew A(1);\nnew A;\nnew A()();\nA.of();\nx.A();\n",
        &[],
    );
    check("a.ts", "export class A<T> {}\nnew A<string>();\n", &[]);
    check("a.js", "export function f(a) {}\nf();\nf(1, 2);\n", &[]);
    check("a.js", "export const f = a => a;\nf();\nf(1, 2);\n", &[]);
    check("a.js", "export class A {}\nA = wrap(A);\nA();\n", &[]);
    check("a.js", "export class A {}\nexport const f = (A) => A();\n", &[]);
    check("a.js", "@callable\nexport class A {}\nA();\n", &[]);
    check("a.js", "export class A {}\nassert.throws(() => A());\n", &[]);
    check(
        "a.js",
        "export class A {}\nexpect(() => A()).toThrow(TypeError);\n",
        &[],
    );
    check("a.js", "export class A {}\ntry {\n  A();\n} catch {}\n", &[]);
    check("a.js", "class A {}\nA();\n", &[]);
}

#[test]
fn calls_that_were_wrong_before_are_not_of_the_change() {
    let base = "def f(a): ...\nf()\nf(1)\n";
    check_change("a.py", base, "def f(a): ...\nf()\nf(1)\nx = 1\n", &[]);
    check_change(
        "a.py",
        base,
        "def f(a): ...\nf()\nf()\n",
        &[("f", "no arguments, and it takes 1")],
    );
    check_change(
        "a.py",
        base,
        "def f(): ...\nf()\nf(1)\n",
        &[("f", "1 argument, and it takes none")],
    );
    check_change("a.py", "def f(a: ...\nf()\n", "def f(a): ...\nf()\n", &[]);
    check_change(
        "a.ts",
        "export function f(a: string) {}\nf('a');\n",
        "export function f(a: string, b: string) {}\nf('a');\n",
        &[("f", "1 argument, and it takes 2")],
    );
}
