// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * The id of a request: what the asker chose, echoed exactly.
 */
export type RequestId = number | string;
