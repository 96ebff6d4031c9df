// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Whether a hook is trusted to run.
 */
export type HookTrustStatus = "managed" | "untrusted" | "trusted" | "modified";
