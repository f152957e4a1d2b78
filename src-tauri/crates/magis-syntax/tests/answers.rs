//! What is taken out of a model's answer.

use magis_syntax::{SourceLanguage, extract_definition, reindent, strip_fences};

fn check(language: SourceLanguage, name: &str, answer: &str, expected: &str) {
    let extracted = extract_definition(language, answer, name);
    assert_eq!(extracted.as_deref(), Some(expected), "{name} in:\n{answer}");
}

fn check_none(language: SourceLanguage, name: &str, answer: &str) {
    assert_eq!(extract_definition(language, answer, name), None, "{name} in:\n{answer}");
}

const GET: &str = "def get(self, url):\n    return self.request(url)\n";

#[test]
fn a_method_comes_out_of_whatever_is_around_it() {
    for answer in [
        "def get(self, url):\n    return self.request(url)",
        "    def get(self, url):\n        return self.request(url)\n",
        "```python\ndef get(self, url):\n    return self.request(url)\n```",
        "```python\ndef get(self, url):\n    return self.request(url)\n",
        "def get(self, url):\n    return self.request(url)\n```\nThis calls `request` now.",
        "Here is the fix:\n\n```py\nimport os\nfrom a import b\n\nclass Session(Base):\n    \"\"\"A session.\"\"\"\n\n    x = 1\n\n    def get(self, url):\n        return self.request(url)\n\n    def put(self):\n        pass\n```\nIt works because.",
        "Here is the fix, it's simple:\n\ndef get(self, url):\n    return self.request(url)\n\nThis makes it call request (see above).",
        "```\nHere you are\n```\n```python\n    def get(self, url):\n        return self.request(url)\n```",
        "\u{feff}```python\r\ndef get(self, url):\r\n    return self.request(url)\r\n```\r\n",
        "~~~~python\ndef get(self, url):\n    return self.request(url)\n~~~~",
        "```markdown\nThe code:\n```python\ndef get(self, url):\n    return self.request(url)\n```\n```\n",
        "def put(self):\n    get(1)\n\n\ndef get(self, url):\n    return self.request(url)\n\n\ndef last(): pass",
    ] {
        check(SourceLanguage::Python, "get", answer, GET);
        check(SourceLanguage::Python, "Session.get", answer, GET);
    }
}

#[test]
fn decorators_async_and_docs_belong_to_it() {
    let expected = "@cache(\n    size=1,\n)\n@property\nasync def get(self):\n    \"\"\"Gets.\n\n    ```\n    x\n    ```\n    \"\"\"\n    return 1\n";
    check(
        SourceLanguage::Python,
        "get",
        &format!("```python\n{expected}```"),
        expected,
    );
    let first_line_moved = "```python\n@property\n    def get(self):\n        return 1\n```";
    check(
        SourceLanguage::Python,
        "A.get",
        first_line_moved,
        "@property\ndef get(self):\n    return 1\n",
    );
    let rust = "/// Gets.\n#[must_use]\npub fn get(&self) -> u32 {\n    1\n}\n";
    check(
        SourceLanguage::Rust,
        "Session.get",
        &format!(
            "```rust\nuse a::b;\nimpl Session {{\n    {}}}\n```",
            rust.trim_end().replace('\n', "\n    ") + "\n"
        ),
        rust,
    );
    check(SourceLanguage::Rust, "Session.get", rust, rust);
    let java = "/** Gets. */\n@Override\npublic int get() {\n    return 1;\n}\n";
    check(SourceLanguage::Java, "Session.get", java, java);
    let script = "/** Gets. */\nasync get(url) {\n  return 1;\n}\n";
    check(SourceLanguage::JavaScript, "Session.get", script, script);
    check(
        SourceLanguage::TypeScript,
        "Session.get",
        "private get = (url: string): void => {\n  a();\n};",
        "private get = (url: string): void => {\n  a();\n};\n",
    );
    check(
        SourceLanguage::JavaScript,
        "api.get",
        "get: function () {\n  return 1;\n},",
        "get: function () {\n  return 1;\n},\n",
    );
    check(
        SourceLanguage::Go,
        "Server.Close",
        "// Close closes.\nfunc (s *Server) Close() error {\n\treturn nil\n}\n",
        "// Close closes.\nfunc (s *Server) Close() error {\n\treturn nil\n}\n",
    );
    check(
        SourceLanguage::Cpp,
        "ns::A::size",
        "int size() const {\n  return 1;\n}",
        "int size() const {\n  return 1;\n}\n",
    );
    check(
        SourceLanguage::C,
        "add",
        "Sure:\nstatic int *add(int a)\n{\n    return a;\n}\n\nThat's it.",
        "static int *add(int a)\n{\n    return a;\n}\n",
    );
}

#[test]
fn of_two_definitions_the_named_one_is_taken() {
    let answer =
        "class A:\n    def run(self):\n        return 'a'\n\nclass B:\n    def run(self):\n        return 'b'\n";
    check(
        SourceLanguage::Python,
        "B.run",
        answer,
        "def run(self):\n    return 'b'\n",
    );
    check(
        SourceLanguage::Python,
        "B",
        answer,
        "class B:\n    def run(self):\n        return 'b'\n",
    );
    check_none(SourceLanguage::Python, "C.run", answer);
    let overloads =
        "@overload\ndef f(a: int) -> int: ...\n@overload\ndef f(a: str) -> str: ...\ndef f(a):\n    return a\n";
    check(SourceLanguage::Python, "f", overloads, "def f(a):\n    return a\n");
    check(
        SourceLanguage::TypeScript,
        "f",
        "export function f(a: string): void;\nexport function f(a: any) {\n  g();\n}",
        "export function f(a: any) {\n  g();\n}\n",
    );
}

#[test]
fn what_is_cut_off_or_absent_is_nothing() {
    for answer in [
        "```python\ndef get(self, url):\n    return self.request(url,",
        "def get(self, url):\n    if url:\n",
        "def get(self, url):\n    x = \"abc",
        "def get(self, url):\n",
        "def get(self, url",
        "def get(self, url):\n    \"\"\"Gets the",
        "def get(self, url):\n    try:\n        x = 1\n",
        "You should change get so that it calls request.",
        "",
        "```python\n```",
        "self.get(url)",
    ] {
        check_none(SourceLanguage::Python, "get", answer);
    }
    for answer in [
        "fn get() -> u32 {\n    1\n",
        "fn get() -> u32 {\n    if a {\n        1\n    }\n",
        "impl A {\n    fn get() {\n        1\n",
    ] {
        check_none(SourceLanguage::Rust, "get", answer);
    }
    for answer in [
        "function get(a) {\n  return [1, 2",
        "class A {\n  get(a) {\n    if (a) {\n      b();\n    }\n",
    ] {
        check_none(SourceLanguage::JavaScript, "get", answer);
    }
}

#[test]
fn what_is_cut_off_behind_it_does_no_harm() {
    check(
        SourceLanguage::Python,
        "get",
        "def get(self, url):\n    return self.request(url)\n\ndef put(self, url):\n    return self.req(",
        GET,
    );
    check(
        SourceLanguage::Rust,
        "get",
        "impl A {\n    fn get() {\n        f();\n    }\n\n    fn put(",
        "fn get() {\n    f();\n}\n",
    );
}

#[test]
fn the_first_fenced_block_is_the_content() {
    for (answer, expected) in [
        ("a\n```py\nx = 1\n```\nb\n```\ny\n```", "x = 1\n"),
        ("x = 1", "x = 1"),
        ("```py\nx = 1\n", "x = 1\n"),
        ("def f():\n    pass\n```\nDone.", "def f():\n    pass\n"),
        ("```md\n```py\nx\n```\n```\nb", "```py\nx\n```\n"),
        (
            "```py\ndef f():\n    '''\n    ```\n    x\n    ```\n    '''\n```",
            "def f():\n    '''\n    ```\n    x\n    ```\n    '''\n",
        ),
        ("inline ```x``` only", "inline ```x``` only"),
    ] {
        assert_eq!(strip_fences(answer), expected, "{answer}");
    }
}

#[test]
fn new_text_takes_the_indentation_of_the_original() {
    for (text, original, expected) in [
        (
            "def f():\n    return 1\n",
            "    def f():\n        pass\n",
            "    def f():\n        return 1\n",
        ),
        (
            "        def f():\n            return 1\n",
            "    def f():\n        pass\n",
            "    def f():\n        return 1\n",
        ),
        (
            "fn f() {\n    a\n\n    b\n}\n",
            "\tfn f() {\n\t\tx\n\t}\n",
            "\tfn f() {\n\t\ta\n\n\t\tb\n\t}\n",
        ),
        (
            "f() {\n\tif (a) {\n\t\tb\n\t}\n}\n",
            "  f() {\n    x\n  }\n",
            "  f() {\n    if (a) {\n      b\n    }\n  }\n",
        ),
        (
            "f() {\n    if (a) {\n        b\n    }\n}",
            "  f() {\n    x\n  }\n",
            "  f() {\n    if (a) {\n      b\n    }\n  }",
        ),
        (
            "def f():\r\n    pass\r\n",
            "  def f(): pass\n",
            "  def f():\n      pass\n",
        ),
    ] {
        assert_eq!(reindent(text, original), expected, "{text}");
    }
}

#[test]
fn a_member_alone_is_read_in_its_language() {
    for (language, member) in [
        (SourceLanguage::CSharp, "public int Get(int x)\n{\n    return x;\n}\n"),
        (SourceLanguage::Ruby, "def get(x)\n  x\nend\n"),
        (
            SourceLanguage::Php,
            "public function get(int $x): int\n{\n    return $x;\n}\n",
        ),
        (
            SourceLanguage::Kotlin,
            "override fun get(x: Int): Int {\n    return x\n}\n",
        ),
    ] {
        let name = if language == SourceLanguage::CSharp {
            "Session.Get"
        } else {
            "Session.get"
        };
        let answer = format!("Here it is:\n```{}\n{member}```\n", language.fence());
        check(language, name, &answer, member);
    }
}

#[test]
fn what_stands_above_a_definition_is_taken_out_of_prose_with_it() {
    for (language, definition) in [
        (SourceLanguage::Ruby, "# Gets.\ndef get(url)\n  request(url)\nend\n"),
        (
            SourceLanguage::CSharp,
            "[Pure]\npublic int Get(string url)\n{\n    return Request(url);\n}\n",
        ),
        (
            SourceLanguage::Php,
            "#[Pure]\npublic function get($url)\n{\n    return $this->request($url);\n}\n",
        ),
    ] {
        let name = if language == SourceLanguage::CSharp {
            "Get"
        } else {
            "get"
        };
        let answer = format!("It's simple (here it is:\n\n{definition}\nThis makes it call request (see above).");
        check(language, name, &answer, definition);
    }
}
