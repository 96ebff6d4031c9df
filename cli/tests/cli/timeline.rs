//! `trace timeline`.

use std::fs;

use insta::assert_snapshot;
use serde_json::Value;

use crate::schema::assert_valid;
use crate::support::{Place, START, sample, troubled, well};

#[test]
fn agents_side_by_side_and_what_they_cost() {
    let place = Place::new();
    let (bundle, prices) = (sample("three-children"), sample("prices.toml"));
    assert_snapshot!(place.run(&["timeline", &bundle, "--prices", &prices]), @r#"
    Session 019cae19-0040-732f-83f2-827affe7f664 took 46.5 s
      calls    14 model calls (3 failed), 12 tool calls (1 failed)
      tokens   8,139 in (4,736 cached), 870 out (76 reasoning)
      cost     0.0114 EUR

    Agents
                        0 ms                                                  46.5 s
      /root            ▕████░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░···············███·████▏
      /root/changelog  ▕  ·██▒▒▒··························███                       ▏
      /root/docs       ▕  ·███▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒···················███   ▏
      /root/speed      ▕  ·████▒····························×····××····×·····       ▏
                        █ model  ▒ tool  ░ waiting for an agent  × failed request  · the rest of a turn

    Costs by agent
      AGENT                   CALLS  MODEL TIME  TREE P50  TREE P95  TREE MAX         TOOLS  TOOL TIME     IN  CACHED  OUT    COST  TREE IN  TREE OUT  TREE COST
      /root                       5       6.5 s     1.1 s     2.8 s     2.8 s             6     25.5 s  5,349   3,712  517  0.0082    8,139       870     0.0114
      /root/changelog             2       2.4 s     1.1 s     1.2 s     1.2 s             1      1.7 s    751     256   93  0.0018      751        93     0.0018
      /root/docs                  3       3.8 s    893 ms     2.1 s     2.1 s  4 (1 failed)     22.8 s  1,730     768  217  0.0005    1,730       217     0.0005
      /root/speed      4 (3 failed)       3.4 s    210 ms     2.8 s     2.8 s             1     256 ms    309       0   43  0.0010      309        43     0.0010

    Costs by model
      MODEL                  CALLS    TIME     P50    P95    MAX     IN  CACHED  OUT  REASONING    COST
      example-large  11 (3 failed)  12.4 s   1.1 s  2.8 s  2.8 s  6,409   3,968  653         76  0.0109
      example-small              3   3.8 s  893 ms  2.1 s  2.1 s  1,730     768  217          0  0.0005

    Costs by tool
      TOOL                 CALLS    TIME     P50     P95     MAX
      wait_agent               2  25.4 s    5 ms  25.4 s  25.4 s
      exec_command  6 (1 failed)  24.8 s  256 ms  22.0 s  22.0 s
      spawn_agent              3   40 ms   13 ms   15 ms   15 ms
      send_message             1    3 ms    3 ms    3 ms    3 ms

    3 requests have no tokens on record and their cost is unknown
    "#);
}

#[test]
fn turns_of_a_session_in_trouble() {
    let place = Place::new();
    troubled(&place.path("bundle"));
    assert_snapshot!(place.run(&["timeline", "bundle", "--by", "turn,tool"]), @r#"
    Session rollout-id took 29.0 s
      calls    3 model calls (1 failed), 2 tool calls (1 failed)
      tokens   2,400 in (2,000 cached), 68 out (10 reasoning)

    Agents
                  0 ms                                                  29.0 s
      /root      ▕    ··███·············································      ▏
      /root/a    ▕                ··▒▒▒▒▒▒▒·×××···                            ▏
      /root/b    ▕                                 ··▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒        ▏
      /root/b/c  ▕                                       ··███··              ▏
                  █ model  ▒ tool  × failed request  · the rest of a turn

    Costs by turn
      AGENT      STATUS     TURN    TIME         CALLS  MODEL TIME             TOOLS  TOOL TIME     IN  CACHED  OUT
      /root      completed     1  24.0 s             1       1.0 s                 0       0 ms  1,200   1,000   34
      /root/a    failed        1   7.0 s  1 (1 failed)       1.0 s      1 (1 failed)      3.0 s      0       0    0
      /root/b    cancelled     1   9.0 s             0        0 ms  1 (1 unfinished)       0 ms      0       0    0
      /root/b/c  completed     1   3.0 s             1       1.0 s                 0       0 ms  1,200   1,000   34

    Costs by tool
      TOOL                               CALLS   TIME    P50    P95    MAX
      exec_command  2 (1 failed, 1 unfinished)  3.0 s  3.0 s  3.0 s  3.0 s

    1 request has no tokens on record
    "#);
}

#[test]
fn a_model_without_a_price_has_no_known_cost() {
    let place = Place::new();
    well(&place.path("bundle"), START);
    fs::write(place.path("prices.toml"), "currency = \"EUR\"\n").expect("writes");
    assert_snapshot!(place.run(&["timeline", "bundle", "--prices", "prices.toml"]), @r#"
    Session rollout-id took 8.0 s
      calls    1 model call
      tokens   1,200 in (1,000 cached), 34 out (5 reasoning)
      cost     ? (0.0000 EUR of it known)

    Agents
              0 ms                                                   8.0 s
      /root  ▕               ·······████████········                      ▏
              █ model  · the rest of a turn

    Costs by agent
      AGENT  CALLS  MODEL TIME    P50    P95    MAX  TOOLS  TOOL TIME     IN  CACHED  OUT  COST
      /root      1       1.0 s  1.0 s  1.0 s  1.0 s      0       0 ms  1,200   1,000   34     ?

    Costs by model
      MODEL    CALLS   TIME    P50    P95    MAX     IN  CACHED  OUT  REASONING  COST
      model-1      1  1.0 s  1.0 s  1.0 s  1.0 s  1,200   1,000   34          5     ?

    the price table lacks model-1; what they cost is ?
    "#);
}

#[test]
fn a_price_table_that_is_none_says_where() {
    let place = Place::new();
    well(&place.path("bundle"), START);
    fs::write(place.path("prices.toml"), "currency = \"EUR\"\n\n[[models]]\nname = \"a\"\ninput = \"free\"\n")
        .expect("writes");
    assert_snapshot!(place.run(&["timeline", "bundle", "--prices", "prices.toml"]), @r#"
    --- stderr
    error: prices.toml is not a price table: line 5: input is "free", and must be a number that is not negative, with at most 6 digits behind the point and not above 1000000000
    hint: samples/prices.toml, which comes with trace, shows how to write one
    --- exit code 1
    "#);
    let missing = place.run(&["timeline", "bundle", "--prices", "absent.toml"]);
    assert_eq!(missing.code, 1);
    assert!(missing.stderr.contains("absent.toml"), "{missing}");
}

#[test]
fn json_is_as_its_schema_says() {
    let place = Place::new();
    troubled(&place.path("bundle"));
    let (children, prices) = (sample("three-children"), sample("prices.toml"));
    for arguments in [
        &["timeline", "bundle", "--json"][..],
        &["timeline", &children, "--json", "--prices", &prices],
        &["timeline", &sample("damaged"), "--json"],
    ] {
        let ran = place.run(arguments);
        assert_eq!(ran.code, 0, "{ran}");
        assert_valid("timeline", &ran.stdout);
    }
    let ran = place.run(&["timeline", &children, "--json", "--prices", &prices]);
    let answer: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(answer["costs"]["total"]["cost"]["amount"], "0.0113763");
    assert_eq!(answer["costs"]["agents"][0]["descendants"], 3);
}
