// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { SubAgentSource } from "./SubAgentSource";

/**
 * What started a thread.
 */
export type SessionSource = "cli" | "vscode" | "exec" | "appServer" | "unknown" | { "custom": string } | { "subAgent": SubAgentSource };
