// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of the notification `item/agentMessage/delta`.
 */
export type AgentMessageDeltaNotification = {
/**
 * The thread.
 */
threadId: string,
/**
 * The turn.
 */
turnId: string,
/**
 * The item.
 */
itemId: string,
/**
 * What is new at the end of the text.
 */
delta: string, };
