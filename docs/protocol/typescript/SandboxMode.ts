// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Name of a sandbox policy.
 */
export type SandboxMode = "read-only" | "workspace-write" | "danger-full-access";
