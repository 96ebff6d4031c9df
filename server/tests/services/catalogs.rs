//! Tests of models, catalogues, accounts and measurements.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};

use crate::support::Machine;

const MODELS: &str = "model = 'two'\nmodel_provider = 'own'\nplan_mode_reasoning_effort = 'high'\n\
    [model_providers.own]\nname = 'Own'\nbase_url = 'http://127.0.0.1:9/v1'\nenv_key = 'OWN_KEY'\n\
    [[models]]\nid = 'one'\ndisplay_name = 'One'\nefforts = ['none', 'all']\ncontext_window = 1000\n\
    [[models]]\nid = 'two'\nimages = false\n\
    [[models]]\nid = 'three'\nprovider = 'openai'\nhidden = true\n";

fn ids(result: &Value) -> Vec<&str> {
    result["data"].as_array().expect("a list").iter().map(|row| row["id"].as_str().expect("a text")).collect()
}

#[tokio::test]
async fn without_a_catalogue_the_configured_model_is_the_list() {
    let machine = Machine::with("model = 'm'", &[], None);
    let result = machine.client().await.call("model/list", json!({})).await;
    assert_eq!(ids(&result), ["m"]);
    assert_eq!(result["nextCursor"], Value::Null);
    let model = &result["data"][0];
    assert_eq!((&model["isDefault"], &model["displayName"]), (&json!(true), &json!("m")));
    assert_eq!(model["defaultReasoningEffort"], "medium");
}

#[tokio::test]
async fn models_page_and_one_is_the_default() {
    let machine = Machine::with(MODELS, &[], None);
    let client = machine.client().await;
    assert_eq!(ids(&client.call("model/list", json!({})).await), ["two", "one"]);
    let all = client.call("model/list", json!({"includeHidden": true})).await;
    assert_eq!(ids(&all), ["two", "one", "three"]);
    let defaults = all["data"].as_array().expect("a list").iter().filter(|model| model["isDefault"] == true).count();
    assert_eq!(defaults, 1);
    assert_eq!(all["data"][0]["inputModalities"], json!(["text"]));
    assert_eq!(all["data"][1]["defaultReasoningEffort"], "none");
    let page = client.call("model/list", json!({"limit": 1})).await;
    assert_eq!(ids(&page), ["two"]);
    let page = client.call("model/list", json!({"limit": 1, "cursor": page["nextCursor"]})).await;
    assert_eq!((ids(&page), &page["nextCursor"]), (vec!["one"], &Value::Null));
    let other = client.call("model/list", json!({"modelProvider": "openai", "includeHidden": true})).await;
    assert_eq!(ids(&other), ["three"]);
    assert_eq!(client.refused("model/list", json!({"cursor": "x"})).await.0, -32600);
}

#[tokio::test]
async fn providers_are_named_without_their_keys() {
    let machine = Machine::with(MODELS, &[], None);
    let client = machine.client().await;
    let result = client.call("modelProvider/list", json!({})).await;
    assert_eq!(ids(&result), ["openai", "scripted", "own"]);
    assert_eq!(result["defaultProviderId"], "own");
    assert_eq!(result["data"][0]["settings"], json!({"type": "openai"}));
    assert_eq!(
        result["data"][2],
        json!({
            "id": "own", "name": "Own", "canEdit": false, "baseUrl": "http://127.0.0.1:9/v1",
            "settings": {"type": "customGateway", "auth": {"mode": "environmentVariable", "envKey": "OWN_KEY"}},
        })
    );
    let capabilities = client.call("modelProvider/capabilities/read", json!({})).await;
    assert_eq!(capabilities, json!({"imageGeneration": false, "webSearch": false}));
}

#[tokio::test]
async fn no_login_is_required() {
    let client = Machine::new().client().await;
    let account = client.call("account/read", json!({"refreshToken": true})).await;
    assert_eq!((&account["account"], &account["requiresOpenaiAuth"]), (&Value::Null, &json!(false)));
    let requirements = client.call("configRequirements/read", Value::Null).await;
    assert_eq!(requirements["requirements"], Value::Null);
    let cloud = client.call("account/bedrock/checkGovCloudRequirements", json!({})).await;
    assert_eq!(cloud, json!({"isGovCloud": false, "shouldWarn": false}));
}

#[tokio::test]
async fn a_token_is_taken_for_the_provider_that_wants_one() {
    let provider =
        |name: &str| format!("[model_providers.{name}]\nbase_url = 'http://127.0.0.1:9/v1'\nauth = 'client'\n");
    let login = json!({"type": "chatgptAuthTokens", "accessToken": "secret-token", "chatgptAccountId": "a",
        "chatgptPlanType": "team"});
    let (one, two) = (provider("one"), provider("two"));
    for config in [format!("model_provider = 'one'\n{one}"), one.clone(), format!("model_provider = 'two'\n{one}{two}")]
    {
        let machine = Machine::with(&config, &[], None);
        let client = machine.client().await;
        assert_eq!(client.call("account/login/start", login.clone()).await, json!({"type": "chatgptAuthTokens"}));
        let completed = client.note_of("account/login/completed").await;
        assert!(completed["success"] == true && completed["loginId"].is_null() && completed["error"].is_null());
        let updated = client.note_of("account/updated").await;
        assert_eq!((&updated["authMode"], &updated["planType"]), (&json!("chatgptAuthTokens"), &json!("team")));
        let account = client.call("account/read", json!({})).await;
        assert!(account["account"].is_null() && !account.to_string().contains("secret-token"), "{account}");
        assert_eq!(client.call("account/logout", Value::Null).await, json!({}));
        let updated = client.note_of("account/updated").await;
        assert!(updated["authMode"].is_null() && updated["planType"].is_null(), "{updated}");
    }
    for (config, params, message) in [
        (String::new(), login.clone(), "no provider takes a token from a client"),
        (format!("{one}{two}"), login, "several providers take tokens from clients"),
        (one.clone(), json!({"type": "apiKey", "apiKey": "secret-key"}), "this server keeps no accounts"),
        (
            one,
            json!({"type": "chatgptAuthTokens", "accessToken": " ", "chatgptAccountId": "a"}),
            "`accessToken` is empty",
        ),
    ] {
        let machine = Machine::with(&config, &[], None);
        let (code, found) = machine.client().await.refused("account/login/start", params).await;
        assert_eq!(code, -32600);
        assert!(found.contains(message) && !found.contains("secret-"), "{found}");
    }
}

#[tokio::test]
async fn catalogues_are_complete() {
    let machine = Machine::with(MODELS, &[], None);
    let client = machine.client().await;
    let modes = client.call("collaborationMode/list", json!({})).await;
    let names =
        modes["data"].as_array().expect("a list").iter().map(|mode| (mode["name"].clone(), mode["mode"].clone()));
    assert_eq!(names.collect::<Vec<_>>(), [(json!("Plan"), json!("plan")), (json!("Default"), json!("default"))]);
    assert_eq!(modes["data"][0]["reasoning_effort"], "high");

    for (method, list) in [("skills/list", "skills"), ("hooks/list", "hooks")] {
        let result = client.call(method, json!({"cwds": ["/a", "/b"]})).await;
        assert_eq!((&result["data"][0]["cwd"], &result["data"][1]["cwd"]), (&json!("/a"), &json!("/b")));
        assert_eq!(result["data"][0][list], json!([]));
        let result = client.call(method, json!({})).await;
        assert_eq!(result["data"][0]["cwd"], json!(machine.work.path()));
    }

    let plugins = client.call("plugin/installed", json!({})).await;
    assert_eq!(plugins, json!({"marketplaces": [], "marketplaceLoadErrors": []}));

    let profiles = client.call("permissionProfile/list", json!({})).await;
    assert_eq!(ids(&profiles), [":read-only", ":workspace", ":danger-full-access"]);
    let page = client.call("permissionProfile/list", json!({"limit": 2})).await;
    let rest = client.call("permissionProfile/list", json!({"cursor": page["nextCursor"]})).await;
    assert_eq!(ids(&rest), [":danger-full-access"]);

    for method in ["experimentalFeature/list", "mcpServerStatus/list"] {
        assert_eq!(client.call(method, json!({"limit": 1})).await["nextCursor"], Value::Null);
        assert_eq!(client.refused(method, json!({"cursor": "x"})).await.0, -32600);
    }
}

#[tokio::test]
async fn diagnostics_name_the_process() {
    let result = Machine::new().client().await.call("server/diagnostics", json!({})).await;
    assert_eq!(result["process"]["id"], std::process::id());
    assert_eq!(result["gauges"], json!([{"name": "test.gauge", "value": 7}]));
    if cfg!(target_os = "linux") {
        let memory = result["process"]["residentMemoryBytes"].as_u64().expect("it is there");
        assert!((1 << 20..1 << 36).contains(&memory), "{memory}");
    }
}

/// The methods of services that return catalogues and settings.
const CATALOGUES: &[&str] = &[
    "account/bedrock/checkGovCloudRequirements",
    "account/read",
    "collaborationMode/list",
    "config/read",
    "configRequirements/read",
    "experimentalFeature/list",
    "hooks/list",
    "mcpServerStatus/list",
    "model/list",
    "modelProvider/capabilities/read",
    "modelProvider/list",
    "permissionProfile/list",
    "plugin/installed",
    "skills/list",
];

/// Returns the methods in the table of constant answers of the user's documentation.
fn constant_methods() -> BTreeSet<&'static str> {
    let page = include_str!("../../../docs/server.md");
    let section = page.split("## Methods whose answers are constant\n").nth(1).expect("the section is there");
    let rows = section.lines().take_while(|line| !line.starts_with("## "));
    rows.filter_map(|row| row.strip_prefix("| `")?.split('`').next()).collect()
}

#[tokio::test]
async fn the_documentation_names_all_methods_whose_answers_are_constant() {
    let rich = format!("{MODELS}[mcp_servers.tools]\nenabled = false\ncommand = 'true'\n");
    let (plain, rich) = (Machine::new(), Machine::with(&rich, &[], None));
    for folder in [rich.home.path(), rich.work.path()] {
        let skill = folder.join(".agents/skills/deploy");
        fs::create_dir_all(&skill).expect("the file system works");
        fs::write(skill.join("SKILL.md"), "---\nname: deploy\ndescription: d\n---\n").expect("the file system works");
        fs::write(folder.join("hooks.json"), "{}").expect("the file system works");
    }
    let (of_plain, of_rich) = (plain.client().await, rich.client().await);
    let mut constant = BTreeSet::new();
    for method in CATALOGUES {
        let params = match *method {
            "skills/list" | "hooks/list" => json!({"cwds": [rich.work.path()]}),
            "configRequirements/read" => Value::Null,
            _ => json!({}),
        };
        if of_plain.call(method, params.clone()).await == of_rich.call(method, params).await {
            constant.insert(*method);
        }
    }
    assert_eq!(constant, constant_methods());
}

#[test]
fn the_list_of_catalogues_is_complete() {
    let table = include_str!("../../../docs/protocol/methods.md");
    let of_clients = table.split("\n## ").find(|section| section.starts_with("Methods that clients call"));
    let rows = of_clients.expect("the section is there").lines();
    let methods = rows.filter_map(|row| row.strip_prefix("| `")?.split('`').next());
    let others = ["thread/", "trace/", "fs/", "mcpServer/"];
    let is_catalogue = |method: &&str| {
        ["/list", "/read", "/installed"].iter().any(|end| method.ends_with(end))
            && !others.iter().any(|family| method.starts_with(family))
    };
    let missing: Vec<_> = methods.filter(is_catalogue).filter(|method| !CATALOGUES.contains(method)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
