//! What a process of ours cannot do any more once it has given it up. Each test gives up for its own thread, and tries on that.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use magis_sandbox::Pledge;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::UnixStream;
use std::process::Command;

/// Carries out `body` on a thread of its own, which alone gives up what it does not need.
fn on_a_thread(body: impl FnOnce() + Send + 'static) {
    std::thread::spawn(body).join().unwrap();
}

#[test]
fn neither_the_network_nor_other_programs_can_be_reached() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    assert!(TcpStream::connect(address).is_ok());
    on_a_thread(move || {
        let pledged = Pledge::default().take().unwrap();
        assert!(pledged.calls);
        let refused = [
            TcpStream::connect(address).map(drop),
            TcpListener::bind("127.0.0.1:0").map(drop),
            UdpSocket::bind("127.0.0.1:0").map(drop),
            UnixStream::connect("/run/dbus/system_bus_socket").map(drop),
            UnixStream::pair().map(drop),
            Command::new("/bin/true").status().map(drop),
        ];
        for (number, tried) in refused.into_iter().enumerate() {
            assert_eq!(tried.unwrap_err().kind(), ErrorKind::PermissionDenied, "{number}");
        }
        // Its own threads are allowed.
        assert_eq!(std::thread::spawn(|| 1).join().unwrap(), 1);
    });
}

#[test]
fn files_are_closed_but_the_readable_ones_and_those_are_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let (inside, outside) = (folder.path().join("inside"), folder.path().join("outside"));
    for place in [&inside, &outside] {
        fs::create_dir(place).unwrap();
        fs::write(place.join("file"), "text\n").unwrap();
    }
    std::os::unix::fs::symlink(outside.join("file"), inside.join("link")).unwrap();
    let readable = vec![inside.clone(), folder.path().join("missing")];
    on_a_thread(move || {
        let pledge = Pledge {
            readable,
            ..Pledge::default()
        };
        let pledged = pledge.take().unwrap();
        assert_eq!(fs::read_to_string(inside.join("file")).unwrap(), "text\n");
        assert_eq!(fs::read_dir(&inside).unwrap().count(), 2);
        // Before Linux 5.13 files stay open.
        if pledged.files {
            let refused = [
                File::open(outside.join("file")).map(drop),
                File::open(inside.join("link")).map(drop),
                fs::read_dir(&outside).map(drop),
                File::create(inside.join("new")).map(drop),
                File::options().write(true).open(inside.join("file")).map(drop),
                fs::remove_file(inside.join("file")),
                fs::rename(inside.join("file"), inside.join("other")),
            ];
            for (number, tried) in refused.into_iter().enumerate() {
                assert_eq!(tried.unwrap_err().kind(), ErrorKind::PermissionDenied, "{number}");
            }
        }
    });
}

#[test]
fn in_a_writable_folder_files_come_and_go_and_folders_do_not() {
    let folder = tempfile::tempdir().unwrap();
    let (inside, outside) = (folder.path().join("inside"), folder.path().join("outside"));
    for place in [&inside, &outside] {
        fs::create_dir(place).unwrap();
    }
    let writable = vec![inside.clone(), folder.path().join("missing")];
    on_a_thread(move || {
        let pledge = Pledge {
            writable,
            ..Pledge::default()
        };
        let pledged = pledge.take().unwrap();
        fs::write(inside.join("new"), "text\n").unwrap();
        fs::rename(inside.join("new"), inside.join("file")).unwrap();
        File::options()
            .write(true)
            .open(inside.join("file"))
            .unwrap()
            .set_len(2)
            .unwrap();
        assert_eq!(fs::read_to_string(inside.join("file")).unwrap(), "te");
        if pledged.files {
            let refused = [
                fs::create_dir(inside.join("folder")),
                std::os::unix::fs::symlink("/etc/passwd", inside.join("link")),
                fs::write(outside.join("new"), "text\n"),
                fs::rename(inside.join("file"), outside.join("file")),
            ];
            for (number, tried) in refused.into_iter().enumerate() {
                let kind = tried.unwrap_err().kind();
                let is_refused = matches!(kind, ErrorKind::PermissionDenied | ErrorKind::CrossesDevices);
                assert!(is_refused, "{number}: {kind}");
            }
        }
        fs::remove_file(inside.join("file")).unwrap();
    });
}
