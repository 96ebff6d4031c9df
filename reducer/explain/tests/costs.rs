//! Costs of the sample sessions, for which the numbers are known.

use std::path::Path;

use trace_explain::Session;
use trace_explain::costs::{Costs, Sums};
use trace_explain::prices::Prices;

fn costs(sample: &str, prices: Option<&Prices>) -> Costs {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples");
    let session = Session::open(&samples.join(sample)).expect("a bundle");
    Costs::new(session.trace(), prices)
}

fn sample_prices() -> Prices {
    Prices::parse(include_str!("../../../samples/prices.toml")).expect("a price table")
}

#[test]
fn agents_have_what_they_did_and_what_was_done_below_them() {
    let costs = costs("three-children", None);
    let of = |sums: &Sums| {
        let calls = &sums.inference_calls;
        (calls.count, calls.failed, sums.tool_calls.count, sums.tokens.input, sums.tokens.calls_without_usage)
    };
    let agents: Vec<_> =
        costs.agents.iter().map(|agent| (agent.agent_path.as_str(), agent.descendants, of(&agent.own))).collect();
    assert_eq!(
        agents,
        [
            ("/root", 3, (5, 0, 6, 5349, 0)),
            ("/root/changelog", 0, (2, 0, 1, 751, 0)),
            ("/root/docs", 0, (3, 0, 4, 1730, 0)),
            ("/root/speed", 0, (4, 3, 1, 309, 3)),
        ]
    );
    assert_eq!(of(&costs.agents[0].subtree), (14, 3, 12, 8139, 3));
    assert_eq!(of(&costs.total), (14, 3, 12, 8139, 3));
    assert_eq!((costs.currency, costs.total.cost), (None, None));
}

#[test]
fn money_comes_from_the_price_table_alone() {
    let prices = sample_prices();
    let costs = costs("three-children", Some(&prices));
    assert_eq!(costs.currency.as_deref(), Some("EUR"));
    let models: Vec<_> = costs
        .models
        .iter()
        .map(|model| (model.model.as_str(), model.cost.expect("asked").amount.expect("priced").to_string()))
        .collect();
    // Large: 6,409 input tokens, of which 3,968 cached, and 653 output tokens. Small: 1,730, of which 768 cached, and
    // 217.
    assert_eq!(models, [("example-large", "0.0108996".to_owned()), ("example-small", "0.0004767".to_owned())]);
    let total = costs.total.cost.expect("asked");
    assert_eq!(total.amount.expect("priced").to_string(), "0.0113763");
    assert_eq!((total.unpriced_calls, total.calls_without_usage), (0, 3));
}

#[test]
fn a_model_without_a_price_makes_the_sum_unknown() {
    let prices = Prices::parse("currency = 'EUR'\n[[models]]\nname = 'example-small'\ninput = 1\noutput = 1\n");
    let costs = costs("three-children", Some(&prices.expect("a price table")));
    assert_eq!(costs.unpriced_models, ["example-large"]);
    let total = costs.total.cost.expect("asked");
    assert_eq!((total.amount, total.known.to_string().as_str(), total.unpriced_calls), (None, "0.001947", 8));
    let by_path = |path: &str| {
        let agent = costs.agents.iter().find(|agent| agent.agent_path == path).expect("an agent");
        (agent.own.cost.expect("asked").amount, agent.subtree.cost.expect("asked").amount)
    };
    assert_eq!(by_path("/root"), (None, None));
    assert!(by_path("/root/docs").0.is_some());
}
