//! Warnings about keys that the server does not read.
//!
//! Users share one file between this server and the Codex CLI. Keys that concern only the look or the comfort of that
//! program are ignored without a warning. A key has a warning if the user asks with it for something that the server
//! does not do, or if it is unknown, because it may be misspelt.

/// Keys of the Codex CLI that make no difference to what the server does.
const HARMLESS: &[&str] = &[
    "allow_login_shell",
    "analytics",
    "apps",
    "audio",
    "background_terminal_max_timeout",
    "browser_use",
    "chatgpt_base_url",
    "check_for_update_on_startup",
    "cli_auth_credentials_store",
    "client_search_provider",
    "cloud",
    "computer_use",
    "daybreak",
    "desktop",
    "disable_paste_burst",
    "features",
    "feedback",
    "file_opener",
    "forced_chatgpt_workspace_id",
    "forced_login_method",
    "ghost_snapshot",
    "goals",
    "hide_agent_reasoning",
    "history",
    "js_repl_node_module_dirs",
    "js_repl_node_path",
    "log_dir",
    "marketplaces",
    "mcp_oauth_credentials_store",
    "memories",
    "model_verbosity",
    "notice",
    "oss_provider",
    "otel",
    "plugins",
    "project_root_markers",
    "projects",
    "realtime",
    "responses_api_metadata",
    "review_model",
    "show_raw_agent_reasoning",
    "skills",
    "sqlite_home",
    "suppress_unstable_features_warning",
    "thread_unload_delay_secs",
    "tool_suggest",
    "tools",
    "tui",
    "web_search",
    "windows",
];

/// Keys that ask for something that the server does not do.
const UNSUPPORTED: &[&str] = &[
    "auto_review",
    "compact_prompt",
    "default_permissions",
    "hooks",
    "model_catalog_json",
    "model_instructions_file",
    "notify",
    "permissions",
    "profile",
    "profiles",
    "project_doc_fallback_filenames",
];

/// Returns the warning about a dotted key that was not read, if there is one.
pub(super) fn remark(key: &str) -> Option<String> {
    let first = key.split('.').next().unwrap_or(key);
    if HARMLESS.contains(&first) || (key == first && first.starts_with("experimental_")) {
        None
    } else if UNSUPPORTED.contains(&first) {
        // One line is enough for a whole table. The callers remove duplicates.
        Some(format!("`{first}` has no effect here"))
    } else {
        Some(format!("`{key}` is not a known key and is ignored"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_keys_that_a_user_would_miss_lead_to_warnings() {
        assert_eq!(remark("tui.theme"), None);
        assert_eq!(remark("experimental_use_unified_exec_tool"), None);
        assert_eq!(remark("hooks.docs.command").expect("a remark"), "`hooks` has no effect here");
        assert_eq!(remark("modle").expect("a remark"), "`modle` is not a known key and is ignored");
        assert_eq!(
            remark("sandbox_workspace_write.writeable_roots").expect("a remark"),
            "`sandbox_workspace_write.writeable_roots` is not a known key and is ignored"
        );
    }

    #[test]
    fn the_lists_are_sorted_and_apart() {
        assert!(HARMLESS.is_sorted() && UNSUPPORTED.is_sorted());
        assert!(HARMLESS.iter().all(|key| !UNSUPPORTED.contains(key)));
    }
}
