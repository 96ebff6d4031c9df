// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * A kind of source of threads.
 */
export type ThreadSourceKind = "cli" | "vscode" | "exec" | "appServer" | "subAgent" | "subAgentReview" | "subAgentCompact" | "subAgentThreadSpawn" | "subAgentOther" | "unknown";
