//! The table of methods as documentation.

use std::fmt::Write as _;

use crate::declare::{Stability, Tier};
use crate::methods::{METHODS, NOTIFICATIONS, SERVER_REQUESTS, UNAVAILABLE_METHODS, UNSENT_NOTIFICATIONS};

/// Returns a Markdown page with all methods, notifications and requests.
#[must_use]
pub fn markdown() -> String {
    let mut page = String::new();
    write_page(&mut page).expect("writing to a string cannot fail");
    page
}

fn write_page(page: &mut String) -> std::fmt::Result {
    writeln!(page, "# Methods, notifications and requests of the app-server\n")?;
    writeln!(
        page,
        "Made from the table in `server/protocol/src/methods.rs`; the types are in the schemas beside this"
    )?;
    writeln!(page, "page. *Experimental* means: only for connections with the capability `experimentalApi`. Requests")?;
    writeln!(page, "with the same scope run one after another, in order of arrival; a shared scope lets readers run")?;
    writeln!(page, "together.\n")?;

    writeln!(page, "## Methods that clients call ({})\n", METHODS.len())?;
    writeln!(page, "| method | params | result | tier | for | scope | experimental fields |")?;
    writeln!(page, "| --- | --- | --- | --- | --- | --- | --- |")?;
    for method in METHODS {
        let tier = match method.tier {
            Tier::One => "1",
            Tier::Two => "2",
            Tier::Legacy => "older clients",
            Tier::Own => "own",
        };
        let params = if method.params == "NoParams" { String::new() } else { format!("`{}`", method.params) };
        let (name, result, scope) = (method.name, method.result, method.scope);
        let (who, fields) = (audience(method.stability), list(method.experimental_fields));
        writeln!(page, "| `{name}` | {params} | `{result}` | {tier} | {who} | {scope} | {fields} |")?;
    }

    writeln!(page, "\n## Notifications of the server ({})\n", NOTIFICATIONS.len())?;
    writeln!(page, "| notification | params | for |")?;
    writeln!(page, "| --- | --- | --- |")?;
    for notification in NOTIFICATIONS {
        let who = audience(notification.stability);
        writeln!(page, "| `{}` | `{}` | {who} |", notification.name, notification.params)?;
    }

    writeln!(page, "\n## Requests of the server ({})\n", SERVER_REQUESTS.len())?;
    writeln!(page, "| request | params | answer | for | experimental fields |")?;
    writeln!(page, "| --- | --- | --- | --- | --- |")?;
    for request in SERVER_REQUESTS {
        let (who, fields) = (audience(request.stability), list(request.experimental_fields));
        writeln!(page, "| `{}` | `{}` | `{}` | {who} | {fields} |", request.name, request.params, request.result)?;
    }

    writeln!(page, "\n## Known and not offered ({})\n", UNAVAILABLE_METHODS.len())?;
    writeln!(page, "These answer with code -32601. They need accounts, plugins, remote control and the like.\n")?;
    for method in UNAVAILABLE_METHODS {
        writeln!(page, "- `{}`", method.name)?;
    }
    writeln!(page, "\n## Notifications that are never sent ({})\n", UNSENT_NOTIFICATIONS.len())?;
    for name in UNSENT_NOTIFICATIONS {
        writeln!(page, "- `{name}`")?;
    }
    Ok(())
}

fn audience(stability: Stability) -> &'static str {
    match stability {
        Stability::Stable => "all",
        Stability::Experimental => "experimental",
    }
}

fn list(fields: &[&str]) -> String {
    fields.iter().map(|field| format!("`{field}`")).collect::<Vec<_>>().join(", ")
}
