//! Comments and docstrings alone, and keys of code.

use crate::path;
use magis_syntax::{code_key, only_deletes, same_code, words_only};

fn check_words(name: &str, base: &str, new: &str, expected: bool) {
    assert_eq!(words_only(&path(name), base, new), expected, "{base}\n---\n{new}");
    assert_eq!(words_only(&path(name), new, base), expected, "{new}\n---\n{base}");
}

#[test]
fn comments_and_docstrings_are_words() {
    check_words("a.py", "x = 1\n", "x = 1  # why\n", true);
    check_words("a.py", "\"\"\"A.\"\"\"\nx = 1\n", "# b\n\"\"\"B.\"\"\"\nx = 1\n", true);
    check_words(
        "a.py",
        "def f():\n    return 1\n",
        "def f():\n    \"\"\"F.\"\"\"\n    return 1\n",
        true,
    );
    check_words(
        "a.py",
        "class A:\n    '''A.'''\n    x = 1\n",
        "class A:\n    '''B.'''\n    x = 1\n",
        true,
    );
    check_words("a.rs", "/// A.\nfn f() {}\n", "/// B.\n/// C.\nfn f() {}\n", true);
    check_words("a.rs", "fn f() { g() }\n", "fn f() { /* now */ g() }\n", true);
    check_words("a.js", "f(); // a\n", "f();\n", true);
    check_words("a.ts", "/** a */\nlet x = 1;\n", "/** b */\nlet x = 1;\n", true);
    check_words(
        "a.go",
        "package a\n\n// A\nvar X = 1\n",
        "package a\n\n// B\nvar X = 1\n",
        true,
    );
    check_words("a.java", "class A { /* a */ }\n", "class A { }\n", true);
    check_words("a.rb", "# a\nx = 1\n", "# b\nx = 1\n", true);
    check_words("a.kt", "// a\nval x = 1\n", "/* b */\nval x = 1\n", true);
    check_words("a.php", "<?php\n# a\nf();\n", "<?php\nf();\n", true);
    check_words("a.c", "int x; // a\n", "int x;\n", true);
    check_words("a.cs", "class A { /// a\n}\n", "class A { }\n", true);
}

#[test]
fn code_layout_and_other_strings_are_no_words() {
    check_words("a.py", "x = 1  # why\n", "x = 2  # how\n", false);
    check_words("a.py", "x = 1\n", "x  =  1\n\n", false);
    check_words("a.py", "x = 1  # why\n", "x = 1  # why\n", false);
    check_words("a.py", "x = 'a'\n", "x = 'b'\n", false);
    check_words(
        "a.py",
        "def f():\n    x = 1\n    'a'\n",
        "def f():\n    x = 1\n    'b'\n",
        false,
    );
    check_words("a.py", "if x:\n    'a'\n", "if x:\n    'b'\n", false);
    check_words("a.rs", "fn f() {} // a\n", "fn g() {} // b\n", false);
    check_words("a.txt", "# a\n", "# b\n", false);
}

#[test]
fn texts_have_one_key_if_they_are_the_same_code() {
    for (name, a, b) in [
        ("a.py", "f(a, b)\n", "f(\n    a,\n    b,\n)\n"),
        ("a.py", "if a:\n    b()\n    c()\n", "if a:\r\n  b( )\r\n\r\n  c()\r\n"),
        ("a.py", "if a:\n    b()\n    c()\n", "if a:\n    b()\nc()\n"),
        ("a.py", "x = (1,)\n", "x = (1)\n"),
        ("a.py", "x = a\n-b\n", "x = a - b\n"),
        ("a.py", "x = 'a  b'\n", "x = 'a b'\n"),
        ("a.py", "x = 1  # why\n", "x = 1 # why\n"),
        ("a.py", "x = 1  # why\n", "x = 1  # how\n"),
        ("a.py", "x = 1\n", "x = 1"),
        ("a.py", "", "\n"),
        ("a.js", "function f() { return x }", "function f() {\n  return x\n}\n"),
        ("a.js", "return x", "return\nx"),
        ("a.rs", "fn f(a: u8) { g(a) }", "fn f(\n    a: u8,\n) {\n    g(a)\n}\n"),
        ("a.rs", "ab(c)", "a(bc)"),
        ("a.go", "x := []int{1, 2}", "x := []int{\n\t1,\n\t2,\n}"),
        ("a.txt", "a  \nb\n", "a\nb"),
        ("a.txt", "a b", "a  b"),
        ("a.txt", "ab\nc", "a\nbc"),
    ] {
        let equal = code_key(&path(name), a) == code_key(&path(name), b);
        assert_eq!(equal, same_code(&path(name), a, b), "{a}\n---\n{b}");
    }
}

#[test]
fn a_change_that_takes_code_away_and_writes_none_only_deletes() {
    let base = "def f(a, b):\n    # why\n    if not a and b:\n        return g(a)[1:]\n    return b\n";
    let changed = |old: &str, new: &str| base.replace(old, new);
    for (new, expected) in [
        (changed("not a and ", ""), true),
        (changed("    return b\n", ""), true),
        (changed("# why", "# that is").replace("[1:]", ""), true),
        (changed("a, b", "b"), true),
        (changed("and", "or"), false),
        (changed("not a", "b"), false),
        (changed("a and b", "b and a"), false),
        (changed("g(a)[1:]", "a"), true),
        (changed("# why", ""), false),
        (base.to_owned(), false),
        (changed("[1:]", "[1:2]"), false),
    ] {
        assert_eq!(only_deletes(&path("a.py"), base, &new), expected, "{new}");
    }
    assert!(
        !only_deletes(&path("a.txt"), "a b\n", "a\n"),
        "nothing is known of the language"
    );
    assert!(only_deletes(&path("a.rs"), "fn f() { g(); h() }\n", "fn f() { h() }\n"));
}
