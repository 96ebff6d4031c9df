// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * A way in which a message reaches the user other than as the answer of a turn.
 */
export type AgentMessageDelivery = "async";
