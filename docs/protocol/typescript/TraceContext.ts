// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Where a request stands in a distributed trace, in the form of the W3C.
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
