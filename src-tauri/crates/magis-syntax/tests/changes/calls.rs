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
    check("a.js", "function f() {}\nf(1);\n", &[]);
}
