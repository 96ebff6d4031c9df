//! Laws of the request queues, checked for random sequences of arrivals and departures.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use proptest::prelude::*;
use trace_protocol::Access;

use crate::fifo::{Guard, QueueLength, Queues, Ticket};

/// A step of a task that wants to run.
#[derive(Debug, Clone)]
enum Step {
    Enter {
        key: u8,
        access: Access,
    },
    /// A task polls its ticket without having been woken.
    Ask {
        which: prop::sample::Index,
    },
    /// A task leaves, whether it is running or waiting.
    Leave {
        which: prop::sample::Index,
    },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let access = prop_oneof![Just(Access::Shared), Just(Access::Exclusive)];
    let step = prop_oneof![
        3 => (0..3_u8, access).prop_map(|(key, access)| Step::Enter { key, access }),
        1 => any::<prop::sample::Index>().prop_map(|which| Step::Ask { which }),
        3 => any::<prop::sample::Index>().prop_map(|which| Step::Leave { which }),
    ];
    prop::collection::vec(step, 0..120)
}

#[derive(Default)]
struct Bell(AtomicBool);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

struct Visitor {
    key: u8,
    access: Access,
    place: Place,
    bell: Arc<Bell>,
}

enum Place {
    Waits(Ticket<u8>),
    Runs(#[expect(dead_code, reason = "dropping it is its use")] Guard<u8>),
    Moving,
}

impl Visitor {
    fn ask(&mut self) {
        self.place = match std::mem::replace(&mut self.place, Place::Moving) {
            Place::Waits(mut ticket) => {
                let waker = Waker::from(Arc::clone(&self.bell));
                match Pin::new(&mut ticket).poll(&mut Context::from_waker(&waker)) {
                    Poll::Ready(guard) => Place::Runs(guard),
                    Poll::Pending => Place::Waits(ticket),
                }
            }
            place => place,
        };
    }

    fn runs(&self) -> bool {
        matches!(self.place, Place::Runs(_))
    }
}

/// Returns whether a task of one key may run. `visitors` are in the order of arrival: the first one runs, and readers
/// run together with it up to the first writer.
fn may_run(visitors: &[Visitor], which: usize) -> bool {
    let before = visitors[..which].iter().filter(|visitor| visitor.key == visitors[which].key);
    match visitors[which].access {
        Access::Exclusive => before.count() == 0,
        Access::Shared => before.clone().all(|visitor| visitor.access == Access::Shared),
    }
}

proptest! {
    #[test]
    fn exactly_the_right_tasks_run(steps in steps()) {
        let queues = Queues::new();
        let mut visitors: Vec<Visitor> = Vec::new();
        for step in steps {
            match step {
                Step::Enter { key, access } => {
                    let ticket = queues.enter(key, access);
                    visitors.push(Visitor { key, access, place: Place::Waits(ticket), bell: Arc::default() });
                    visitors.last_mut().expect("one came").ask();
                }
                Step::Ask { which } if !visitors.is_empty() => which.get_mut(&mut visitors).ask(),
                Step::Leave { which } if !visitors.is_empty() => {
                    let which = which.index(visitors.len());
                    visitors.remove(which);
                }
                Step::Ask { .. } | Step::Leave { .. } => {}
            }
            // Tasks that were woken poll their tickets. A task that may run must have been woken.
            for visitor in &mut visitors {
                if visitor.bell.0.swap(false, Ordering::SeqCst) {
                    visitor.ask();
                }
            }
            let mut lengths: HashMap<u8, QueueLength> = HashMap::new();
            for (which, visitor) in visitors.iter().enumerate() {
                prop_assert_eq!(visitor.runs(), may_run(&visitors, which));
                let length = lengths.entry(visitor.key).or_default();
                length.running += usize::from(visitor.runs());
                length.waiting += usize::from(!visitor.runs());
            }
            let mut seen = HashMap::new();
            queues.for_each(|key, length| {
                seen.insert(*key, length);
            });
            prop_assert_eq!(seen, lengths, "empty queues are removed");
        }
    }
}

#[test]
fn dropping_an_unpolled_ticket_lets_the_next_task_run() {
    let queues = Queues::new();
    let first = queues.enter((), Access::Exclusive);
    let second = queues.enter((), Access::Exclusive);
    let mut third = queues.enter((), Access::Shared);
    drop(first);
    drop(second);
    assert!(Pin::new(&mut third).poll(&mut Context::from_waker(Waker::noop())).is_ready());
}
