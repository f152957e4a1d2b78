//! Stack traces in an issue: Python, Rust, Go, Java, JavaScript and C++ frames, innermost first.
//!
//! Each line is judged alone; what a frame's path means in this repository is decided in `rank`.

/// A frame of a stack trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// The file, `/`-separated, as the trace names it (often absolute).
    pub path: String,
    /// The function, where the trace names it.
    pub function: Option<String>,
    /// The line, where the trace names it.
    pub line: Option<u32>,
    /// How far from the innermost frame, 0 = innermost.
    pub depth: u32,
}

/// Returns all frames of `text`, those of one trace numbered from its innermost frame.
pub fn frames(text: &str) -> Vec<Frame> {
    let mut found: Vec<Frame> = Vec::new();
    let mut trace: Vec<(Order, Frame)> = Vec::new();
    let mut function: Option<String> = None;
    let mut since = 0;
    for line in text.lines() {
        let line = behind_mark(line.trim())
            .trim_start_matches("E   ")
            .trim_start_matches("> ")
            .trim();
        if starts_trace(line) {
            close(&mut trace, &mut found);
        }
        if let Some((order, mut frame)) = frame_of(line) {
            if frame.function.is_none() {
                frame.function = function.take();
            }
            let other_order = trace.first().is_some_and(|(first, _)| *first != order);
            if other_order {
                close(&mut trace, &mut found);
            }
            trace.push((order, frame));
            (function, since) = (None, 0);
        } else {
            // Go and Rust name the function on the line above its place.
            function = function_line(line);
            since += 1;
            if since > 12 {
                close(&mut trace, &mut found);
                since = 0;
            }
        }
    }
    close(&mut trace, &mut found);
    found
}

/// Returns what stands behind the word that some programs set before each line of a trace: `INTERNALERROR> File …`.
fn behind_mark(line: &str) -> &str {
    match line.split_once('>') {
        Some((mark, rest)) if mark.len() > 2 && mark.bytes().all(|byte| byte.is_ascii_uppercase()) => rest.trim(),
        _ => line,
    }
}

/// Returns a place as `path:line`, `path:line:column`, `path#L12` or `path(12)`; the path as it stands there.
pub(crate) fn place(text: &str) -> Option<(&str, Option<u32>)> {
    let text =
        text.trim_matches(|c: char| matches!(c, '(' | ')' | ',' | ';' | '\'' | '"' | '`' | '[' | ']' | '<' | '>'));
    let text = text
        .strip_prefix("file://")
        .unwrap_or(text)
        .trim_end_matches(['.', ':']);
    if let Some((path, line)) = text.split_once("#L") {
        return is_file(path).then(|| (path, number(line)));
    }
    let drive = text.as_bytes().get(1) == Some(&b':') && text.as_bytes().first().is_some_and(u8::is_ascii_alphabetic);
    let from = if drive { 2 } else { 0 };
    match text[from..].find(':') {
        Some(colon) => {
            let (path, rest) = (&text[..from + colon], &text[from + colon + 1..]);
            let line = number(rest);
            (is_file(path) && line.is_some()).then_some((path, line))
        }
        None => is_file(text).then_some((text, None)),
    }
}

/// `\` becomes `/`; drive, leading dots and slashes go.
pub(crate) fn normal_path(path: &str) -> String {
    let path = path.replace('\\', "/");
    let path = path.split_once(":/").map_or(path.as_str(), |(_, rest)| rest);
    let parts: Vec<&str> = path
        .split('/')
        .filter(|part| !matches!(*part, "" | "." | ".." | "~"))
        .collect();
    parts.join("/")
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    InnermostFirst,
    InnermostLast,
}

fn close(trace: &mut Vec<(Order, Frame)>, found: &mut Vec<Frame>) {
    if trace.first().is_some_and(|(order, _)| *order == Order::InnermostLast) {
        trace.reverse();
    }
    found.extend(trace.drain(..).enumerate().map(|(depth, (_, frame))| Frame {
        depth: depth as u32,
        ..frame
    }));
}

fn starts_trace(line: &str) -> bool {
    line.starts_with("Traceback (most recent call last)")
        || line.starts_with("Caused by:")
        || line.starts_with("goroutine ")
        || line.starts_with("stack backtrace:")
        || line.starts_with("Exception in thread")
}

fn frame_of(line: &str) -> Option<(Order, Frame)> {
    python(line).map(|frame| (Order::InnermostLast, frame)).or_else(|| {
        java_or_script(line)
            .or_else(|| native(line))
            .map(|frame| (Order::InnermostFirst, frame))
    })
}

/// `File "a/b.py", line 3, in f`, `File ~/b.py:3, in f(x)`, `b.py:3: in f`, `b.py:3: ValueError`, `~/b.py in f(x)`.
fn python(line: &str) -> Option<Frame> {
    if let Some(rest) = line.strip_prefix("File ") {
        if let Some((path, rest)) = rest.strip_prefix('"').and_then(|rest| rest.split_once('"')) {
            let line = rest.split_once("line ").and_then(|(_, after)| number(after));
            return frame(path, function_after(rest, ", in "), line);
        }
        let (path, line) = place(rest.split(", ").next()?)?;
        return frame(path, function_after(rest, ", in "), line);
    }
    let mut words = line.split_whitespace();
    let (first, second) = (words.next()?, words.next()?);
    if !first.contains(".py") {
        return None;
    }
    if first.ends_with(':') {
        let (path, number) = place(first)?;
        let error = second.ends_with("Error") || second.ends_with("Exception") || second.ends_with("Warning");
        let known = number.is_some() && (second == "in" || error);
        return if known {
            frame(path, function_after(line, ": in "), number)
        } else {
            None
        };
    }
    if second == "in" && line.ends_with(')') && has_extension(first, "py") {
        return frame(first, function_after(line, " in "), None);
    }
    None
}

/// `at a.b.C.f(C.java:3)`, `at f (/a/b.js:3:5)`, `at /a/b.js:3:5`, `at async f (file:///a/b.mjs:3:5)`.
fn java_or_script(line: &str) -> Option<Frame> {
    let rest = line.strip_prefix("at ")?.trim();
    let Some((name, inside)) = rest.strip_suffix(')').and_then(|rest| rest.rsplit_once('(')) else {
        let (path, line) = place(rest)?;
        return frame(path, None, line);
    };
    let (path, line) = place(inside)?;
    let name = name.trim().trim_start_matches("async ").trim_start_matches("new ");
    let java = [".java", ".kt", ".scala", ".groovy"]
        .iter()
        .any(|end| path.ends_with(end));
    if !java {
        return frame(path, (!name.is_empty()).then(|| last_name(name)), line);
    }
    // The package says in which folder the file lies.
    let name = name.rsplit('/').next().unwrap_or(name);
    let (class, function) = name.rsplit_once('.')?;
    let package = class.rsplit_once('.').map_or("", |(package, _)| package);
    let folder = package
        .split('.')
        .filter(|part| !part.contains('$'))
        .collect::<Vec<_>>()
        .join("/");
    frame(&format!("{folder}/{path}"), Some(function.to_owned()), line)
}

/// `/a/b.go:3 +0x1d`, `at src/b.rs:3:5`, `panicked at src/b.rs:3:5`, `#1 0x0 in f (x=1) at /a/b.cpp:3`,
/// `#1 0x0 in f /a/b.cpp:3:5`.
fn native(line: &str) -> Option<Frame> {
    if line.starts_with('#') && line[1..].starts_with(|c: char| c.is_ascii_digit()) {
        let (path, number) = place(line.split_whitespace().rfind(|word| place(word).is_some())?)?;
        number?;
        let after = line.split_once(" in ").map_or(line, |(_, after)| after);
        let name = after
            .split(['(', ' '])
            .find(|word| !word.is_empty() && !word.starts_with('#'))
            .map(last_name);
        return frame(path, name, number);
    }
    if line.contains("panicked at ") {
        let (path, number) = place(line.split_whitespace().rfind(|word| place(word).is_some())?)?;
        number?;
        return frame(path, None, number);
    }
    let mut words = line.split_whitespace();
    let (path, number) = place(words.next()?)?;
    number?;
    let go = has_extension(path, "go") && words.next().is_none_or(|word| word.starts_with("+0x"));
    if go { frame(path, None, number) } else { None }
}

/// `12: crate::module::function` of Rust, `package.(*Type).Function(0x0, …)` of Go.
fn function_line(line: &str) -> Option<String> {
    if let Some((count, name)) = line.split_once(": ")
        && !count.is_empty()
        && count.bytes().all(|byte| byte.is_ascii_digit())
    {
        let name = name.rsplit(" - ").next()?;
        let name = name
            .rsplit_once("::h")
            .map_or(name, |(path, hash)| if hash.len() == 16 { path } else { name });
        return Some(last_name(name));
    }
    let (name, arguments) = line.rsplit_once('(')?;
    let plain = !name.contains(' ') && name.contains('.') && arguments.ends_with(')');
    plain.then(|| name.rsplit('.').next().unwrap_or(name).to_owned())
}

fn function_after(text: &str, mark: &str) -> Option<String> {
    let (_, name) = text.split_once(mark)?;
    let name = name.split(['(', ' ', ',']).next()?.trim();
    let plain = !name.is_empty() && !name.starts_with('<');
    plain.then(|| last_name(name))
}

fn last_name(name: &str) -> String {
    let name = name
        .split(['(', '<', ' '])
        .find(|part| !part.is_empty())
        .unwrap_or(name);
    name.rsplit(['.', ':'])
        .next()
        .unwrap_or(name)
        .trim_matches(|c: char| !c.is_alphanumeric() && c != '_')
        .to_owned()
}

fn frame(path: &str, function: Option<String>, line: Option<u32>) -> Option<Frame> {
    let path = normal_path(path);
    (!path.is_empty() && is_file(&path)).then_some(Frame {
        path,
        function,
        line,
        depth: 0,
    })
}

/// Returns whether this looks like a file: a name, a dot, a short extension that is no number.
pub(crate) fn is_file(text: &str) -> bool {
    let name = text.rsplit(['/', '\\']).next().unwrap_or(text);
    let Some((stem, extension)) = name.rsplit_once('.') else {
        return false;
    };
    let fits = (1..=10).contains(&extension.len())
        && extension
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'+');
    fits && !stem.is_empty()
        && extension.starts_with(|c: char| c.is_ascii_alphabetic())
        && !text.contains(char::is_whitespace)
        && stem
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '+' | '@' | '[' | ']'))
}

fn has_extension(path: &str, wanted: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, extension)| extension == wanted)
}

fn number(text: &str) -> Option<u32> {
    let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(trace: &str, expected: &[&str]) {
        let shown = |frame: &Frame| {
            let line = frame.line.map_or_else(|| "?".to_owned(), |line| line.to_string());
            format!(
                "{} {}:{line} {}",
                frame.depth,
                frame.path,
                frame.function.as_deref().unwrap_or("-")
            )
        };
        assert_eq!(
            frames(trace).iter().map(shown).collect::<Vec<_>>(),
            expected,
            "frames of:\n{trace}"
        );
    }

    #[test]
    fn python_traces_end_with_the_innermost_frame() {
        check(
            "Traceback (most recent call last):\n  File \"run.py\", line 3, in <module>\n    main()\n  File \
             \"/usr/lib/site-packages/pkg/core/io.py\", line 40, in load\n    raise ValueError\nValueError: no",
            &["0 usr/lib/site-packages/pkg/core/io.py:40 load", "1 run.py:3 -"],
        );
        check(
            "src/a.py:10: in outer\n    inner()\nsrc/b.py:4: ValueError",
            &["0 src/b.py:4 -", "1 src/a.py:10 outer"],
        );
        check(
            "INTERNALERROR> Traceback (most recent call last):\nINTERNALERROR>   File \"/x/pkg/a.py\", line 3, in f\nINTERNALERROR>     g()",
            &["0 x/pkg/a.py:3 f"],
        );
        check(
            "~/x/pkg/a.py in f(self)\n  1 x\nFile ~/x/pkg/b.py:7, in Foo.g(x)",
            &["0 x/pkg/b.py:7 g", "1 x/pkg/a.py:? f"],
        );
    }

    #[test]
    fn a_windows_path_is_read_as_any_other() {
        check("File \"C:\\work\\pkg\\a.py\", line 2, in f", &["0 work/pkg/a.py:2 f"]);
    }

    #[test]
    fn rust_traces_begin_with_the_innermost_frame() {
        check(
            "thread 'main' panicked at src/pretty.rs:10:5:\nboom",
            &["0 src/pretty.rs:10 -"],
        );
        check(
            "stack backtrace:\n   0: bat::printer::print_line\n             at ./src/printer.rs:12:9\n   1: bat::main\n   \
             at ./src/main.rs:3:1",
            &["0 src/printer.rs:12 print_line", "1 src/main.rs:3 main"],
        );
    }

    #[test]
    fn go_traces_name_the_function_above_the_place() {
        check(
            "goroutine 1 [running]:\ngin.(*Context).Next(0xc0001)\n\t/go/src/gin/context.go:161 +0x1d\nmain.main()\n\t\
             /app/main.go:9 +0x2",
            &["0 go/src/gin/context.go:161 Next", "1 app/main.go:9 main"],
        );
    }

    #[test]
    fn java_traces_give_the_folder_by_the_package() {
        check(
            "Exception in thread \"main\" java.lang.IllegalStateException: no\n\tat com.google.gson.Gson.fromJson(Gson.java:99)\n\t\
             at app.Main.main(Main.java:5)\nCaused by: x\n\tat com.google.gson.stream.JsonReader.peek(JsonReader.java:4)",
            &[
                "0 com/google/gson/Gson.java:99 fromJson",
                "1 app/Main.java:5 main",
                "0 com/google/gson/stream/JsonReader.java:4 peek",
            ],
        );
    }

    #[test]
    fn script_traces_with_and_without_a_function() {
        check(
            "TypeError: x\n    at dispatch (/app/node_modules/axios/lib/core/dispatch.js:52:10)\n    at async Axios.request \
             (file:///app/lib/core/Axios.js:45:5)\n    at /app/index.js:1:1",
            &[
                "0 app/node_modules/axios/lib/core/dispatch.js:52 dispatch",
                "1 app/lib/core/Axios.js:45 request",
                "2 app/index.js:1 -",
            ],
        );
    }

    #[test]
    fn native_traces_of_debuggers_and_sanitizers() {
        check(
            "#0  0x00 in ns::Parser::parse (this=0x0) at /src/parser.cpp:12\n#1 0x00 in main /src/main.cc:3:5",
            &["0 src/parser.cpp:12 parse", "1 src/main.cc:3 main"],
        );
    }

    #[test]
    fn prose_has_no_frames() {
        check(
            "see a.py: it is wrong\nat 12:30 it failed\n# 1 heading\nversion 3.4.1: fine",
            &[],
        );
    }
}
