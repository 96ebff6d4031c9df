//! Tests the queue of the writer with a scheduler that tries many interleavings of its threads.
//!
//! The condition variables of the scheduler never time out. So a lost wake-up causes a deadlock and fails the test.

mod sync {
    pub(crate) use shuttle::sync::{Condvar, Mutex, MutexGuard};
}

#[path = "../src/write/queue.rs"]
#[expect(dead_code, reason = "the model needs a part of the queue")]
mod queue;

use std::time::Duration;

use queue::{Batch, Closed, Flushed, Limits, Place, Pushed, Queue, Shortage, Unreleased, Weight};
use shuttle::sync::Arc;
use shuttle::sync::atomic::{AtomicUsize, Ordering};
use shuttle::thread::{self, JoinHandle};

const SCHEDULES: usize = 10_000;

/// Longer than any test runs, so a caller waits until there is room.
const FOREVER: Duration = Duration::from_secs(3_600);

/// Number in the lines of gap events where other lines have that of their producer. The number of returned bodies follows
/// it.
const GAP: u8 = 99;

type Lines = Vec<[u8; 3]>;
type Bodies = Vec<(u8, u8)>;

fn queue(line_bytes: usize, body_bytes: usize, patience: Duration) -> Arc<Queue<(u8, u8)>> {
    // The model has no time, so the writer never waits for more events.
    let limits = Limits { line_bytes, body_bytes, patience, linger: Duration::ZERO };
    let write_gap = |shortage: Shortage, seq: u64, lines: &mut Vec<u8>| {
        let bodies = u8::try_from(shortage.bodies).expect("few bodies");
        line(GAP, bodies)(seq, lines);
        ((GAP, bodies), 1)
    };
    Arc::new(Queue::new(limits, 0, Box::new(write_gap)))
}

fn line(producer: u8, number: u8) -> impl FnOnce(u64, &mut Vec<u8>) {
    move |seq, lines| lines.extend_from_slice(&[u8::try_from(seq).expect("few events"), producer, number])
}

/// Runs `event` three times in each of `producers` threads, with the numbers of thread and event.
fn produce(
    queue: &Arc<Queue<(u8, u8)>>,
    producers: u8,
    event: impl Fn(&Queue<(u8, u8)>, u8, u8) + Copy + Send + 'static,
) -> Vec<JoinHandle<()>> {
    (0..producers)
        .map(|producer| {
            let queue = Arc::clone(queue);
            thread::spawn(move || (0..3).for_each(|number| event(&queue, producer, number)))
        })
        .collect()
}

/// Starts a writer that takes batches until the end. Its result is all lines and bodies.
fn write(queue: &Arc<Queue<(u8, u8)>>) -> JoinHandle<(Lines, Bodies)> {
    let queue = Arc::clone(queue);
    thread::spawn(move || drain(&queue))
}

fn drain(queue: &Queue<(u8, u8)>) -> (Lines, Bodies) {
    let (mut lines, mut bodies) = (Vec::new(), Vec::new());
    let mut batch = Batch::new();
    loop {
        queue.take(&mut batch);
        for queued in &batch.bodies {
            let line = &batch.lines[queued.line_start..];
            assert_eq!((line[1], line[2]), queued.body, "a body refers to its line");
            bodies.push(queued.body);
        }
        lines.extend(batch.lines.chunks(3).map(|line| [line[0], line[1], line[2]]));
        assert_eq!(lines.len() as u64, batch.last_seq);
        let acknowledged = queue.acknowledge(&batch);
        if batch.is_last && !acknowledged.has_more {
            queue.leave();
            return (lines, bodies);
        }
    }
}

fn join<T>(threads: impl IntoIterator<Item = JoinHandle<T>>) -> Vec<T> {
    threads.into_iter().map(|thread| thread.join().expect("ends")).collect()
}

/// Checks that the sequence numbers have no gap and that the events of every producer are in order.
fn check_order(lines: &[[u8; 3]], producers: u8) {
    let numbers: Vec<usize> = lines.iter().map(|line| line[0].into()).collect();
    assert_eq!(numbers, (1..=lines.len()).collect::<Vec<_>>());
    for producer in 0..producers {
        let own: Vec<u8> = lines.iter().filter(|line| line[1] == producer).map(|line| line[2]).collect();
        assert_eq!(own, [0, 1, 2]);
    }
}

#[test]
fn events_of_many_threads_keep_their_order_without_gaps() {
    shuttle::check_random(
        || {
            let queue = queue(1_000, 1_000, FOREVER);
            let writer = write(&queue);
            join(produce(&queue, 3, |queue, producer, number| {
                let body = (number == 1).then_some((producer, number));
                let weight = if body.is_some() { Weight::OnItsOwn(10) } else { Weight::None };
                let pushed = queue.push(body, weight, Place::Inside, line(producer, number));
                assert!(matches!(pushed, Pushed::Queued(_)));
            }));
            queue.push(None, Weight::None, Place::End, line(9, 0));
            assert_eq!(queue.flush(FOREVER), Flushed::All(10));
            let (mut lines, bodies) = writer.join().expect("ends");
            assert_eq!(lines.pop(), Some([10, 9, 0]));
            check_order(&lines, 3);
            assert_eq!(bodies.len(), 3);
        },
        SCHEDULES,
    );
}

#[test]
fn whoever_waits_for_room_gets_it() {
    shuttle::check_random(
        || {
            // Room for one body and one line at a time.
            let queue = queue(1, 10, FOREVER);
            let writer = write(&queue);
            join(produce(&queue, 2, |queue, producer, number| {
                let body = Some((producer, number));
                let pushed = queue.push(body, Weight::OnItsOwn(8), Place::Inside, line(producer, number));
                assert!(matches!(pushed, Pushed::Queued(_)), "{pushed:?}");
            }));
            queue.dismiss();
            let (lines, bodies) = writer.join().expect("ends");
            check_order(&lines, 2);
            assert_eq!(bodies.len(), 6);
        },
        SCHEDULES,
    );
}

#[test]
fn whoever_waits_for_room_gets_it_before_the_whole_batch_is_written() {
    shuttle::check_random(
        || {
            // Room for one line.
            let queue = queue(3, 10, FOREVER);
            let caller = thread::spawn({
                let queue = Arc::clone(&queue);
                move || (0..2).map(|number| queue.push(None, Weight::None, Place::Inside, line(0, number))).collect()
            });
            let mut batch = Batch::new();
            queue.take(&mut batch);
            assert_eq!(batch.lines, [1, 0, 0]);
            let Batch { line_bytes, body_bytes, .. } = &mut batch;
            queue.release(&mut Unreleased { line_bytes, body_bytes }, 3, 0);
            let pushed: Vec<Pushed<_>> = caller.join().expect("ends");
            assert_eq!(pushed, [Pushed::Queued(1), Pushed::Queued(2)]);
            assert_eq!(queue.level().0.line_bytes, 3);
            assert!(queue.acknowledge(&batch).has_more);
            assert_eq!(queue.level().0.line_bytes, 3, "what was released is not freed once more");
        },
        SCHEDULES,
    );
}

#[test]
fn a_body_without_room_comes_back_and_its_event_and_a_gap_stay() {
    shuttle::check_random(
        || {
            let queue = queue(1_000, 10, Duration::ZERO);
            let writer = write(&queue);
            let handed_back = Arc::new(AtomicUsize::new(0));
            let counter = Arc::clone(&handed_back);
            let producers = (0..2).map(|producer| {
                let (queue, handed_back) = (Arc::clone(&queue), Arc::clone(&counter));
                thread::spawn(move || {
                    for number in 0..3 {
                        let body = Some((producer, number));
                        let pushed = queue.push(body, Weight::OnItsOwn(8), Place::Inside, line(producer, number));
                        if let Pushed::NoRoom(body) = pushed {
                            handed_back.fetch_add(1, Ordering::SeqCst);
                            let small = Weight::WithLine(1);
                            let pushed = queue.push(Some(body), small, Place::Inside, line(producer, number));
                            assert!(matches!(pushed, Pushed::Queued(_)));
                        }
                    }
                })
            });
            join(producers.collect::<Vec<_>>());
            // About half of the schedules end with the last event, the others because all handles are dropped.
            let ends = shuttle::rand::Rng::r#gen::<bool>(&mut shuttle::rand::thread_rng());
            if ends {
                queue.push(None, Weight::None, Place::End, line(9, 0));
            } else {
                queue.dismiss();
            }
            let (mut lines, _) = writer.join().expect("ends");
            if ends {
                assert_eq!(lines.pop().expect("the end")[1], 9, "no event follows the end");
            }
            check_order(&lines, 2);
            let told: usize = lines.iter().filter(|line| line[1] == GAP).map(|line| usize::from(line[2])).sum();
            assert_eq!(told, handed_back.load(Ordering::SeqCst), "every returned body is reported");
        },
        SCHEDULES,
    );
}

#[test]
fn nobody_waits_for_a_writer_that_failed() {
    shuttle::check_random(
        || {
            let queue = queue(4, 10, FOREVER);
            let writer = thread::spawn({
                let queue = Arc::clone(&queue);
                move || {
                    queue.take(&mut Batch::new());
                    queue.fail(0);
                    queue.wait_until_dismissed();
                    queue.leave();
                }
            });
            join(produce(&queue, 2, |queue, producer, number| {
                queue.push(None, Weight::None, Place::Inside, line(producer, number));
                if number == 2 {
                    assert_eq!(queue.flush(FOREVER), Flushed::Never(0));
                }
            }));
            assert_eq!(queue.closed(), Some(Closed::Failed));
            queue.dismiss();
            assert!(queue.wait_until_gone(FOREVER));
            writer.join().expect("ends");
        },
        SCHEDULES,
    );
}

#[test]
fn a_log_that_nobody_writes_ends_the_recording_instead_of_the_memory() {
    shuttle::check_random(
        || {
            let queue = queue(7, 10, Duration::ZERO);
            let pushed: Vec<_> = (0..4).map(|n| queue.push(None, Weight::None, Place::Inside, line(0, n))).collect();
            assert_eq!(pushed, [Pushed::Queued(1), Pushed::Queued(2), Pushed::Queued(3), Pushed::Refused]);
            assert_eq!(queue.closed(), Some(Closed::Overflow));
            let (lines, _) = drain(&queue);
            check_order(&lines, 1);
        },
        1,
    );
}
