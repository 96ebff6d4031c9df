// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * The id of a request. The sender of the request chooses it, and the response repeats it exactly.
 */
export type RequestId = number | string;
