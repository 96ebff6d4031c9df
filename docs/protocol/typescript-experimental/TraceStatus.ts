// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Whether a trace is still being recorded.
 */
export type TraceStatus = "live" | "finished";
