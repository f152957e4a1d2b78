//! Programs that mean harm: each is kept from what it wants, and what it did is named.
#![cfg(target_os = "linux")]

mod common;

use common::{Place, Seen, helper};
use magis_sandbox::{End, Refused, Sandbox};

/// Runs a Python program on a small project, with small limits.
async fn python(program: &str) -> Seen {
    Place::new().run(&["python3", "-c", program]).await
}

/// Runs a Python program that ends by itself and prints `expected`.
async fn prints(program: &str, expected: &str) {
    let seen = python(program).await;
    assert_eq!(seen.printed().trim(), expected, "{seen:#?}");
}

/// Runs a Python program that is ended as `end`.
async fn is_ended(program: &str, end: End) {
    let seen = python(program).await;
    assert_eq!(seen.outcome.end, end, "{seen:#?}");
}

/// Runs a Python program that would go on for ever.
async fn uses_its_time_up(program: &str) {
    let place = Place::new();
    let mut job = place.job(&["python3", "-c", program]);
    job.limits.time = common::TIME;
    let seen = place.run_job(&job).await;
    assert_eq!(seen.outcome.end, End::TimeUsedUp(common::TIME), "{seen:#?}");
}

/// Runs a Python program that does something which the outcome names as `refused`.
async fn is_named(program: &str, refused: Refused) {
    python(program).await.names(&refused);
}

/// Prints the name of the error that some statements end with.
fn trying(statements: &str) -> String {
    let body = statements.replace('\n', "\n    ");
    format!(
        "import os, sys, socket, ctypes, errno, subprocess, signal, time, pathlib\nlibc = ctypes.CDLL(None, use_errno=True)\n\
         def call(*a):\n    r = libc.syscall(*a)\n    if r < 0: raise OSError(ctypes.get_errno(), 'call')\n    return r\n\
         try:\n    {body}\n    print('done')\nexcept OSError as error:\n    print(errno.errorcode.get(error.errno, error))\n"
    )
}

mod network {
    use super::*;

    #[tokio::test]
    async fn connecting_to_an_address() {
        let program = trying("socket.create_connection(('93.184.215.14', 80), timeout=5)");
        prints(&program, "ENETUNREACH").await;
        is_named(&program, Refused::Network).await;
    }

    #[tokio::test]
    async fn connecting_to_an_address_of_version_6() {
        let program = trying("socket.create_connection(('2606:2800:21f:cb07:6820:80da:af6b:8b2c', 80), timeout=5)");
        prints(&program, "ENETUNREACH").await;
        is_named(&program, Refused::Network).await;
    }

    #[tokio::test]
    async fn sending_a_datagram() {
        let program = trying("socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('8.8.8.8', 53))");
        prints(&program, "ENETUNREACH").await;
        is_named(&program, Refused::Network).await;
    }

    #[tokio::test]
    async fn looking_up_a_name() {
        let program =
            "import socket\ntry: socket.getaddrinfo('example.org', 80)\nexcept socket.gaierror: print('no address')";
        prints(program, "no address").await;
        is_named(program, Refused::Network).await;
    }

    #[tokio::test]
    async fn a_raw_socket() {
        let program = trying("socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)");
        prints(&program, "EPERM").await;
        is_named(&program, Refused::SystemCall("socket".into())).await;
    }

    #[tokio::test]
    async fn a_socket_to_the_host_of_a_virtual_machine() {
        let program = trying("socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)");
        prints(&program, "EPERM").await;
        is_named(&program, Refused::SystemCall("socket".into())).await;
    }

    #[tokio::test]
    async fn a_service_of_this_machine() {
        let server = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = server.local_addr().expect("its address").port();
        let program = trying(&format!("socket.create_connection(('127.0.0.1', {port}), timeout=5)"));
        prints(&program, "ECONNREFUSED").await;
        is_named(&program, Refused::Port(port)).await;
    }

    #[tokio::test]
    async fn an_abstract_socket_of_this_machine() {
        use std::os::linux::net::SocketAddrExt as _;
        let address = std::os::unix::net::SocketAddr::from_abstract_name("magis-test-abstract").expect("a name");
        let _server = std::os::unix::net::UnixListener::bind_addr(&address).expect("a listener");
        let program = trying("socket.socket(socket.AF_UNIX).connect('\\0magis-test-abstract')");
        prints(&program, "ECONNREFUSED").await;
        is_named(&program, Refused::Socket("@magis-test-abstract".into())).await;
    }

    #[tokio::test]
    async fn a_socket_file_of_this_machine() {
        let place = Place::new();
        let path = place.outside.join("service");
        let _server = std::os::unix::net::UnixListener::bind(&path).expect("a listener");
        let program = trying(&format!("socket.socket(socket.AF_UNIX).connect({path:?})"));
        let seen = place.run(&["python3", "-c", &program]).await;
        assert_eq!(seen.printed().trim(), "ENOENT", "{seen:#?}");
        seen.names(&Refused::Socket(path.display().to_string()));
    }
}

mod secrets {
    use super::*;

    #[tokio::test]
    async fn keys_in_the_home() {
        let program = "import os; print(repr(open(os.path.expanduser('~/.ssh/id_rsa')).read()))";
        prints(program, "''").await;
        is_named(program, Refused::Keys("/home/sandbox/.ssh/id_rsa".into())).await;
    }

    #[tokio::test]
    async fn keys_in_the_home_of_the_person() {
        let home = std::env::var("HOME").expect("a home");
        let program =
            format!("import os; print(os.listdir({home:?}), repr(open({home:?} + '/.aws/credentials').read()))");
        let seen = python(&program).await;
        assert!(seen.printed().contains("''"), "{seen:#?}");
        assert!(!seen.printed().contains(".cargo"), "{seen:#?}");
        assert!(
            seen.outcome
                .refused
                .contains(&Refused::Keys(format!("{home}/.aws/credentials"))),
            "{seen:#?}"
        );
    }

    #[tokio::test]
    async fn a_file_beside_the_project() {
        let place = Place::new();
        let secret = place.secret("password");
        let seen = place.run(&["cat", &secret]).await;
        assert_eq!(seen.outcome.end, End::Exited(1));
        assert!(seen.errors().contains("No such file"), "{seen:#?}");
        seen.names(&Refused::Read(secret));
    }

    #[tokio::test]
    async fn the_environment() {
        // The helper inherits the test's environment, the command nothing of it.
        prints("import os; print('CARGO_MANIFEST_DIR' in os.environ)", "False").await;
    }

    #[tokio::test]
    async fn the_environment_of_other_processes() {
        let program = "import glob\nfound = ''\nfor p in glob.glob('/proc/*/environ'):\n    try: found += open(p).read()\n    except OSError: pass\n\
                       print('CARGO_MANIFEST_DIR' in found)";
        prints(program, "False").await;
        is_named(program, Refused::OtherProcess).await;
    }

    #[tokio::test]
    async fn other_processes() {
        prints("import os; print([open(f'/proc/{p}/comm').read().strip()[:13] for p in os.listdir('/proc') if p.isdigit()])", "['magis-sandbox', 'python3']").await;
    }

    #[tokio::test]
    async fn a_file_that_we_have_open() {
        use nix::fcntl::{FcntlArg, FdFlag, fcntl};
        let place = Place::new();
        let secret = std::fs::File::open(place.secret("password")).expect("the secret");
        fcntl(&secret, FcntlArg::F_SETFD(FdFlag::empty())).expect("a descriptor that is inherited");
        let program =
            "import os\nfor fd in range(3, 1000):\n    try: print(os.pread(fd, 100, 0))\n    except OSError: pass";
        for sandbox in [
            Sandbox::confined(helper()).await.expect("isolation"),
            Sandbox::limits_only(helper()),
        ] {
            let job = place.job(&["python3", "-c", program]);
            let outcome = sandbox.run(&job).await.expect("a run");
            assert_eq!(outcome.end, End::Exited(0), "{outcome:#?}");
            assert_eq!(outcome.stdout.text(), "", "{outcome:#?}");
        }
    }

    #[tokio::test]
    async fn the_keys_of_the_kernel() {
        const KEYCTL: i64 = if cfg!(target_arch = "x86_64") { 250 } else { 219 };
        let program = trying(&format!("call({KEYCTL}, 0, -3, 0)"));
        prints(&program, "EPERM").await;
        is_named(&program, Refused::SystemCall("keyctl".into())).await;
    }

    #[tokio::test]
    async fn the_names_of_users() {
        prints("import pwd; print(len(pwd.getpwall()))", "3").await;
    }
}

mod writing {
    use super::*;

    #[tokio::test]
    async fn to_the_system() {
        let program = trying("open('/usr/bin/magis-was-here', 'w')");
        prints(&program, "EROFS").await;
        is_named(&program, Refused::Write("/usr/bin/magis-was-here".into())).await;
    }

    #[tokio::test]
    async fn to_the_root() {
        let program = trying("os.mkdir('/magis-was-here')");
        prints(&program, "EROFS").await;
        is_named(&program, Refused::Write("/magis-was-here".into())).await;
    }

    #[tokio::test]
    async fn to_the_original_of_the_project() {
        let place = Place::new();
        let seen = place
            .run(&[
                "sh",
                "-c",
                "echo changed > code.py; rm -r tests; echo new > new.py; cat code.py",
            ])
            .await;
        assert_eq!(seen.printed(), "changed\n", "{seen:#?}");
        assert_eq!(
            place.original(),
            ["code.py: value = 1", "tests", "tests/test_code.py: assert True"]
        );
    }

    #[tokio::test]
    async fn through_a_link_in_the_project() {
        let place = Place::new();
        let secret = place.secret("untouched");
        let program = trying(&format!(
            "os.symlink({secret:?}, 'link')\nopen('link', 'w').write('touched')\nos.symlink('/usr/magis-was-here', 'other')\nopen('other', 'w')"
        ));
        let seen = place.run(&["python3", "-c", &program]).await;
        assert_eq!(std::fs::read_to_string(&secret).expect("the file"), "untouched");
        assert_eq!(seen.printed().trim(), "EROFS", "{seen:#?}");
        seen.names(&Refused::Write("/usr/magis-was-here".into()));
    }

    #[tokio::test]
    async fn to_temporary_files_of_the_machine() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let program = trying(&format!("open({:?}, 'r+')", file.path()));
        prints(&program, "ENOENT").await;
        is_named(&program, Refused::Read(file.path().display().to_string())).await;
    }

    #[tokio::test]
    async fn to_a_disk() {
        let program = trying("open('/dev/sda', 'wb')");
        prints(&program, "EROFS").await;
        is_named(&program, Refused::Write("/dev/sda".into())).await;
    }

    #[tokio::test]
    async fn to_settings_of_the_kernel() {
        let program = trying("open('/proc/sys/kernel/core_pattern', 'w').write('|/tmp/x')");
        prints(&program, "EROFS").await;
        is_named(&program, Refused::Write("/proc/sys/kernel/core_pattern".into())).await;
    }

    #[tokio::test]
    async fn making_a_device() {
        let program = trying("os.mknod('disk', 0o60666, os.makedev(8, 0))");
        prints(&program, "EPERM").await;
        is_named(&program, Refused::SystemCall("mknodat".into())).await;
    }

    #[tokio::test]
    async fn mounting() {
        let program =
            trying("if libc.mount(b'none', b'/tmp', b'tmpfs', 0, None): raise OSError(ctypes.get_errno(), '')");
        prints(&program, "EPERM").await;
        is_named(&program, Refused::SystemCall("mount".into())).await;
    }

    #[tokio::test]
    async fn a_name_space_of_its_own() {
        let program = trying("if libc.unshare(0x10000000): raise OSError(ctypes.get_errno(), '')");
        prints(&program, "EPERM").await;
        is_named(&program, Refused::SystemCall("unshare".into())).await;
    }
}

mod processes {
    use super::*;

    #[tokio::test]
    async fn looking_into_another_process() {
        let program = trying("if libc.ptrace(16, 1, 0, 0) < 0: raise OSError(ctypes.get_errno(), '')");
        prints(&program, "EPERM").await;
        is_named(&program, Refused::SystemCall("ptrace".into())).await;
    }

    #[tokio::test]
    async fn a_signal_to_us() {
        let us = std::process::id();
        let program = trying(&format!("os.kill({us}, 0)"));
        prints(&program, "ESRCH").await;
        is_named(&program, Refused::Signal).await;
    }

    #[tokio::test]
    async fn a_signal_to_the_helper() {
        // Sending is no error, and no harm: the first process of a name space takes no signal from inside.
        let seen = python(&trying("os.kill(1, signal.SIGKILL)\ntime.sleep(0.3)")).await;
        assert_eq!(seen.outcome.end, End::Exited(0), "{seen:#?}");
        seen.names(&Refused::Signal);
    }

    #[tokio::test]
    async fn a_signal_to_all() {
        let seen = python(&trying("os.kill(-1, signal.SIGKILL)\ntime.sleep(0.3)")).await;
        assert!(
            matches!(seen.outcome.end, End::Exited(_) | End::Signalled(_)),
            "{seen:#?}"
        );
        seen.names(&Refused::Signal);
    }

    #[tokio::test]
    async fn a_daemon() {
        let program = "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0: time.sleep(60)\n    os._exit(0)\nos.wait()";
        let seen = python(program).await;
        assert_eq!(seen.outcome.end, End::Exited(0), "{seen:#?}");
        assert!(seen.outcome.refused.contains(&Refused::LeftRunning(1)), "{seen:#?}");
        assert!(seen.wall.as_secs() < 50, "{seen:#?}");
    }

    #[tokio::test]
    async fn a_fork_bomb() {
        if !common::kernel_limits_processes() {
            return;
        }
        is_ended(
            "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
            End::TooManyProcesses(32),
        )
        .await;
    }

    #[tokio::test]
    async fn a_fork_bomb_of_the_shell() {
        if !common::kernel_limits_processes() {
            return;
        }
        let seen = Place::new()
            .run(&["bash", "-c", "b() { b | b & }; b; wait; sleep 20"])
            .await;
        assert_eq!(seen.outcome.end, End::TooManyProcesses(32), "{seen:#?}");
    }

    #[tokio::test]
    async fn no_end() {
        uses_its_time_up("while True: pass").await;
    }

    #[tokio::test]
    async fn no_end_that_takes_no_signal() {
        let program = "import os, signal\n[signal.signal(s, signal.SIG_IGN) for s in (1, 2, 3, 15)]\nif os.fork() == 0: os.setsid()\nwhile True: pass";
        uses_its_time_up(program).await;
    }

    #[tokio::test]
    async fn standing_still() {
        uses_its_time_up("import os, signal; os.kill(os.getpid(), signal.SIGSTOP)").await;
    }

    #[tokio::test]
    async fn rights_of_root_by_a_program() {
        let program = trying(
            "print(subprocess.run(['su', '-c', 'id -u'], stdin=subprocess.DEVNULL, capture_output=True).returncode == 0, end=' ')",
        );
        let seen = python(&program).await;
        assert_eq!(seen.printed().trim(), "False done", "{seen:#?}");
        let named = |refused: &Refused| matches!(refused, Refused::RightsOfOthers(path) if path.ends_with("/su"));
        assert!(seen.outcome.refused.iter().any(named), "{seen:#?}");
    }
}

mod amounts {
    use super::*;

    #[tokio::test]
    async fn memory() {
        is_ended(
            "x = []\nwhile True: x.append(bytearray(b'x') * 1_000_000)",
            End::MemoryUsedUp(common::MEMORY),
        )
        .await;
    }

    #[tokio::test]
    async fn memory_over_several_processes() {
        let program = "import os, time\nfor _ in range(8):\n    if os.fork() == 0:\n        x = bytearray(b'x') * 40_000_000\n        time.sleep(60)\ntime.sleep(60)";
        is_ended(program, End::MemoryUsedUp(common::MEMORY)).await;
    }

    #[tokio::test]
    async fn files_in_memory_without_a_name() {
        let program =
            "import os, time\nfor _ in range(128): os.write(os.memfd_create('x'), b'x' * 4_000_000)\ntime.sleep(30)";
        is_ended(program, End::MemoryUsedUp(common::MEMORY)).await;
    }

    #[tokio::test]
    async fn files_in_memory_of_a_process_that_hides_them() {
        let program = "import ctypes, os, time\nctypes.CDLL(None).prctl(4, 0)\n\
                       for _ in range(128): os.write(os.memfd_create('x'), b'x' * 4_000_000)\ntime.sleep(30)";
        is_ended(program, End::MemoryUsedUp(common::MEMORY)).await;
    }

    #[tokio::test]
    async fn shared_memory_that_no_process_has_attached() {
        let program = "import ctypes, time\nlibc = ctypes.CDLL(None)\nlibc.shmat.restype = ctypes.c_void_p\n\
                       for _ in range(64):\n    at = ctypes.c_void_p(libc.shmat(libc.shmget(0, 8_000_000, 0o1600), None, 0))\n    \
                       ctypes.memset(at, 1, 8_000_000)\n    libc.shmdt(at)\ntime.sleep(30)";
        is_ended(program, End::MemoryUsedUp(common::MEMORY)).await;
    }

    #[tokio::test]
    async fn temporary_files_in_memory() {
        let program = "n = 0\nwhile True:\n    n += 1\n    try: open(f'/tmp/{n}', 'wb').write(b'x' * 4_000_000)\n    except OSError: pass";
        let seen = python(program).await;
        assert!(
            matches!(seen.outcome.end, End::MemoryUsedUp(_) | End::DiskUsedUp(_)),
            "{seen:#?}"
        );
    }

    #[tokio::test]
    async fn a_large_file() {
        is_ended(
            "f = open('large', 'wb')\nwhile True: f.write(b'x' * 1_000_000)",
            End::FileTooLarge(common::FILE),
        )
        .await;
    }

    #[tokio::test]
    async fn many_files() {
        let program = "n = 0\nwhile True:\n    n += 1\n    open(f'file{n}', 'wb').write(b'x' * 1_000_000)";
        is_ended(program, End::DiskUsedUp(common::DISK)).await;
    }

    #[tokio::test]
    async fn files_that_are_removed_and_kept_open() {
        let program = "import os, time\nkept = []\nfor _ in range(200):\n    kept.append(open('file', 'wb', buffering=0))\n    \
                       kept[-1].write(b'x' * 1_000_000)\n    os.unlink('file')\ntime.sleep(30)";
        is_ended(program, End::DiskUsedUp(common::DISK)).await;
    }

    #[tokio::test]
    async fn files_in_folders_too_deep_to_name() {
        let program = "import os, time\nfor _ in range(3_000):\n    os.mkdir('d')\n    os.chdir('d')\n\
                       for n in range(200): open(f'file{n}', 'wb').write(b'x' * 1_000_000)\ntime.sleep(30)";
        is_ended(program, End::DiskUsedUp(common::DISK)).await;
    }

    #[tokio::test]
    async fn folders_nested_without_end() {
        let program = "import os, time\nfor _ in range(10_000):\n    os.mkdir('d' * 250)\n    os.chdir('d' * 250)\ntime.sleep(30)";
        is_ended(program, End::DiskUsedUp(common::DISK)).await;
    }

    #[tokio::test]
    async fn output() {
        is_ended("while True: print('x' * 10_000)", End::TooMuchOutput(common::OUTPUT)).await;
    }

    #[tokio::test]
    async fn folders_too_deep_to_name() {
        let place = Place::new();
        let program = "import os\nfor _ in range(3_000):\n    os.mkdir('d')\n    os.chdir('d')\nprint('deep')";
        let seen = place.run(&["python3", "-c", program]).await;
        assert_eq!(seen.printed().trim(), "deep", "{seen:#?}");
        assert!(place.layer_can_be_removed());
    }

    #[tokio::test]
    async fn folders_that_forbid_their_removal() {
        let place = Place::new();
        let seen = place
            .run(&["sh", "-c", "mkdir -p a/b; echo x > a/b/c; chmod 000 a/b a"])
            .await;
        assert_eq!(seen.outcome.end, End::Exited(0), "{seen:#?}");
        assert!(place.layer_can_be_removed());
    }
}
