//! Tests of the request queues with a scheduler that explores many interleavings.
//!
//! A lost wake-up becomes a deadlock, which fails the test.

mod sync {
    pub(crate) use shuttle::sync::{Mutex, MutexGuard};
}

#[path = "../src/fifo.rs"]
mod fifo;

use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use fifo::{QueueLength, Queues, Ticket};
use shuttle::future::{block_on, spawn, yield_now};
use shuttle::sync::atomic::{AtomicUsize, Ordering};
use shuttle::sync::{Arc, Mutex};
use trace_protocol::Access;

const SCHEDULES: usize = 5_000;

/// Counts the running readers and writers, and panics if a writer does not run alone.
#[derive(Default)]
struct Room {
    readers: AtomicUsize,
    writers: AtomicUsize,
}

impl Room {
    async fn visit(&self, access: Access) {
        let own = match access {
            Access::Shared => &self.readers,
            Access::Exclusive => &self.writers,
        };
        own.fetch_add(1, Ordering::SeqCst);
        for _ in 0..2 {
            let (readers, writers) = (self.readers.load(Ordering::SeqCst), self.writers.load(Ordering::SeqCst));
            assert!(writers == 0 || (writers == 1 && readers == 0), "{writers} writers and {readers} readers");
            yield_now().await;
        }
        own.fetch_sub(1, Ordering::SeqCst);
    }
}

fn is_empty(queues: &Queues<u8>) -> bool {
    let mut is_empty = true;
    queues.for_each(|_, QueueLength { .. }| is_empty = false);
    is_empty
}

#[test]
fn all_tasks_run_and_writers_run_alone() {
    shuttle::check_random(
        || {
            block_on(async {
                let queues = Queues::new();
                let rooms = Arc::new([Room::default(), Room::default()]);
                let visitors: Vec<_> = (0..6_u8)
                    .map(|number| {
                        let (queues, rooms) = (queues.clone(), Arc::clone(&rooms));
                        let access = if number % 3 == 0 { Access::Exclusive } else { Access::Shared };
                        spawn(async move {
                            let room = number % 2;
                            let guard = queues.enter(room, access).await;
                            rooms[usize::from(room)].visit(access).await;
                            drop(guard);
                        })
                    })
                    .collect();
                for visitor in visitors {
                    visitor.await.expect("gets its turn");
                }
                assert!(is_empty(&queues));
            });
        },
        SCHEDULES,
    );
}

#[test]
fn writers_run_in_the_order_of_arrival() {
    shuttle::check_random(
        || {
            block_on(async {
                let queues = Queues::new();
                let order = Arc::new(Mutex::new(Vec::new()));
                let visitors: Vec<_> = (0..4_u8)
                    .map(|number| {
                        // The position in the queue is taken here. The scheduler decides when the task runs.
                        let ticket = queues.enter(0, Access::Exclusive);
                        let order = Arc::clone(&order);
                        spawn(async move {
                            let _guard = ticket.await;
                            order.lock().expect("no panic").push(number);
                        })
                    })
                    .collect();
                for visitor in visitors {
                    visitor.await.expect("gets its turn");
                }
                assert_eq!(*order.lock().expect("no panic"), [0, 1, 2, 3]);
            });
        },
        SCHEDULES,
    );
}

#[test]
fn a_ticket_dropped_at_its_turn_wakes_the_next_task() {
    shuttle::check_random(
        || {
            block_on(async {
                let queues = Queues::new();
                let first = queues.enter(0, Access::Exclusive);
                let mut second = queues.enter(0, Access::Exclusive);
                let third = queues.enter(0, Access::Shared);
                let fourth = queues.enter(0, Access::Exclusive);
                let tasks = [
                    spawn(async move { drop(first.await) }),
                    spawn(async move {
                        // Polls once, and leaves regardless of the result.
                        ask(&mut second);
                        yield_now().await;
                        drop(second);
                    }),
                    spawn(async move { drop(third.await) }),
                    spawn(async move { drop(fourth.await) }),
                ];
                for task in tasks {
                    task.await.expect("gets its turn");
                }
                assert!(is_empty(&queues));
            });
        },
        SCHEDULES,
    );
}

/// Polls a ticket once, with a waker that does nothing.
fn ask(ticket: &mut Ticket<u8>) {
    let mut context = Context::from_waker(Waker::noop());
    match Pin::new(ticket).poll(&mut context) {
        Poll::Ready(guard) => drop(guard),
        Poll::Pending => {}
    }
}
