// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * How a message reaches the user if it is not the answer of a turn.
 */
export type AgentMessageDelivery = "async";
