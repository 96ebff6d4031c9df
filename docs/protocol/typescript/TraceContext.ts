// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * The place of a request in a distributed trace, as in the W3C's Trace Context.
 */
export type TraceContext = {
/**
 * The `traceparent` header.
 */
traceparent?: string | null,
/**
 * The `tracestate` header.
 */
tracestate?: string | null, };
