//! Random scripts for the models of a simulated tree.

use serde_json::{Value, json};

use super::chance::Chance;
use crate::bench::{call, script};

/// Most calls of all agents that follow from one script.
const CALLS: u64 = 40;

/// Nesting depth of scripts. Each script contains the inner ones as text, and each level doubles the escape characters.
const NESTED: u32 = 3;

/// Names of agents: few, so that names are often taken.
const NAMES: [&str; 3] = ["a", "b", "c"];

/// Targets of messages, whether or not they exist.
const TARGETS: [&str; 11] =
    ["/root", "a", "b", "c", "/root/a", "/root/b", "/root/c", "/root/a/a", "/root/b/a", "a/b", "/root/a/b/c"];

/// Writes scripts. Each message between agents has a unique number.
pub(super) struct ScriptWriter {
    left: u64,
    next: u64,
}

impl ScriptWriter {
    pub(super) fn new() -> Self {
        Self { left: 0, next: 0 }
    }

    /// Returns a task of the user for the root.
    pub(super) fn task(&mut self, chance: &mut Chance) -> String {
        self.left = CALLS;
        script(&self.steps(chance, 0))
    }

    /// Returns a message with a unique number.
    pub(super) fn note(&mut self) -> String {
        self.next += 1;
        format!("note #{};", self.next)
    }

    /// Returns a script that gives an agent a task.
    pub(super) fn errand(&mut self, path: &str) -> String {
        let task = format!("{} {}", script(&[json!([{ "say": self.note() }])]), self.note());
        let said = json!([{ "say": self.note() }]);
        script(&[json!([call("followup_task", &json!({ "target": path, "message": task }))]), said])
    }

    /// Returns the script of a reviewer.
    pub(super) fn review(&mut self, chance: &mut Chance) -> String {
        let pause = json!([{ "call": "pause", "args": { "s": seconds(chance, 10) } }]);
        let said = json!([{ "say": self.note() }, { "sleep": seconds(chance, 20) }]);
        script(&[pause, said])
    }

    fn steps(&mut self, chance: &mut Chance, depth: u32) -> Vec<Value> {
        let mut steps = Vec::new();
        for _ in 0..1 + chance.below(5) {
            let mut step = Vec::new();
            for _ in 0..1 + chance.below(3) {
                step.extend(self.one_call(chance, depth));
            }
            if step.is_empty() {
                break;
            }
            if chance.one_in(3) {
                step.push(json!({ "sleep": seconds(chance, 6) }));
            }
            if chance.one_in(9) {
                step.push(self.fault(chance));
            }
            steps.push(json!(step));
        }
        let mut last = vec![json!({ "say": self.note() })];
        if chance.one_in(2) {
            last.push(json!({ "sleep": seconds(chance, 8) }));
        }
        if chance.one_in(12) {
            last.push(self.fault(chance));
        }
        steps.push(json!(last));
        steps
    }

    /// Returns a fault of the provider that happens once.
    fn fault(&mut self, chance: &mut Chance) -> Value {
        self.next += 1;
        let once = self.next.to_string();
        match chance.below(4) {
            0 => json!({ "status": 503, "once": once }),
            1 => json!({ "drop": true, "once": once }),
            2 => json!({ "failed": "it broke", "once": once }),
            _ => json!({ "status": 400, "message": "no good", "once": once }),
        }
    }

    fn one_call(&mut self, chance: &mut Chance, depth: u32) -> Option<Value> {
        self.left = self.left.checked_sub(1)?;
        let target = *chance.pick(&TARGETS);
        Some(match chance.below(22) {
            0..4 => json!({ "call": "pause", "args": { "s": seconds(chance, 10) } }),
            4..10 => {
                let fork = *chance.pick(&["none", "none", "none", "all", "1", "2"]);
                let name = *chance.pick(&NAMES);
                let message = self.task_below(chance, depth);
                call("spawn_agent", &json!({ "task_name": name, "message": message, "fork_turns": fork }))
            }
            10..13 => call("send_message", &json!({ "target": target, "message": self.note() })),
            13..16 => call("followup_task", &json!({ "target": target, "message": self.task_below(chance, depth) })),
            16..19 => call("wait_agent", &json!({ "timeout_ms": 10_000 + chance.below(50_000) })),
            19..21 => call("interrupt_agent", &json!({ "target": target })),
            _ => call("list_agents", &json!({})),
        })
    }

    fn task_below(&mut self, chance: &mut Chance, depth: u32) -> String {
        let steps = if depth < NESTED {
            self.steps(chance, depth + 1)
        } else {
            vec![json!([{ "call": "pause", "args": { "s": seconds(chance, 10) } }]), json!([{ "say": self.note() }])]
        };
        format!("{} {}", script(&steps), self.note())
    }
}

/// Returns the number of a message.
pub(super) fn number(text: &str) -> Option<u64> {
    let (_, rest) = text.rsplit_once("note #")?;
    rest.split_once(';')?.0.parse().ok()
}

fn seconds(chance: &mut Chance, end: u64) -> f64 {
    std::time::Duration::from_millis(chance.below(end * 1000)).as_secs_f64()
}
