// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of the notification `item/commandExecution/terminalInteraction`.
 */
export type TerminalInteractionNotification = {
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
 * The server's id of the process.
 */
processId: string,
/**
 * The input.
 */
stdin: string, };
