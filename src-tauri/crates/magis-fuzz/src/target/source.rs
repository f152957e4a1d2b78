//! The text of a source file: outlines, pieces and checks of any text in any language end in time and stay within the text.

use super::{CaseOutcome, FuzzTarget};
use anyhow::Result;
use magis_core::RepoPath;
use magis_syntax::{
    Outline, SourceLanguage, code_key, extract_definition, fit_infill, misfit_calls, only_deletes, outline_and_chunks,
    parses_worse, reachable, reindent, same_code, skeleton, skeleton_within, statements_at, strip_fences,
    syntax_errors, top_statements, undefined_names, words_only,
};

pub(super) struct SourceTarget {
    paths: Vec<RepoPath>,
}

impl SourceTarget {
    pub(super) fn open() -> Result<Self> {
        let path = |language: SourceLanguage| RepoPath::new(format!("src/a.{}", language.extension()));
        Ok(Self {
            paths: SourceLanguage::ALL.into_iter().map(path).collect::<Result<_, _>>()?,
        })
    }
}

const SEEDS: [&str; 13] = [
    "import os\nfrom a import b as c\n\nX = 1\n\n\nclass A(B):\n    \"\"\"Doc.\"\"\"\n\n    @property\n    def f(self, x: int = 1, *args, **kw) -> str:\n        if x:\n            return f\"{x!r}\"\n        return self.g(x)\n\n\ndef h(a, /, b, *, c):\n    return [y for y in a if y]\n",
    "import { a } from './a';\nconst b = require('b');\nexport class C extends D {\n  #x = 1;\n  get y() { return this.#x; }\n  async *z(...rest) { for await (const q of rest) yield q; }\n}\nexport default function (e, { f = 1 }) { return `${e}${f}`; }\n",
    "interface A<T extends object = {}> { a?: T; readonly b: string }\nexport enum E { A = 1, B }\nnamespace N { export type X = keyof A<any>; }\nexport abstract class C implements A<{}> { constructor(private x: number) {} abstract f<U>(this: C, u: U): asserts u is U; }\n",
    "export const App: React.FC<{ a: string }> = ({ a }) => (<div className=\"x\">{a && <B {...a}/>}</div>);\n",
    "//! Doc.\nuse std::fmt;\n\n#[derive(Debug)]\npub struct A<'a, T: Clone> {\n    x: &'a T,\n}\n\nimpl<'a, T: Clone> A<'a, T> {\n    pub fn f(&self, y: u32) -> Option<T> {\n        match y { 0 => None, _ => Some(self.x.clone()) }\n    }\n}\n\nmacro_rules! m { ($a:expr) => { $a }; }\nfn main() { m!(1); }\n",
    "package a\n\nimport (\n\t\"fmt\"\n\tb \"c/d\"\n)\n\ntype A struct { X int `json:\"x\"` }\n\nfunc (a *A) F(x ...int) (n int, err error) {\n\tdefer func() { recover() }()\n\treturn 0, nil\n}\n",
    "package a.b;\n\nimport java.util.*;\n\npublic class A<T> extends B implements C {\n    private final int x = 1;\n    @Override public <U> T f(U u) throws E { return switch (x) { case 1 -> null; default -> { yield null; } }; }\n    record R(int a) {}\n    enum F { A, B; }\n}\n",
    "#include <stdio.h>\n#define M(a) ((a) + 1)\n\ntypedef struct a { int x; } a_t;\n\nstatic int f(const a_t *p, int n[], ...) {\n#if X\n    return p->x;\n#else\n    return M(n[0]);\n#endif\n}\n",
    "#pragma once\n#include <vector>\n\nnamespace a::b {\ntemplate <typename T, int N = 1> class C : public D<T> {\npublic:\n    C() = default;\n    auto f(T &&t) const noexcept -> decltype(t) { return [&](auto x) { return x; }(t); }\n    bool operator==(const C &) const;\n};\n}\n",
    "using System;\n\nnamespace A.B;\n\npublic partial class C<T> : D where T : new()\n{\n    public int X { get; set; } = 1;\n    public async Task<T> F(int a = 1, params string[] b) => await G($\"{a}\");\n    record R(int A);\n}\n",
    "require 'a'\n\nmodule A\n  class B < C\n    attr_reader :x\n    def initialize(a, b = 1, *c, d: 2, &e)\n      @x = \"#{a}\"\n    end\n    def self.f = 1\n    private def g; yield; end\n  end\nend\n<<~T\n  text\nT\n",
    "<html><?php\nnamespace A\\B;\n\nuse C\\D;\n\nabstract class E extends F implements G\n{\n    public function __construct(private readonly ?int $x = 1) {}\n    public static function f(string ...$a): array { return match (true) { default => [...$a] }; }\n}\nfunction h() { echo <<<T\n a\nT; } ?></html>\n",
    "package a.b\n\nimport c.d\n\ndata class A(val x: Int = 1) : B(), C {\n    companion object { const val Y = 1 }\n    fun <T> f(a: T?): String = when (a) { null -> \"\"; else -> \"$a ${a}\" }\n    suspend fun String.g() { x.let { it } }\n}\n",
];

impl FuzzTarget for SourceTarget {
    fn seeds(&mut self) -> Vec<Vec<u8>> {
        let seed = |(number, text): (u8, &&str)| [&[number], text.as_bytes()].concat();
        (0..).zip(&SEEDS).map(seed).collect()
    }

    fn words(&self) -> &'static [&'static str] {
        &[
            "class ",
            "def ",
            "fn ",
            "function ",
            "{",
            "}",
            "(",
            ")",
            "[",
            "]",
            "((((((((",
            "{{{{{{{{",
            "))))))))",
            "\"\"\"",
            "'''",
            "`",
            "${",
            "#{",
            "/*",
            "*/",
            "//",
            "#",
            "<<<T\n",
            "<<~T\n",
            "T\n",
            "<",
            ">",
            "<A<B<C<",
            "=>",
            "->",
            "    ",
            "\t",
            "\r\n",
            "\n",
            "é",
            "\u{2028}",
            "\u{feff}",
            "\u{0}",
            "@",
            "::",
            ";",
            ",",
            ":",
            "if ",
            "else",
            "match ",
            "switch ",
            "import ",
            "#if X\n",
            "#endif\n",
            "<?php ",
            "?>",
            "r#\"",
            "\"#",
            "'a",
            "lambda x: ",
            "return ",
            "```python\n",
            "```\n",
            "template <typename T> ",
            "operator",
            "async ",
            "yield ",
            "&&",
            "...",
        ]
    }

    fn run(&mut self, input: &[u8]) -> CaseOutcome {
        let mut outcome = CaseOutcome::default();
        let (first, rest) = input.split_first().unwrap_or((&0, &[]));
        let number = usize::from(*first) % self.paths.len();
        let (path, language) = (&self.paths[number], SourceLanguage::ALL[number]);
        let text = String::from_utf8_lossy(rest);
        let (outline, chunks) = outline_and_chunks(path, &text, 40);
        check_within(&outline, &text);
        for chunk in &chunks {
            assert!(!format!("{chunk:?}").is_empty());
        }
        let name = language.name();
        outcome.say_count(name, outline.symbols.len());
        for symbol in &outline.symbols {
            outcome.say(format!("{name} {:?}", symbol.kind));
        }
        outcome.say_count(&format!("{name} imports"), outline.imports.len());
        outcome.say_count(&format!("{name} errors"), syntax_errors(language, &text) as usize);
        outcome.say_count(
            &format!("{name} skeleton"),
            skeleton(path, &text).map_or(0, |skeleton| skeleton.text.len()),
        );
        if let Some(short) = skeleton_within(path, &text, 200) {
            let length = short.text.chars().count();
            assert!(length <= 200, "a skeleton within 200 characters has {length}");
        }
        let lines = text.lines().count() as u32;
        for line in [1, lines / 2, lines, lines + 1] {
            outcome.say_count(&format!("{name} statements"), statements_at(path, &text, line).len());
        }
        outcome.say_count(
            &format!("{name} top"),
            top_statements(language, &text).map_or(0, |statements| statements.len()),
        );
        assert!(same_code(path, &text, &text), "a text is not the same as itself");
        assert_eq!(code_key(path, &text), code_key(path, &text));
        // Another text of the same language: the first half of it.
        let half = text.get(..text.len() / 2).unwrap_or_default();
        outcome.say(format!("{name} worse: {}", parses_worse(path, &text, half).is_some()));
        outcome.say(format!("{name} words: {}", words_only(path, &text, half)));
        outcome.say(format!("{name} deletes: {}", only_deletes(path, &text, half)));
        outcome.say_count(&format!("{name} names"), undefined_names(path, half, &text).len());
        outcome.say_count(&format!("{name} calls"), misfit_calls(path, half, &text).len());
        let symbol = outline.symbols.first().map_or("f", |symbol| symbol.name.as_str());
        outcome.say(format!(
            "{name} definition: {}",
            extract_definition(language, &text, symbol).is_some()
        ));
        let _code = strip_fences(&text);
        let _moved = reindent(&text, half);
        outcome.say(format!(
            "{name} infill: {}",
            fit_infill(path, half, &text, "\n", "    ").is_some()
        ));
        let files = [(path.clone(), text.clone().into_owned())];
        outcome.say_count(&format!("{name} reachable"), reachable(&files, half).len());
        outcome
    }
}

/// Panics where an outline names lines that the text does not have.
fn check_within(outline: &Outline, text: &str) {
    let lines = text.split('\n').count() as u32;
    for symbol in &outline.symbols {
        assert!(
            symbol.span.last() <= lines,
            "a symbol at {:?} of {lines} lines",
            symbol.span
        );
        assert!(
            symbol.span.contains(symbol.body_first) && symbol.span.contains(symbol.head_last),
            "the head of a symbol lies outside of it: {symbol:?}"
        );
    }
}
