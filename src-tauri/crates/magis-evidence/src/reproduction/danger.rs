//! What a snippet may do beyond its own folder, as sentences for a person.
//!
//! Nothing is held back here: what runs, runs in a sandbox. A snippet can do harm without any of these words.

use crate::reproduction::pattern::Pattern;

static DANGERS: [(Pattern, &str); 6] = [
    (
        Pattern::new(
            r"\b(?:rmtree|os\.(?:remove|unlink|rmdir|removedirs|truncate)|\.unlink\(|\.rmdir\(|shutil\.move|(?:rm|rmdir|unlink|rename|truncate)Sync|fs\.(?:promises\.)?(?:rm|rename|truncate)\(|fs::(?:remove_\w+|rename)\()",
        ),
        "deletes or moves files",
    ),
    (
        Pattern::new(
            r"(?m)(?:^|[;&|]|\bsudo)\s*(?:rm\s+-\w*[rf]|rm\s+[/~*]|mkfs|dd\s+if=|shred|git\s+(?:clean|reset|push|checkout)|find\s.*-delete)",
        ),
        "deletes files or throws away changes with a shell command",
    ),
    (
        Pattern::new(
            r"\b(?:os\.system|subprocess\.|os\.exec\w+|os\.popen|Popen\(|child_process|(?:exec|spawn)(?:File)?Sync\(|Command::new\()",
        ),
        "starts other programs",
    ),
    (
        Pattern::new(
            r"\b(?:urlopen|urlretrieve|socket\.socket|requests\.(?:get|post|put|delete|Session)|https?\.(?:client|get|request)|net\.connect|TcpStream|curl|wget)\b|\bfetch\(",
        ),
        "uses the network",
    ),
    (
        Pattern::new(
            r"\b(?:sudo|pip3?\s+install|npm\s+install|apt(?:-get)?\s+install|conda\s+install|chmod|chown|kill(?:all)?\s|os\.kill)",
        ),
        "installs something or changes the system",
    ),
    (
        Pattern::new(r#"(?:(?:open|Path)\(\s*["']|>\s*)(?:/\w|~)"#),
        "names files outside its own folder",
    ),
];

/// Returns one sentence for each kind of danger in the texts.
pub(crate) fn warnings(texts: &[&str]) -> Vec<String> {
    let seen = |(pattern, does): &(Pattern, &str)| {
        let line = texts
            .iter()
            .flat_map(|text| text.lines())
            .find(|line| pattern.is_match(&line.replace("/dev/null", "")))?;
        Some(format!("This check {does}: {}", line.trim()))
    };
    DANGERS.iter().filter_map(seen).collect()
}

#[cfg(test)]
mod tests {
    use super::warnings;

    #[test]
    fn dangers_are_named_in_each_language() {
        for (line, does) in [
            ("shutil.rmtree(folder)", "deletes or moves files"),
            ("fs.rmSync('a', { recursive: true })", "deletes or moves files"),
            ("std::fs::remove_file(path)?;", "deletes or moves files"),
            ("subprocess.run(['ls'])", "starts other programs"),
            ("const { exec } = require('child_process')", "starts other programs"),
            ("std::process::Command::new(\"ls\")", "starts other programs"),
            ("await fetch('http://example.org')", "uses the network"),
            ("let stream = TcpStream::connect(address)?;", "uses the network"),
        ] {
            assert_eq!(warnings(&[line]), [format!("This check {does}: {line}")]);
        }
        assert!(warnings(&["parse('a=1').get(fs)", "let command = parser.command()"]).is_empty());
    }
}
