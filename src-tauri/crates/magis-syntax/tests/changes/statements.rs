//! Holes around a line.

use crate::path;
use magis_syntax::statements_at;

fn check(name: &str, text: &str, line: u32, expected: &[(u32, u32)]) {
    let spans = statements_at(&path(name), text, line);
    let spans: Vec<_> = spans.iter().map(|span| (span.first(), span.last())).collect();
    assert_eq!(spans, expected, "line {line} of\n{text}");
}

const PYTHON: &str = "import os\n\n\ndef f(a):\n    b = g(\n        a,\n    )\n    if b:\n        c = 1\n    else:\n        c = 2\n    return c\n";

#[test]
fn python_holes_are_statements_their_neighbours_and_their_block() {
    check("a.py", PYTHON, 6, &[(5, 7), (5, 11), (5, 12)]);
    check("a.py", PYTHON, 9, &[(9, 9)]);
    check("a.py", PYTHON, 8, &[(8, 8), (8, 11), (5, 12)]);
    check("a.py", PYTHON, 10, &[(10, 10), (10, 11)]);
    check("a.py", PYTHON, 12, &[(12, 12), (8, 12), (5, 12)]);
    check("a.py", PYTHON, 4, &[(4, 4), (4, 12), (1, 12)]);
    check("a.py", PYTHON, 2, &[(4, 4), (4, 12), (1, 12)]);
    check("a.py", PYTHON, 13, &[]);
    check("a.py", PYTHON, 0, &[]);
}

#[test]
fn holes_of_other_languages_are_found_by_their_blocks() {
    let rust = "fn f(a: u8) -> u8 {\n    let b = a;\n    if b > 1 {\n        g();\n    }\n    b\n}\n";
    check("a.rs", rust, 2, &[(2, 2), (2, 5), (2, 6)]);
    check("a.rs", rust, 3, &[(3, 3), (3, 5), (2, 6)]);
    check("a.rs", rust, 4, &[(4, 4)]);
    let script = "function f() {\n  const a = [\n    1,\n  ];\n  return a;\n}\n";
    check("a.js", script, 3, &[(2, 4), (2, 5)]);
    check("a.ts", script, 5, &[(5, 5), (2, 5)]);
    let go = "package a\n\nfunc f() int {\n\tx := 1\n\treturn x\n}\n";
    check("a.go", go, 4, &[(4, 4), (4, 5)]);
    let java = "class A {\n  int f() {\n    int x = 1;\n    return x;\n  }\n}\n";
    check("a.java", java, 3, &[(3, 3), (3, 4)]);
    let c = "int f() {\n  int x = 1;\n  return x;\n}\n";
    check("a.c", c, 2, &[(2, 2), (2, 3)]);
    check("a.cpp", c, 3, &[(3, 3), (2, 3)]);
    let ruby = "def f\n  x = 1\n  x\nend\n";
    check("a.rb", ruby, 2, &[(2, 2), (2, 3)]);
    let kotlin = "fun f(): Int {\n  val x = 1\n  return x\n}\n";
    check("a.kt", kotlin, 2, &[(2, 2), (2, 3)]);
    let php = "<?php\nfunction f() {\n  $x = 1;\n  return $x;\n}\n";
    check("a.php", php, 3, &[(3, 3), (3, 4)]);
    let sharp = "class A {\n  int F() {\n    var x = 1;\n    return x;\n  }\n}\n";
    check("a.cs", sharp, 3, &[(3, 3), (3, 4)]);
}

#[test]
fn long_holes_are_left_out_but_for_plain_statements() {
    let long = format!("def f():\n{}", "    a()\n".repeat(20));
    check("a.py", &long, 1, &[(1, 1)]);
    check("a.py", &long, 5, &[(5, 5), (4, 6)]);
    let list = format!("x = [\n{}]\n", "    1,\n".repeat(20));
    check("a.py", &list, 5, &[(1, 22)]);
    check("a.txt", "a\nb\nc\n", 2, &[(2, 2), (1, 3)]);
}
