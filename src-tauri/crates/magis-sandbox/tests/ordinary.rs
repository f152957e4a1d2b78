//! Ordinary commands: they run as they would without a sandbox, and what they did is there to read.
#![cfg(target_os = "linux")]

mod common;

use common::{Place, helper};
use magis_sandbox::{
    End, HelperCommand, JobFile, LayerError, NotIsolated, Refused, Sandbox, SandboxError, SandboxJob, Scratch,
    ScratchLayer,
};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[tokio::test]
async fn a_command_ends_with_its_code_and_its_output() {
    let seen = Place::new().run(&["sh", "-c", "echo out; echo err >&2; exit 3"]).await;
    assert_eq!(seen.outcome.end, End::Exited(3));
    assert_eq!((seen.printed().as_str(), seen.errors().as_str()), ("out\n", "err\n"));
    assert_eq!(seen.outcome.refused, []);
}

#[tokio::test]
async fn a_program_that_is_not_there_is_not_started() {
    let seen = Place::new().run(&["no-such-program"]).await;
    let End::NotStarted(why) = &seen.outcome.end else {
        panic!("{seen:#?}")
    };
    assert!(why.starts_with("no-such-program: No such file"), "{why}");
}

#[tokio::test]
async fn a_signal_of_its_own_is_told() {
    let seen = Place::new().run(&["sh", "-c", "kill -SEGV $$"]).await;
    assert_eq!(seen.outcome.end, End::Signalled(11), "{seen:#?}");
}

#[tokio::test]
async fn the_project_lies_where_it_always_lies_and_belongs_to_an_ordinary_user() {
    let place = Place::new();
    let seen = place
        .run(&["sh", "-c", "pwd; id -u; cat code.py; test -O code.py && echo own"])
        .await;
    assert_eq!(
        seen.printed(),
        format!("{}\n1000\nvalue = 1own\n", place.project.display()),
        "{seen:#?}"
    );
}

#[tokio::test]
async fn what_was_written_can_be_read_and_the_original_is_as_it_was() {
    let place = Place::new();
    place
        .run(&[
            "sh",
            "-c",
            "mkdir -p out; echo result > out/report; echo more >> code.py",
        ])
        .await;
    place.with_layer(|layer| {
        assert_eq!(
            layer.read(Path::new("out/report"), 100).expect("the report"),
            b"result\n"
        );
        assert_eq!(
            layer.read(Path::new("code.py"), 100).expect("the code"),
            b"value = 1more\n"
        );
        assert!(matches!(
            layer.read(Path::new("absent"), 100),
            Err(LayerError::Absent(_))
        ));
        assert!(matches!(
            layer.read(Path::new("out/report"), 3),
            Err(LayerError::TooLarge { bytes: 7, limit: 3, .. })
        ));
    });
    assert_eq!(place.original()[0], "code.py: value = 1");
}

#[tokio::test]
async fn links_and_pipes_are_not_read() {
    let place = Place::new();
    let secret = place.secret("secret");
    place
        .run(&["sh", "-c", &format!("ln -s {secret} link; ln -s . here; mkfifo pipe")])
        .await;
    place.with_layer(|layer| {
        for path in ["link", "pipe", "here/code.py", "../layer/changed/link"] {
            let read = layer.read(Path::new(path), 100);
            assert!(
                matches!(read, Err(LayerError::NoFile(_) | LayerError::Absent(_))),
                "{path}: {read:?}"
            );
        }
    });
}

#[tokio::test]
async fn files_of_the_job_are_written_and_removed_first() {
    let place = Place::new();
    let mut job = place.job(&["sh", "-c", "cat new/file; ls"]);
    job.files.push(JobFile {
        path: place.project.join("new/file"),
        contents: Some(b"given\n".to_vec()),
    });
    job.files.push(JobFile {
        path: place.project.join("code.py"),
        contents: None,
    });
    let seen = place.run_job(&job).await;
    assert_eq!(seen.printed(), "given\nnew\ntests\n", "{seen:#?}");
    assert_eq!(place.original()[0], "code.py: value = 1");
}

#[tokio::test]
async fn a_file_of_the_job_is_not_written_through_a_link() {
    let place = Place::new();
    std::os::unix::fs::symlink(&place.outside, place.project.join("link")).expect("a link");
    for path in ["link/file", "../file"] {
        let mut job = place.job(&["true"]);
        job.files.push(JobFile {
            path: place.project.join(path),
            contents: Some(vec![]),
        });
        let sandbox = Sandbox::limits_only(helper());
        assert!(sandbox.run(&job).await.is_err(), "{path}");
    }
    assert!(!place.outside.join("file").exists());
}

#[tokio::test]
async fn a_server_on_loopback_can_be_reached() {
    let program = "import socket, threading\ns = socket.create_server(('127.0.0.1', 0))\nthreading.Thread(target=lambda: s.accept()[0].send(b'hello')).start()\n\
                   print(socket.create_connection(s.getsockname()).recv(9))";
    let seen = Place::new().run(&["python3", "-c", program]).await;
    assert_eq!(seen.printed(), "b'hello'\n", "{seen:#?}");
    assert_eq!(seen.outcome.refused, []);
}

#[tokio::test]
async fn what_tests_usually_need_is_there() {
    let program = "import multiprocessing, os, pty, tempfile, time, locale, ssl, sqlite3, getpass\n\
                   if __name__ == '__main__':\n    with tempfile.NamedTemporaryFile() as f: f.write(b'x')\n    os.close(pty.openpty()[0])\n\
                       print(multiprocessing.Pool(2).map(abs, [-1]), os.path.expanduser('~'), getpass.getuser(), time.tzname[0], os.cpu_count() > 0)\n\
                       open('/dev/null', 'w').write('x'); open('/dev/urandom', 'rb').read(1); os.memfd_create('x')";
    let seen = Place::new().run(&["python3", "-c", program]).await;
    assert_eq!(seen.printed(), "[1] /home/sandbox sandbox UTC True\n", "{seen:#?}");
}

#[tokio::test]
async fn a_folder_of_the_machine_is_shown_read_only_where_the_job_names_it() {
    let place = Place::new();
    let shown = place.outside.join("shown");
    std::fs::create_dir(&shown).expect("a folder");
    std::fs::write(shown.join("library"), "text").expect("a file");
    let script = format!("cat {0}/library; echo x > {0}/new", shown.display());
    let mut job = place.job(&["sh", "-c", &script]);
    job.readable.push(shown.clone());
    let seen = place.run_job(&job).await;
    assert_eq!(seen.printed(), "text", "{seen:#?}");
    assert!(seen.errors().contains("Read-only file system"), "{seen:#?}");
    assert!(!shown.join("new").exists());
}

#[tokio::test]
async fn output_beyond_what_is_kept_has_its_beginning_and_its_end() {
    let place = Place::new();
    let mut job = place.job(&[
        "python3",
        "-c",
        "print('first'); print('x' * 20_000_000); print('last')",
    ]);
    job.limits.output = 64 << 20;
    let seen = place.run_job(&job).await;
    assert_eq!(seen.outcome.end, End::Exited(0));
    assert!(seen.printed().starts_with("first\n") && seen.printed().ends_with("x\nlast\n"));
    assert!(seen.outcome.stdout.left_out > 3_000_000);
}

#[tokio::test]
async fn streams_that_are_merged_keep_their_order() {
    let place = Place::new();
    let mut job = place.job(&["sh", "-c", "echo 1; echo 2 >&2; echo 3"]);
    job.streams = magis_sandbox::Streams::Merged;
    let seen = place.run_job(&job).await;
    assert_eq!((seen.printed().as_str(), seen.errors().as_str()), ("1\n2\n3\n", ""));
}

/// Returns a job whose command goes on for a minute, a beat a hundred times a second.
fn beating(place: &Place) -> SandboxJob {
    let mut job = place.job(&["sh", "-c", "while true; do echo x >> beats; sleep 0.01; done"]);
    job.limits.time = Duration::from_mins(1);
    job
}

fn beats(place: &Place) -> usize {
    place.with_layer(|layer| layer.read(Path::new("beats"), 1 << 20).map_or(0, |beats| beats.len()))
}

async fn begins_to_beat(place: &Place) {
    while beats(place) == 0 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn stops_beating(place: &Place) {
    // Ending takes a moment.
    let mut before = 0;
    for _ in 0..100 {
        if before == beats(place) {
            return;
        }
        before = beats(place);
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    assert_eq!(before, beats(place), "it goes on");
}

async fn ends_with_its_future(sandbox: Sandbox) {
    let place = Place::new();
    let job = beating(&place);
    tokio::select! {
        ended = sandbox.run(&job) => panic!("it goes on for ever: {ended:?}"),
        () = begins_to_beat(&place) => {}
    }
    stops_beating(&place).await;
}

#[tokio::test]
async fn dropping_a_run_ends_what_it_started() {
    ends_with_its_future(Sandbox::confined(helper()).await.expect("isolation")).await;
}

#[tokio::test]
async fn without_isolation_dropping_a_run_ends_what_it_started() {
    ends_with_its_future(Sandbox::limits_only(helper())).await;
}

/// In the environment of a test's second process: what it has to run.
const JOB: &str = "MAGIS_TEST_JOB";

/// Which sandbox runs it there.
#[derive(serde::Serialize, serde::Deserialize)]
enum Kind {
    Confined,
    LimitsOnly,
}

/// Starts this test program a second time, with a job to run, and kills it while the job's command runs.
async fn ends_with_its_program(kind: Kind) {
    let place = Place::new();
    let job = serde_json::to_string(&(kind, beating(&place))).expect("a job as text");
    let mut program = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "runs_what_another_test_gives_it"])
        .env(JOB, job)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("a second process");
    begins_to_beat(&place).await;
    program.kill().expect("the end of the second process");
    program.wait().expect("the end of the second process");
    stops_beating(&place).await;
}

#[tokio::test]
async fn runs_what_another_test_gives_it() {
    let Ok(job) = std::env::var(JOB) else { return };
    let (kind, job): (Kind, SandboxJob) = serde_json::from_str(&job).expect("a job");
    let sandbox = match kind {
        Kind::Confined => Sandbox::confined(helper()).await.expect("isolation"),
        Kind::LimitsOnly => Sandbox::limits_only(helper()),
    };
    sandbox.run(&job).await.expect("a run");
}

#[tokio::test]
async fn what_a_killed_program_started_ends() {
    ends_with_its_program(Kind::Confined).await;
}

#[tokio::test]
async fn without_isolation_what_a_killed_program_started_ends() {
    ends_with_its_program(Kind::LimitsOnly).await;
}

#[tokio::test]
async fn memory_that_is_shared_by_a_file_counts_once() {
    let program = "import mmap, os, time\nkept = []\nfor _ in range(8):\n    fd = os.memfd_create('x')\n    os.ftruncate(fd, 19 << 20)\n    \
                   kept.append(mmap.mmap(fd, 19 << 20))\n    kept[-1].write(b'x' * (19 << 20))\ntime.sleep(1)\nprint('kept')";
    let seen = Place::new().run(&["python3", "-c", program]).await;
    assert_eq!(seen.printed(), "kept\n", "{seen:#?}");
}

#[tokio::test]
async fn without_isolation_limits_hold_and_the_original_is_as_it_was() {
    let place = Place::new();
    let sandbox = Sandbox::limits_only(helper());
    let outcome = sandbox
        .run(&place.job(&[
            "sh",
            "-c",
            "echo changed > code.py; setsid sleep 60 & sleep 0.1; cat code.py",
        ]))
        .await
        .expect("a run");
    assert_eq!(outcome.end, End::Exited(0), "{outcome:#?}");
    assert_eq!(outcome.stdout.text(), "changed\n");
    assert_eq!(outcome.refused, [Refused::LeftRunning(1)]);
    assert_eq!(place.original()[0], "code.py: value = 1");
    assert!(!sandbox.is_confined());
}

#[tokio::test]
async fn without_isolation_paths_in_words_and_folders_within_folders_are_those_of_the_copies() {
    let place = Place::new();
    let packages = place.outside.join("packages");
    std::fs::create_dir(&packages).expect("a folder");
    std::fs::write(packages.join("library"), "text").expect("a file");
    let inner = ScratchLayer::create(place.outside.join("inner")).expect("a layer");
    let script = format!(
        "cat packages/library code.py; echo --out={0}/report > {0}/report",
        place.project.display()
    );
    let mut job = place.job(&["sh", "-c", &script]);
    job.scratch.push(Scratch {
        at: place.project.join("packages"),
        original: packages,
        layer: inner.folder().to_owned(),
    });
    let outcome = Sandbox::limits_only(helper()).run(&job).await.expect("a run");
    assert_eq!(outcome.stdout.text(), "textvalue = 1", "{outcome:#?}");
    let report = place.with_layer(|layer| layer.read(Path::new("report"), 1000).expect("the report"));
    assert!(report.starts_with(b"--out=/"));
    assert_eq!(place.original().len(), 3);
}

#[tokio::test]
async fn where_no_overlay_is_mounted_a_copy_is_changed_and_the_original_is_as_it_was() {
    let place = Place::new();
    place.without_overlay();
    let packages = place.outside.join("packages");
    std::fs::create_dir(&packages).expect("a folder");
    std::fs::write(packages.join("library"), "text").expect("a file");
    let inner = ScratchLayer::create(place.outside.join("inner")).expect("a layer");
    std::fs::remove_dir(inner.folder().join("work")).expect("the overlay's own folder");
    let mut job = place.job(&[
        "sh",
        "-c",
        "cat packages/library code.py; echo changed > code.py; rm -r tests; echo new > packages/new; id -u",
    ]);
    job.scratch.push(Scratch {
        at: place.project.join("packages"),
        original: packages.clone(),
        layer: inner.folder().to_owned(),
    });
    let seen = place.run_job(&job).await;
    assert_eq!(seen.printed(), "textvalue = 11000\n", "{seen:#?}");
    assert_eq!(seen.outcome.refused, []);
    let changed = place.with_layer(|layer| layer.read(Path::new("code.py"), 100).expect("the code"));
    assert_eq!(changed, b"changed\n");
    assert_eq!(inner.read(Path::new("new"), 100).expect("the file"), b"new\n");
    assert_eq!(
        place.original(),
        ["code.py: value = 1", "tests", "tests/test_code.py: assert True"]
    );
    assert!(!packages.join("new").exists());
    job.command = vec!["true".into()];
    let isolation = Sandbox::probe(&helper(), &job).await.expect("isolation");
    assert!(isolation.namespaces && !isolation.overlay, "{isolation:?}");
}

#[tokio::test]
async fn what_was_copied_does_not_count_as_written() {
    for sandbox in [
        Sandbox::confined(helper()).await.expect("isolation"),
        Sandbox::limits_only(helper()),
    ] {
        let place = Place::new();
        place.without_overlay();
        let large = std::fs::File::create(place.project.join("large")).expect("a file");
        large.set_len(common::FILE + 1).expect("its length");
        for (script, end) in [
            ("mv large moved", End::Exited(0)),
            ("echo more >> moved", End::FileTooLarge(common::FILE)),
        ] {
            let outcome = sandbox.run(&place.job(&["sh", "-c", script])).await.expect("a run");
            assert_eq!(outcome.end, end, "{script}: {outcome:#?}");
        }
    }
}

#[tokio::test]
async fn a_folder_is_not_shown_where_strangers_put_a_link() {
    let place = Place::new();
    let target = place.outside.join("target");
    std::fs::create_dir(&target).expect("a folder");
    for to in [
        target.clone(),
        Path::new("/old").join(target.strip_prefix("/").expect("absolute")),
    ] {
        let link = place.project.join("link");
        let _ = std::fs::remove_file(&link);
        std::os::unix::fs::symlink(&to, &link).expect("a link");
        for sandbox in [
            Sandbox::confined(helper()).await.expect("isolation"),
            Sandbox::limits_only(helper()),
        ] {
            let outer = ScratchLayer::create(place.outside.join("outer")).expect("a layer");
            let inner = ScratchLayer::create(place.outside.join("inner")).expect("a layer");
            let mut job = place.job(&["true"]);
            job.scratch[0].layer = outer.folder().to_owned();
            job.scratch.push(Scratch {
                at: link.join("made"),
                original: place.project.join("tests"),
                layer: inner.folder().to_owned(),
            });
            assert!(sandbox.run(&job).await.is_err(), "{to:?}");
        }
    }
    assert_eq!(std::fs::read_dir(&target).expect("the folder").count(), 0);
}

#[tokio::test]
async fn without_isolation_an_endless_command_is_ended() {
    let place = Place::new();
    let begun = Instant::now();
    let mut job = place.job(&["sleep", "60"]);
    job.limits.time = common::TIME;
    let outcome = Sandbox::limits_only(helper()).run(&job).await.expect("a run");
    assert_eq!(outcome.end, End::TimeUsedUp(common::TIME));
    assert!(begun.elapsed() < Duration::from_secs(50));
}

#[tokio::test]
async fn a_machine_tells_what_isolates_commands() {
    let isolation = Sandbox::probe(&helper(), &Place::new().job(&["true"]))
        .await
        .expect("isolation on this machine");
    assert!(isolation.namespaces && isolation.seccomp, "{isolation:?}");
}

#[tokio::test]
async fn a_helper_that_is_none_is_an_error_with_a_remedy() {
    let wrong = HelperCommand {
        program: "/bin/true".into(),
        args: vec![],
    };
    let missing = Sandbox::probe(&wrong, &Place::new().job(&["true"]))
        .await
        .expect_err("no helper");
    assert!(
        matches!(missing, NotIsolated::NotRun(SandboxError::Helper(_))),
        "{missing:?}"
    );
    assert!(!missing.remedy().is_empty());
    let run = Sandbox::limits_only(HelperCommand {
        program: "/no/such/helper".into(),
        args: vec![],
    })
    .run(&Place::new().job(&["true"]))
    .await;
    assert!(matches!(run, Err(SandboxError::Helper(_))), "{run:?}");
}
