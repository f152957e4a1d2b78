//! Configurations that never end, that lead elsewhere, or that name programs.

use super::raw::{configure, pipe, trap, write_git};
use super::{HostileGroup, HostileRepo};
use crate::FixtureRepo;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

pub(super) const GROUP: HostileGroup = HostileGroup {
    name: "settings",
    repositories: &[
        HostileRepo::new("include-itself", "the configuration includes itself", |fixture| {
            configure(fixture, "[include]\n\tpath = config\n");
        }),
        HostileRepo::new(
            "include-itself-often",
            "the configuration includes itself ten times",
            |fixture| {
                configure(fixture, &"[include]\n\tpath = config\n".repeat(10));
            },
        ),
        HostileRepo::new(
            "include-chain",
            "eight files of configuration include the next one ten times each",
            |fixture| {
                configure(fixture, "[include]\n\tpath = part0\n");
                for number in 0..8 {
                    let next = format!("[include]\n\tpath = part{}\n", number + 1);
                    write_git(fixture, &format!("part{number}"), next.repeat(10));
                }
            },
        ),
        HostileRepo::new("include-device", "the configuration includes /dev/zero", |fixture| {
            configure(fixture, "[include]\n\tpath = /dev/zero\n");
        }),
        HostileRepo::new("include-pipe", "the configuration includes a named pipe", |fixture| {
            pipe(&fixture.git_dir().join("more"));
            configure(fixture, "[include]\n\tpath = more\n");
        }),
        HostileRepo::new(
            "include-outside",
            "the configuration includes a file of somebody's home",
            |fixture| {
                fs::write(fixture.beside("secret"), "password = hunter2\n").expect("a file can be written");
                configure(fixture, "[include]\n\tpath = ../../secret\n");
            },
        ),
        HostileRepo::new("config-long", "the configuration has 200 000 sections", |fixture| {
            let lines = (0..200_000).map(|number| format!("[section \"{number}\"]\n\tkey = v\n"));
            configure(fixture, &lines.collect::<Vec<String>>().concat());
        }),
        HostileRepo::new("worktree-root", "core.worktree is /", |fixture| {
            configure(fixture, "[core]\n\tworktree = /\n");
        }),
        HostileRepo::new(
            "worktree-own",
            "config.worktree says that the work tree is /",
            |fixture| {
                configure(
                    fixture,
                    "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tworktreeConfig = true\n",
                );
                write_git(fixture, "config.worktree", "[core]\n\tworktree = /\n");
            },
        ),
        HostileRepo::new(
            "attributes-file-device",
            "core.attributesFile is /dev/zero",
            |fixture| {
                configure(fixture, "[core]\n\tattributesFile = /dev/zero\n");
            },
        ),
        HostileRepo::new("excludes-file-pipe", "core.excludesFile is a named pipe", |fixture| {
            let place = fixture.beside("rules");
            pipe(&place);
            configure(fixture, &format!("[core]\n\texcludesFile = {}\n", place.display()));
        }),
        HostileRepo::new("fsmonitor", "core.fsmonitor is a program", |fixture| {
            program(fixture, "[core]\n\tfsmonitor = PROGRAM\n");
        })
        .run_by(&["status"]),
        HostileRepo::new("hooks-path", "core.hooksPath is a folder of programs", |fixture| {
            let folder = fixture.root().join("tools");
            fs::create_dir(&folder).expect("a folder can be made");
            let program = trap(fixture);
            for hook in [
                "post-checkout",
                "post-index-change",
                "pre-commit",
                "reference-transaction",
            ] {
                fs::copy(&program, folder.join(hook)).expect("a program can be copied");
            }
            configure(fixture, "[core]\n\thooksPath = tools\n");
        })
        .run_by(&["checkout", "-q", "-b", "other"]),
        HostileRepo::new("hooks", "the hooks of the repository are programs", |fixture| {
            let program = trap(fixture);
            for hook in [
                "post-checkout",
                "post-index-change",
                "pre-commit",
                "reference-transaction",
            ] {
                let place = fixture.git_dir().join("hooks").join(hook);
                write_git(fixture, &format!("hooks/{hook}"), "");
                fs::copy(&program, &place).expect("a program can be copied");
                fs::set_permissions(place, fs::Permissions::from_mode(0o755)).expect("the mode can be set");
            }
        })
        .run_by(&["checkout", "-q", "-b", "other"]),
        HostileRepo::new("filters", "all files pass filters that are programs", |fixture| {
            program(
                fixture,
                "[filter \"odd\"]\n\tclean = PROGRAM\n\tsmudge = PROGRAM\n\trequired = true\n",
            );
            fixture
                .write(".gitattributes", "* filter=odd\n")
                .write("app.py", "changed = 1\n");
        })
        .run_by(&["add", "app.py"]),
        HostileRepo::new(
            "filter-process",
            "all files pass a filter that is a process",
            |fixture| {
                program(fixture, "[filter \"odd\"]\n\tprocess = PROGRAM\n");
                fixture
                    .write(".gitattributes", "* filter=odd\n")
                    .write("app.py", "changed = 1\n");
            },
        )
        .run_by(&["add", "app.py"]),
        HostileRepo::new("external-diff", "diff.external is a program", |fixture| {
            program(fixture, "[diff]\n\texternal = PROGRAM\n");
            fixture.write("app.py", "changed = 1\n");
        })
        .run_by(&["diff"]),
        HostileRepo::new(
            "text-conversion",
            "files are turned into text by a program",
            |fixture| {
                program(fixture, "[diff \"odd\"]\n\ttextconv = PROGRAM\n\tcommand = PROGRAM\n");
                fixture
                    .write(".gitattributes", "* diff=odd\n")
                    .write("app.py", "changed = 1\n");
            },
        )
        .run_by(&["diff"]),
        HostileRepo::new(
            "merge-driver",
            "files are merged by a program, and a merge is unfinished",
            |fixture| {
                fixture.unfinished_merge("app.py");
                program(fixture, "[merge \"odd\"]\n\tdriver = PROGRAM\n");
                fixture.write(".gitattributes", "* merge=odd\n");
            },
        )
        .run_by(&["checkout", "-m", "app.py"]),
        HostileRepo::new("ssh-command", "core.sshCommand is a program", |fixture| {
            program(
                fixture,
                "[core]\n\tsshCommand = PROGRAM\n[remote \"origin\"]\n\turl = ssh://nobody.invalid/x\n",
            );
        })
        .run_by(&["fetch"]),
        HostileRepo::new(
            "signing-program",
            "gpg.program is a program, and commits are to be signed",
            |fixture| {
                program(
                    fixture,
                    "[gpg]\n\tprogram = PROGRAM\n[commit]\n\tgpgSign = true\n[log]\n\tshowSignature = true\n",
                );
            },
        )
        .run_by(&["commit", "--allow-empty", "-m", "x"]),
        HostileRepo::new("aliases", "what is typed is a program", |fixture| {
            program(
                fixture,
                "[alias]\n\tst = !PROGRAM\n\tstatus = !PROGRAM\n[core]\n\tpager = PROGRAM\n\teditor = PROGRAM\n",
            );
        })
        .run_by(&["st"]),
        HostileRepo::new(
            "remote-helper",
            "the remote and the submodule are commands",
            |fixture| {
                let program = trap(fixture);
                let lines = format!(
                    "[remote \"origin\"]\n\turl = ext::{program}\n[protocol \"ext\"]\n\tallow = always\n\
                 [submodule \"x\"]\n\turl = ext::{program}\n\tupdate = !{program}\n"
                );
                configure(fixture, &lines);
                fixture.write(
                    ".gitmodules",
                    format!("[submodule \"x\"]\n\tpath = x\n\turl = ext::{program}\n"),
                );
            },
        )
        .run_by(&["fetch"]),
        HostileRepo::new(
            "bare-by-word",
            "the configuration says that there is no work tree",
            |fixture| {
                fixture.config("core.bare", "true");
            },
        ),
        HostileRepo::new(
            "extension",
            "an extension has a name that steers a terminal",
            |fixture| {
                configure(
                    fixture,
                    "[core]\n\trepositoryformatversion = 1\n[extensions \"\u{1b}]0;x\u{7}\u{1b}[31m\u{202e}\"]\n\todd = 1\n",
                );
            },
        ),
        HostileRepo::new("config-garbage", "the configuration is no text", |fixture| {
            let bytes: Vec<u8> = (0..4_096_u32).map(|number| (number * 97 % 250 + 1) as u8).collect();
            write_git(fixture, "config", [b"[core\n", &*bytes].concat());
        }),
    ],
};

/// Adds these lines with the path of a program that leaves a mark.
fn program(fixture: &FixtureRepo, lines: &str) {
    let program = trap(fixture);
    configure(fixture, &lines.replace("PROGRAM", &program));
}
