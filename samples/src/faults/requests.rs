//! Faults of requests to the model. The last request that failed ends the turn and is the root cause.

use std::io;

use serde_json::json;

use super::places::{Effect, Fault, Place, play};
use super::stage::{Stage, Step};
use super::truth::{Category, Outcome, RootCause, TurnTruth};
use super::{Family, Planted};
use crate::session::{Agent, Command, Failure};

pub(super) fn all() -> Vec<Planted> {
    let mut all = Vec::new();
    provider_errors(&mut all);
    unread(&mut all);
    rate_limits(&mut all);
    auth_errors(&mut all);
    context_overflows(&mut all);
    model_errors(&mut all);
    streams(&mut all);
    unsaid(&mut all);
    all
}

/// All attempts of a request fail in the same way, and so does the turn.
fn repeated(category: Category, what: &str, attempts: usize, failure: &Failure) -> impl Fn(Place) -> Planted + use<> {
    mixed(category, what, &vec![failure.clone(); attempts])
}

/// The attempts of a request fail in different ways. The last one ends the turn.
fn mixed(category: Category, what: &str, failures: &[Failure]) -> impl Fn(Place) -> Planted + use<> {
    let (what, failures) = (what.to_owned(), failures.to_vec());
    move |place| {
        let failures = failures.clone();
        let last = failures.last().expect("somebody fails").clone();
        let fault = Fault::new(Effect::EndsTurn(last), move |stage, agent| {
            let mut id = String::new();
            for failure in &failures {
                id = stage.session.fail_request_by(agent, failure)?;
                stage.session.advance(1_900);
            }
            Ok(RootCause::inference(category, id))
        });
        let name = name(category, &what, place);
        let sentence = format!("{what}, at {}", place.name());
        Planted::new(Family::Fault(category), name, sentence, move |stage| play(stage, place, &fault))
    }
}

fn provider_errors(all: &mut Vec<Planted>) {
    let category = Category::ProviderError;
    let internal = repeated(category, "500", 2, &Failure::internal_error());
    all.extend([internal(Place::Last), internal(Place::Grandchild), internal(Place::Fork)]);
    all.push(internal(Place::Child).schema_1());
    let gateway = Failure::status(502, "Bad Gateway", "upstream reset");
    all.push(repeated(category, "502", 4, &gateway)(Place::SecondTurn));
    let unavailable = Failure::status(503, "Service Unavailable", "try again later");
    let unavailable = repeated(category, "503", 2, &unavailable);
    all.extend([unavailable(Place::First), unavailable(Place::MiddleSibling), unavailable(Place::SecondTask)]);
    all.push(repeated(category, "overloaded", 1, &Failure::overloaded())(Place::Child));
    // The first attempt ended with an interrupted stream and was retried. The response to the last attempt ended the turn.
    let attempts = [Failure::stream_closed(), Failure::status(504, "Gateway Timeout", "no answer in time")];
    all.push(mixed(category, "504 after a cut stream", &attempts)(Place::Last));
}

/// A child that fails when no agent waits for it any more. It degrades the turn that spawned it nevertheless.
fn unread(all: &mut Vec<Planted>) {
    let category = Category::ProviderError;
    let planted = |name: &str, what: &str, script: fn(Stage) -> io::Result<Vec<TurnTruth>>| {
        Planted::new(Family::Fault(category), format!("provider-error-{name}"), what, script)
    };
    all.push(planted("unread", "a child fails while its parent has its last word", |mut stage| {
        let root = stage.root;
        stage.prompt()?;
        let child = stage.spawn(root, "worker")?;
        stage.work(child, 1)?;
        let pending = stage.session.begin_request(root)?;
        let cause = give_up(&mut stage, child)?;
        stage.session.answer_pending(pending, "I did not wait for the rest.")?;
        stage.rises_to(&[root], &cause);
        stage.end()
    }));
    // The turn that is running when the child fails did not spawn the child.
    all.push(planted("of-earlier-turn", "a child fails in the turn after the one that spawned it", |mut stage| {
        let root = stage.root;
        stage.prompt()?;
        let child = stage.spawn(root, "worker")?;
        stage.work(root, 1)?;
        let first = stage.session.latest_turn_id(root);
        stage.answer(root)?;
        stage.prompt()?;
        stage.work(root, 1)?;
        stage.work(child, 1)?;
        let cause = give_up(&mut stage, child)?;
        stage.verdict_on(first, Outcome::Degraded, &cause);
        stage.succeed(root, Step::Patch)?;
        stage.answer(root)?;
        stage.end()
    }));
    // Stopping an agent that has failed changes nothing.
    all.push(planted("then-stopped", "a child fails, and its parent stops it afterwards", |mut stage| {
        let root = stage.root;
        stage.prompt()?;
        let child = stage.spawn(root, "worker")?;
        let wait = stage.session.begin_wait(root, 60_000)?;
        stage.work(child, 1)?;
        let cause = give_up(&mut stage, child)?;
        stage.session.end_wait(wait)?;
        stage.session.stop_agent(root, child, &json!({ "errored": "unexpected status 503 Service Unavailable" }))?;
        stage.answer(root)?;
        stage.rises_to(&[root], &cause);
        stage.end()
    }));
    // The request ended the turn, whatever else failed in it.
    all.push(planted("after-tool-failure", "a command fails, then the provider does for good", |mut stage| {
        let root = stage.root;
        stage.prompt()?;
        stage.work(root, 1)?;
        stage.run(root, Command::new("cargo test --quiet", "test result: FAILED. 1 failed\n").exits(101))?;
        give_up(&mut stage, root)?;
        stage.end()
    }));
}

/// Makes every attempt of a request fail, and the agent's turn with them.
fn give_up(stage: &mut Stage, agent: Agent) -> io::Result<RootCause> {
    let failure = Failure::status(503, "Service Unavailable", "try again later");
    stage.session.fail_request_by(agent, &failure)?;
    let id = stage.session.fail_request_by(agent, &failure)?;
    stage.session.fail_turn_by(agent, &failure)?;
    let cause = RootCause::inference(Category::ProviderError, id);
    stage.verdict(agent, Outcome::Failed, &cause);
    Ok(cause)
}

fn rate_limits(all: &mut Vec<Planted>) {
    let category = Category::RateLimited;
    let status = repeated(category, "429", 1, &Failure::too_many_requests());
    all.extend([status(Place::Last), status(Place::Child), status(Place::ForkedGrandchild)]);
    all.push(status(Place::Middle).schema_1());
    let reported = Failure::rate_limit("Limit of 30000 tokens a minute reached. Try again in 12s.");
    let reported = repeated(category, "reported limit", 3, &reported);
    all.extend([reported(Place::First), reported(Place::MiddleSibling)]);
    all.push(repeated(category, "used up", 1, &Failure::usage_limit())(Place::SecondTurn));
}

fn auth_errors(all: &mut Vec<Planted>) {
    let category = Category::AuthError;
    let unauthorized = repeated(category, "401", 2, &Failure::unauthorized("the key has expired"));
    all.extend([unauthorized(Place::First), unauthorized(Place::Grandchild), unauthorized(Place::SecondTurn)]);
    all.push(unauthorized(Place::Child).schema_1());
    let forbidden = repeated(category, "403", 2, &Failure::status(403, "Forbidden", "not open to this project"));
    all.extend([forbidden(Place::Child), forbidden(Place::Last)]);
}

fn context_overflows(all: &mut Vec<Planted>) {
    let category = Category::ContextOverflow;
    let refused = repeated(category, "refused", 1, &Failure::context_window());
    all.extend([refused(Place::Last), refused(Place::Child), refused(Place::Grandchild)]);
    let reported = repeated(category, "reported", 1, &Failure::context_window().answered());
    all.extend([reported(Place::SecondTurn), reported(Place::Fork)]);
    // Schema 1 records the response body of the provider.
    let body = r#"{"error":{"message":"Too long for the context window.","type":"invalid_request_error","code":"context_length_exceeded"}}"#;
    all.push(repeated(category, "refused in json", 1, &Failure::other(body))(Place::Last).schema_1());
}

fn model_errors(all: &mut Vec<Planted>) {
    let category = Category::ModelError;
    // The error has nothing to do with a stream, although the recorded text has a prefix that says so.
    let reported = Failure::response_failed("The server had an error while processing your request.");
    let reported = repeated(category, "reported", 2, &reported.after_saying("The list so far:"));
    all.extend([reported(Place::Last), reported(Place::MiddleSibling)]);
    let incomplete = Failure::incomplete("max_output_tokens").after_saying("First, the settings are read, and then");
    let incomplete = repeated(category, "incomplete", 1, &incomplete);
    all.extend([incomplete(Place::Child), incomplete(Place::First)]);
    let filtered = Failure::response_failed("Incomplete response returned, reason: content_filter");
    all.push(repeated(category, "filtered", 2, &filtered)(Place::Grandchild));
    let refused = repeated(category, "refused prompt", 1, &Failure::invalid_prompt("This prompt is not allowed."));
    all.extend([refused(Place::SecondTurn), refused(Place::Fork)]);
    all.push(refused(Place::Last).schema_1());
}

fn streams(all: &mut Vec<Planted>) {
    let category = Category::StreamInterrupted;
    let closed = repeated(category, "closed", 2, &Failure::stream_closed());
    all.extend([closed(Place::First), closed(Place::Grandchild)]);
    all.push(closed(Place::Last).schema_1());
    // What the model said before the cut stays in the history, but is not a final answer.
    let partial = Failure::stream_closed().after_saying("All twelve tests pass now.");
    let partial = repeated(category, "closed after words", 2, &partial);
    all.extend([partial(Place::Last), partial(Place::Child)]);
    let idle = repeated(category, "idle", 2, &Failure::stream_idle());
    all.extend([idle(Place::ForkedGrandchild), idle(Place::SecondTurn)]);
}

/// Failures about which the recording says less than one of the Codex CLI.
fn unsaid(all: &mut Vec<Planted>) {
    // As another recorder writes it: the failed request has the status in its own words, and no event for the client
    // repeats it.
    for (category, what, words) in [
        (Category::ProviderError, "status alone", "HTTP 503 Service Unavailable: no capacity"),
        (Category::RateLimited, "status alone", "HTTP 429 Too Many Requests: slow down"),
        (Category::AuthError, "status alone", "HTTP 401 Unauthorized: the key was revoked"),
    ] {
        for place in [Place::Last, Place::Child] {
            let fault = Fault::new(Effect::EndsTurnUnsaid(words), move |stage, agent| {
                let id = stage.session.fail_request_by(agent, &Failure::other(words))?;
                Ok(RootCause::inference(category, id))
            });
            let sentence = format!("a failed request says {words:?} and nothing else does, at {}", place.name());
            let name = name(category, what, place);
            all.push(Planted::new(Family::Fault(category), name, sentence, move |stage| play(stage, place, &fault)));
        }
    }
    // Only the failure of the turn is recorded, so the turn itself is the object.
    for place in [Place::Last, Place::Child, Place::Grandchild] {
        let words = "the turn could not go on";
        let fault = Fault::new(Effect::EndsTurnUnsaid(words), |stage, agent| {
            Ok(RootCause::turn(Category::Unknown, stage.session.latest_turn_id(agent)))
        });
        let name = format!("unknown-failed-turn-{}", place.name());
        let sentence = format!("a turn failed and nothing says why, at {}", place.name());
        all.push(Planted::new(Family::Fault(Category::Unknown), name, sentence, move |stage| {
            play(stage, place, &fault)
        }));
    }
    // A request failed without an error message, or with an unknown one. It failed before the provider began its response,
    // so blaming the provider is also accepted, and so is naming the turn.
    for (what, words) in [("wordless request", ""), ("odd words", "the oracle does not wish to speak")] {
        for place in [Place::Middle, Place::SecondTask] {
            let failure = Failure::other(words);
            let fault = Fault::new(Effect::EndsTurn(failure.clone()), move |stage, agent| {
                let id = stage.session.fail_request_by(agent, &failure)?;
                let cause = RootCause::inference(Category::Unknown, &id);
                stage.or_named(&cause, RootCause::inference(Category::ProviderError, id));
                stage.or_named(&cause, RootCause::turn(Category::Unknown, stage.session.latest_turn_id(agent)));
                Ok(cause)
            });
            let sentence = format!("a request fails, and its words ({words:?}) do not say why, at {}", place.name());
            let name = name(Category::Unknown, what, place);
            all.push(Planted::new(Family::Fault(Category::Unknown), name, sentence, move |stage| {
                play(stage, place, &fault)
            }));
        }
    }
}

/// Returns the name of a session: category, what fails, and where.
fn name(category: Category, what: &str, place: Place) -> String {
    format!("{}-{what}-{}", category.name(), place.name()).replace([' ', '_'], "-")
}
