// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { UserInput } from "./UserInput";

/**
 * Input of the user.
 */
export type UserMessageItem = {
/**
 * Id of the item.
 */
id: string,
/**
 * The parts of the input.
 */
content: Array<UserInput>,
/**
 * Start time in Unix milliseconds.
 */
startedAtMs?: number | null,
/**
 * Id that the client gave to the message.
 */
clientId?: string | null,
/**
 * End time in Unix milliseconds.
 */
completedAtMs?: number | null, };
