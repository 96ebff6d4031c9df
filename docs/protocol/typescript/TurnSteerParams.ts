// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { UserInput } from "./UserInput";

/**
 * Params of `turn/steer`.
 */
export type TurnSteerParams = {
/**
 * The thread.
 */
threadId: string,
/**
 * The turn that the client takes for the running one.
 */
expectedTurnId: string,
/**
 * What the user says.
 */
input: Array<UserInput>,
/**
 * An id of the client's own for the message; it comes back in the item.
 */
clientUserMessageId?: string | null, };
