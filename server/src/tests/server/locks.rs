//! A process that can only read the server home cannot block the server.

use std::fs::File;
use std::time::Instant;

use nix::fcntl::{FcntlArg, fcntl};
use nix::libc;
use rustix::fs::{FlockOperation, flock};

use super::*;

/// A time longer than all timeouts for locks together.
const LIMIT: Duration = Duration::from_secs(30);

/// Opens every file and folder for reading, and takes a lock on each if possible.
fn locked(home: &Path, lock: impl Fn(&File)) -> Vec<File> {
    let mut held = Vec::new();
    let mut rest = vec![home.to_owned()];
    while let Some(folder) = rest.pop() {
        held.extend(File::open(&folder));
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                rest.push(path);
            } else {
                held.extend(File::open(&path));
            }
        }
    }
    held.iter().for_each(lock);
    held
}

fn by_range(file: &File) {
    let lock = libc::flock { l_type: libc::F_RDLCK as i16, l_whence: 0, l_start: 0, l_len: 0, l_pid: 0 };
    // Folders have no ranges, so this fails for them.
    let _ = fcntl(file, FcntlArg::F_OFD_SETLK(&lock));
}

/// Uses a server home in which a process with read access has locked everything.
async fn works_in_spite_of(lock: impl Fn(&File)) {
    let home = tempfile::tempdir().unwrap();
    let mut server = TestServer::start(home.path()).await;
    let old = server.thread().await;
    server.run(&old, json!([[{"say": "one"}]])).await;
    server.server.shutdown().await;
    drop(server);

    // The files that a killed server leaves can be locked too.
    let locks = home.path().join("thread-writer-locks");
    std::fs::write(locks.join(format!("{old}.lock")), "").unwrap();
    let held = locked(home.path(), &lock);
    assert!(held.len() > 10);
    let start = Instant::now();
    let mut server = TestServer::start(home.path()).await;
    let more = locked(home.path(), &lock);
    server.call("thread/resume", json!({"threadId": old})).await;
    server.run(&old, json!([[{"say": "two"}]])).await;
    let new = server.thread().await;
    server.run(&new, json!([[{"say": "three"}]])).await;
    for thread in [&old, &new] {
        server.call("thread/name/set", json!({"threadId": thread, "name": "a name"})).await;
    }
    server.call("thread/archive", json!({"threadId": new})).await;
    server.call("thread/delete", json!({"threadId": old})).await;
    server.server.shutdown().await;
    assert!(start.elapsed() < LIMIT, "{:?}", start.elapsed());
    drop((held, more));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn exclusive_locks_of_a_reader_block_nothing() {
    works_in_spite_of(|file| {
        let _ = flock(file, FlockOperation::NonBlockingLockExclusive);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn shared_locks_of_a_reader_block_nothing() {
    works_in_spite_of(|file| {
        let _ = flock(file, FlockOperation::NonBlockingLockShared);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn locked_ranges_of_a_reader_block_nothing() {
    works_in_spite_of(by_range).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_locks_of_a_reader_together_block_nothing() {
    works_in_spite_of(|file| {
        by_range(file);
        let _ = flock(file, FlockOperation::NonBlockingLockExclusive);
    })
    .await;
}
