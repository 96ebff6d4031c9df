// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { UserInput } from "./UserInput";

/**
 * What the user said.
 */
export type UserMessageItem = {
/**
 * The id.
 */
id: string,
/**
 * The parts of it.
 */
content: Array<UserInput>,
/**
 * When it began, in Unix milliseconds.
 */
startedAtMs?: number | null,
/**
 * The id that the client gave to the message.
 */
clientId?: string | null,
/**
 * When it was finished, in Unix milliseconds.
 */
completedAtMs?: number | null, };
