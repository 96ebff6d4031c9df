// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of the notification `item/commandExecution/terminalInteraction`.
 */
export type TerminalInteractionNotification = {
/**
 * Id of the thread.
 */
threadId: string,
/**
 * Id of the turn.
 */
turnId: string,
/**
 * Id of the item.
 */
itemId: string,
/**
 * Id that the server gave to the process.
 */
processId: string,
/**
 * The written input.
 */
stdin: string, };
